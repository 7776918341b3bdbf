import { readFileSync, readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

import { ACCOUNT_PAGES } from "../../../src/adapters/http/pages/paths.ts"
import { TEMPLATE_SAMPLES } from "../../../src/domain/mail/templates/samples.ts"
import { ADMIN_TOKEN, startServer, type TestServer } from "./harness.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** What code appends to the address of this installation, where it makes the links of mails; a token is any text. */
const made = ["src/domain", "src/application", "src/runtime/compose"].flatMap((folder) =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.startsWith("doctor/"))
    .flatMap((name) => [
      ...readFileSync(`${root}${folder}/${name}`, "utf8").matchAll(/`\$\{[\w.]*\bbaseUrl\}(\/[^`]*)`/g)
    ])
    .map(([, path]) => path!.replaceAll(/\$\{[^}]*\}+\)?\}?/g, "4711"))
    .filter((path) => !path.startsWith("/internal/"))
)

const SAMPLE_HOST = "https://postlane.test"

/** The addresses of this installation in a mail's data, and in what is nested there. */
const linksIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string"
    ? value.startsWith(`${SAMPLE_HOST}/`)
      ? [value.slice(SAMPLE_HOST.length)]
      : []
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(linksIn)
      : []

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

/** A token is none that a service knows; what counts is that a route takes the address, whatever it answers. */
const statusOf = async (path: string) => {
  const response = await fetch(server.url + path, {
    redirect: "manual",
    headers: { accept: "text/html", authorization: `Bearer ${ADMIN_TOKEN}` }
  })
  await response.body?.cancel()
  return response.status
}

describe("every link of every mail", () => {
  it("leads to a route of the running server, as code makes it", async () => {
    const paths = [...new Set([...made, ...Object.values(ACCOUNT_PAGES), "/"])]
    assert.isAbove(paths.length, 10)
    for (const path of paths) assert.notStrictEqual(await statusOf(path), 404, path)
    for (const path of ["/nowhere", "/admin/email-suppressions"])
      assert.strictEqual(await statusOf(path), 404)
  })

  it("leads there in the samples, too, but for a link that campaigns choose", async () => {
    const paths = linksIn({ ...TEMPLATE_SAMPLES, outreach: TEMPLATE_SAMPLES.outreach.unsubscribeUrl })
    assert.isAbove(paths.length, 5)
    for (const path of paths) assert.notStrictEqual(await statusOf(path), 404, path)
  })
})
