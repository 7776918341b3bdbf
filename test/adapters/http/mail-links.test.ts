import { readFileSync, readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

import { TEMPLATE_SAMPLES } from "../../../src/domain/mail/templates/samples.ts"
import { ADMIN_SCREENS, type AdminScreen, pathTo } from "../../../src/domain/pages.ts"
import { ADMIN_TOKEN, startServer, type TestServer } from "./harness.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** Where code writes a path behind the address of this installation, in place of asking `pathTo`. */
const writtenByHand = ["src/domain", "src/application", "src/runtime/compose", "src/runtime/cli"].flatMap(
  (folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.startsWith("doctor/"))
      .flatMap((name) => [
        ...readFileSync(`${root}${folder}/${name}`, "utf8").matchAll(/\bbaseUrl\}\/(?!internal\/)[^`]*/g)
      ])
      .map(([text]) => text)
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

const screens = Object.keys(ADMIN_SCREENS).map((screen) => pathTo.adminScreen(screen as AdminScreen))

/** What a mailed link opens, with a token that no service knows. */
const mailed = [
  pathTo.magicLink("4711"),
  pathTo.invite("4711"),
  pathTo.shared("4711"),
  pathTo.unsubscribe("4711"),
  pathTo.mailResult("4711")
]

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
  it("is made by the one list of pages", () => {
    assert.deepStrictEqual(writtenByHand, [])
  })

  it("leads to a screen that is there", async () => {
    assert.isAbove(screens.length, 10)
    for (const path of [
      ...screens,
      pathTo.admin,
      pathTo.docs,
      pathTo.register,
      pathTo.credits,
      pathTo.signIn()
    ])
      assert.strictEqual(await statusOf(path), 200, path)
    assert.strictEqual(await statusOf(pathTo.start), 303)
    for (const path of ["/nowhere", "/admin/email-suppressions"])
      assert.strictEqual(await statusOf(path), 404, path)
  })

  it("leads to a route where it has a token", async () => {
    for (const path of mailed) assert.notStrictEqual(await statusOf(path), 404, path)
  })

  it("leads there in the samples, too, but for a link that campaigns choose", async () => {
    const { alert, ...samples } = TEMPLATE_SAMPLES
    const links = linksIn({ ...samples, outreach: samples.outreach.unsubscribeUrl })
    // Its mail is in no log: the page says so.
    const [page = ""] = linksIn(alert.url)
    assert.strictEqual(page, pathTo.mail(alert.sendId))
    assert.strictEqual(await statusOf(alert.suppressionsUrl!.slice(SAMPLE_HOST.length)), 200)
    assert.isAbove(links.length, 5)
    for (const path of links) assert.notStrictEqual(await statusOf(path), 404, path)
  })
})
