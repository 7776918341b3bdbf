import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { numbered } from "../support/files/pdf-samples.ts"
import { fakeResend } from "../support/vendors/fake-resend.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const compiler = join(root, "node_modules/typescript/bin/tsc")
const resend = fakeResend()

/** A library check on a busy machine of two cores takes half a minute. */
const TIME_LIMIT_MS = 120_000

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
    const child = execFile(command, args, { cwd, env, timeout: 110_000 }, (_, stdout, stderr) =>
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
import { auditDigest, type EdgeFunction, providerAEventsFetcher, providerAWebhook } from "postlane/functions"
import { createClient, unwrap } from "postlane/client"
import { makeClient } from "postlane/client/effect"
import { openPipeline } from "postlane/pipeline"

const request: SendRequest = ${request}
const result: SendResult = await sendEmail(request, { env: { PROVIDERA_API_KEY: "re_key" } })
export const answer: string = result.ok ? result.status : result.error
export const both: ReadonlyArray<typeof sendOnEdge> = [sendEmail, sendOnEdge]
export const functions: ReadonlyArray<EdgeFunction> = [providerAWebhook, providerAEventsFetcher, auditDigest]
export const routes: EdgeFunction = mailWorker.fetch
const client = createClient({ baseUrl: "https://mail.example.com", secret: "s" })
export const accepted: string = unwrap(await client.sending.api({ body: request })).status
export const effectClient = makeClient({ baseUrl: "https://mail.example.com" })
export const pipeline = (request: Request): Promise<Response> => openPipeline().then(({ fetch }) => fetch(request))
`

/** The same with a request that has no subject: the types must refuse it. */
const mistaken = `
import { sendEmail } from "postlane"
await sendEmail({ to: "a@x.test", text: "t", category: "transactional", source: "api:test" })
`

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

const script = `
import { sendEmail } from "postlane"
console.log(JSON.stringify(await sendEmail(${request})))
`

let folder = ""
const at = (...path: ReadonlyArray<string>) => join(folder, ...path)

const link = async (name: string) => {
  await mkdir(dirname(at("app/node_modules", name)), { recursive: true })
  await symlink(join(root, "node_modules", name), at("app/node_modules", name))
}

/** Packs the library as it would be published, and unpacks it beside its dependencies and nothing else. */
beforeAll(async () => {
  await resend.listen()
  folder = await realpath(await mkdtemp(join(tmpdir(), "postlane-package-")))
  await mkdir(at("house"))
  for (const name of ["package.json", "README.md", "LICENSE", "migrations"])
    await cp(join(root, name), at("house", name), { recursive: true })
  await succeeds(process.execPath, [join(root, "scripts/build.ts"), at("house/dist")], root)
  await succeeds("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], at("house"))
  const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz"))
  assert.isDefined(tarball)

  await mkdir(at("app/node_modules/postlane"), { recursive: true })
  await succeeds(
    "tar",
    ["-xzf", at(tarball), "--strip-components=1", "-C", "app/node_modules/postlane"],
    folder
  )
  const manifest = JSON.parse(await readFile(at("house/package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  for (const name of [...Object.keys(manifest.dependencies), "@types/node"]) await link(name)
  await writeFile(at("app/package.json"), `{ "type": "module" }`)
  await writeFile(at("app/main.js"), script)
  await writeFile(at("app/convert.js"), conversion)
  await writeFile(at("app/document.pdf"), numbered(3))
  await writeFile(at("app/consumer.ts"), consumer)
  await writeFile(at("app/mistaken.ts"), mistaken)
}, TIME_LIMIT_MS)

afterAll(async () => {
  await resend.close()
  await rm(folder, { recursive: true, force: true })
})

const typeCheck = (module: string, resolution: string, file: string) => {
  const options =
    "--noEmit --strict --skipLibCheck false --exactOptionalPropertyTypes --target ES2024 --types node"
  const modules = `--module ${module} --moduleResolution ${resolution}`
  return run(process.execPath, [compiler, ...options.split(" "), ...modules.split(" "), file], at("app"))
}

describe("the published package", { timeout: TIME_LIMIT_MS }, () => {
  it.each([
    ["NodeNext", "NodeNext"],
    ["ESNext", "Bundler"]
  ])("type-checks in a project of its own: %s", async (module, resolution) => {
    const { code, output } = await typeCheck(module, resolution, "consumer.ts")
    assert.strictEqual(code, 0, output)
  })

  it("has types that refuse a request without a subject", async () => {
    const { code, output } = await typeCheck("NodeNext", "NodeNext", "mistaken.ts")
    assert.notStrictEqual(code, 0)
    assert.match(output, /'subject' is missing/)
  })

  it("sends", async () => {
    const { PATH } = process.env
    const output = await succeeds(process.execPath, ["main.js"], at("app"), {
      PATH,
      PROVIDERA_API_KEY: "re_key",
      PROVIDERA_BASE_URL: resend.url
    })
    const answer = output.split("\n").find((line) => line.includes(`"ok"`)) ?? "{}"
    const result = JSON.parse(answer) as Readonly<Record<string, unknown>>
    assert.deepInclude(result, { ok: true, status: "sent", provider: "provider_a" })
    assert.strictEqual(result["providerMessageId"], resend.accepted[0]?.id)
    assert.strictEqual(resend.accepted[0]?.key, "order-17")
  })

  it("converts", async () => {
    assert.match(await succeeds(process.execPath, ["convert.js"], at("app")), /\{"pages":3\}/)
  })

  it.each(["workerd", "worker", "edge-light"])("gives %s the edge build", async (condition) => {
    const print = `console.log(import.meta.resolve("postlane"))`
    const args = ["--input-type=module", "--conditions", condition, "--eval", print]
    assert.match(await succeeds(process.execPath, args, at("app")), /dist\/runtime\/edge\.js\s*$/)
  })

  it("holds the migrations, and no source and no test", async () => {
    const files = await readdir(at("app/node_modules/postlane"))
    assert.sameMembers(files, ["LICENSE", "README.md", "dist", "migrations", "package.json"])
    assert.includeMembers(
      await readdir(at("app/node_modules/postlane/migrations")),
      await readdir(join(root, "migrations"))
    )
  })
})
