import { execFileSync, spawn } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdirSync, openAsBlob, readdirSync } from "node:fs"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

import { type Client, createClient } from "../../../src/adapters/client/client.ts"
import { unwrap } from "../../../src/adapters/client/problems.ts"
import { writeLargePdf } from "../../support/files/pdf-large.ts"
import { bundle } from "../../support/processes/bundle.ts"
import { programOf } from "../../support/processes/child.ts"
import { median } from "../measure.ts"
import { processFigures } from "../process-figures.ts"
import { startDatabase } from "../process.ts"

const ROOT = fileURLToPath(new URL("../../..", import.meta.url))
const SAMPLE_EVERY_MS = 50
/** Documents under way at once: one for each of the server's workers. */
const AT_ONCE = 2
/** Longer documents are left out, so that there are many different ones. */
const MAX_PAGES = 60

/** Memory of one server's process, PostgreSQL left out, and its rate. */
export interface ServerMemory {
  readonly documents: number
  /** Files that are refused, too long, or whose conversion failed. */
  readonly leftOut: number
  readonly pages: number
  readonly seconds: number
  readonly cpuSeconds: number
  readonly startBytes: number
  readonly medianBytes: number
  readonly peakBytes: number
  /** The most in each tenth of the run. */
  readonly tenths: ReadonlyArray<number>
  /** Of all results, whatever their order: the same twice for the same documents. */
  readonly digest: string
}

const CUSTOMER = "bench@example.com"
const TOKEN = randomBytes(24).toString("base64url")

/** A process of ours, once its output shows where it listens. */
const startProgram = async (
  file: string,
  address: RegExp,
  env: NodeJS.ProcessEnv,
  flags: ReadonlyArray<string> = []
) => {
  const child = spawn(process.execPath, [...flags, programOf(file)], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...env }
  })
  const ended = once(child, "exit")
  const listens = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = address.exec(line)?.[1]
      if (url !== undefined) resolve(url)
    })
  })
  const fails = ended.then(([code]) => Promise.reject(new Error(`${file} ended with code ${String(code)}`)))
  return {
    baseUrl: await Promise.race([listens, fails]),
    figures: () => processFigures(child.pid ?? 0),
    stop: async () => {
      child.kill("SIGTERM")
      await Promise.allSettled([ended, fails])
    }
  }
}

/** A customer with credits enough, as `postlane` registers one; its token. */
const addCustomer = (env: NodeJS.ProcessEnv): string => {
  const run = (...args: ReadonlyArray<string>) =>
    execFileSync(process.execPath, [programOf("src/runtime/entries/cli.ts"), ...args, "--json"], {
      cwd: ROOT,
      env: { PATH: process.env["PATH"], ...env },
      encoding: "utf8"
    })
  run("customers", "add", CUSTOMER)
  run("customers", "credit", CUSTOMER, "1000000", "--reference", "bench")
  const made = JSON.parse(
    run("token", "create", "--name", "bench", "--right", "owner", "--customer", CUSTOMER)
  )
  return (made as { readonly token: string }).token
}

/** The server as `npm start` runs it, or `serve` as the image does; scans are not recognised. */
export const startServer = async (folder: string, serves: boolean) => {
  const settings = {
    NODE_OPTIONS: process.env["BENCH_SERVER_NODE_OPTIONS"],
    PORT: "0",
    SMTP_PORT: "0",
    SUBMISSION_PORT: "0",
    OCR: "off",
    POSTLANE_DATA_DIR: folder
  }
  if (!serves) {
    const server = await startProgram("src/runtime/entries/start.ts", /(http:\S+)\/health/, {
      ...settings,
      OWNER_TOKEN: TOKEN
    })
    return { ...server, token: TOKEN }
  }
  // The image runs the bundle, whose code takes less memory than that of the sources. Tests have one.
  if (process.env["POSTLANE_TEST_PROGRAMS"] === undefined)
    await bundle(join(ROOT, "node_modules/.cache/postlane-bench/package/dist/runtime/entries"))
  const database = await startDatabase(undefined)
  const cloud = await startProgram("infra/container/emulators.ts", /listen on (http:\S+)/, {
    HOST: "127.0.0.1",
    PORT: "0"
  })
  const stopOthers = async () => {
    await Promise.all([cloud.stop(), database.stop()])
  }
  try {
    const production = {
      ...settings,
      DB_URL: database.url,
      SENDER_DOMAIN: "mail.example.com",
      EMAIL_PRIMARY: "provider_b",
      PROXY_SHARED_SECRET: TOKEN,
      CLOUD_ACCESS_KEY_ID: "emulated",
      CLOUD_SECRET_ACCESS_KEY: "emulated",
      S3_ENDPOINT: cloud.baseUrl,
      SQS_ENDPOINT: cloud.baseUrl,
      FILES_BUCKET: "postlane-files",
      EMAIL_DEFER_QUEUE_URL: `${cloud.baseUrl}/000000000000/email-defer`,
      MALLOC_ARENA_MAX: "2",
      MALLOC_MMAP_THRESHOLD_: "131072"
    }
    const token = addCustomer(production)
    const server = await startProgram("src/runtime/entries/serve.ts", /"url":"([^"]+)"/, production, [
      "--max-semi-space-size=8"
    ])
    const stop = async () => {
      await server.stop()
      await stopOthers()
    }
    return { ...server, token, stop }
  } catch (error) {
    await stopOthers()
    throw error
  }
}

/** Uploads, converts, reads the result and deletes it; undefined where there is none. */
const convertOne = async (client: Client, path: string) => {
  const uploaded = await client.files.uploadFile({ name: basename(path), body: await openAsBlob(path) })
  if (!uploaded.ok) return undefined
  const { id: fileId, pages } = uploaded.data.file
  try {
    if (pages > MAX_PAGES) return undefined
    unwrap(await client.files.convertFile({ fileId }))
    let last: string | undefined
    for await (const { event } of client.files.streamConversion({ fileId })) last = event
    if (last !== "completed") return undefined
    const html = unwrap(await client.files.getResult({ fileId }))
    return { pages, hash: createHash("sha256").update(html).digest("hex") }
  } finally {
    unwrap(await client.files.deleteFile({ fileId }))
  }
}

/** The PDFs of a folder and those below it, in an order that mixes their places; or ones that the bench makes. */
const documentsOf = (from: string | undefined, count: number, folder: string): ReadonlyArray<string> => {
  if (from === undefined) {
    const made = join(folder, "documents")
    mkdirSync(made)
    return Array.from({ length: count }, (_, at) => {
      const path = join(made, `${at}.pdf`)
      writeLargePdf(path, 1 + ((at * 7) % MAX_PAGES))
      return path
    })
  }
  const mixed = (path: string) => createHash("sha256").update(path).digest("hex")
  return readdirSync(from, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".pdf"))
    .toSorted((a, b) => (mixed(a) < mixed(b) ? -1 : 1))
    .map((path) => join(from, path))
}

/** Converts so many documents with one server, and looks at its memory all the while. Linux only. */
export const measureServerMemory = async (options: {
  readonly documents: number
  /** A folder of PDFs; unless given, the bench makes them. */
  readonly from?: string
  /** `serve`, with S3 and SQS in memory, instead of `npm start`. */
  readonly serves: boolean
}): Promise<ServerMemory> => {
  const folder = await mkdtemp(join(tmpdir(), "postlane-bench-"))
  // PostgreSQL's user enters it where we are root.
  await chmod(folder, 0o755)
  const server = await startServer(join(folder, "data"), options.serves)
  const client = createClient({ baseUrl: server.baseUrl, token: server.token })
  try {
    const files = documentsOf(options.from, options.documents, folder).slice(0, options.documents)
    const samples: Array<number> = []
    const hashes: Array<string> = []
    let [next, pages] = [0, 0]
    const before = server.figures()
    if (before === undefined) throw new Error("this system does not tell what a process takes")
    const started = performance.now()
    const sampling = setInterval(() => samples.push(server.figures()?.residentBytes ?? 0), SAMPLE_EVERY_MS)
    const convertAll = async () => {
      for (let path = files[next++]; path !== undefined; path = files[next++]) {
        const made = await convertOne(client, path)
        if (made === undefined) continue
        hashes.push(made.hash)
        pages += made.pages
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, convertAll)).finally(() => clearInterval(sampling))
    const after = server.figures() ?? before
    const tenth = Math.ceil(samples.length / 10)
    return {
      documents: hashes.length,
      leftOut: files.length - hashes.length,
      pages,
      seconds: (performance.now() - started) / 1_000,
      cpuSeconds: after.cpuSeconds - before.cpuSeconds,
      startBytes: before.residentBytes,
      medianBytes: median(samples),
      peakBytes: after.peakBytes,
      tenths: Array.from({ length: 10 }, (_, at) =>
        Math.max(0, ...samples.slice(at * tenth, (at + 1) * tenth))
      ),
      digest: createHash("sha256").update(hashes.toSorted().join()).digest("hex").slice(0, 16)
    }
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}
