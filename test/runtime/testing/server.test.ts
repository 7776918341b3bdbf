import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createInterface } from "node:readline"

import { Webhook } from "standardwebhooks"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"

import { unwrap } from "../../../src/runtime/entries/client.ts"
import { startPostlane, type TestPostlane } from "../../../src/runtime/entries/testing.ts"
import { until } from "../../support/until.ts"

const RECEIPT = {
  to: "ann@shop.test",
  subject: "Your receipt",
  text: "See https://shop.test/orders/17.",
  category: "transactional",
  source: "api:test",
  idempotencyKey: "receipt/17"
} as const

const ENTRY = new URL("../../../src/runtime/entries/testing.ts", import.meta.url).href

const SECRET = `whsec_${Buffer.from("a secret of the shop, for its hook").toString("base64")}`

/** What the event hook reported to the shop's server. */
const heard: Array<{ readonly type: string; readonly to: unknown }> = []
const shop = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const headers = request.headers as Record<string, string>
    const { data, type } = new Webhook(SECRET).verify(Buffer.concat(chunks).toString(), headers) as {
      readonly type: string
      readonly data: { readonly to?: unknown }
    }
    // A report that did not wait for the shop would be back before it is heard.
    setTimeout(
      () => {
        heard.push({ type, to: data.to })
        response.writeHead(204).end()
      },
      type === "email.bounced" ? 500 : 0
    )
  })
})

let postlane: TestPostlane
beforeAll(async () => {
  await new Promise<void>((resolve) => void shop.listen(0, "127.0.0.1", resolve))
  const { port } = shop.address() as AddressInfo
  const env = { EVENT_HOOK_URL: `http://127.0.0.1:${port}/hook`, EVENT_HOOK_SECRET: SECRET }
  process.env["EMAIL_PRIMARY"] = "smtp"
  postlane = await startPostlane({ env }).finally(() => delete process.env["EMAIL_PRIMARY"])
})
afterAll(async () => {
  shop.close()
  await postlane.close()
})
beforeEach(() => postlane.outbox.clear())

const ask = (change: object = {}) =>
  postlane.clients.sender.sending.email({ body: { ...RECEIPT, ...change } })

const send = async (change: object = {}): Promise<Readonly<Record<string, unknown>>> => ({
  ...unwrap(await ask(change))
})

describe("a server of a test's own", () => {
  it("takes no setting of the environment, and those that it is given", async () => {
    assert.deepInclude(await send({ idempotencyKey: "settings" }), { provider: "provider_a" })
  })

  it("delivers into an outbox that decodes: once for a key (I1)", async () => {
    assert.deepStrictEqual(await send(), await send())
    const receipt = await postlane.outbox.expectOne({ to: "ann@shop.test", subject: "Your receipt" })
    assert.deepInclude(receipt, { text: `${RECEIPT.text}\n`, html: null, idempotencyKey: "receipt/17" })
    assert.deepStrictEqual(receipt.links, [{ text: "", href: "https://shop.test/orders/17" }])
  })

  it("has a provider that follows a script for one mail alone", async () => {
    await postlane.provider.next("unavailable", { for: { to: "BOB@shop.test" } })
    assert.strictEqual((await send({ idempotencyKey: "a" }))["provider"], "provider_a")
    const failedOver = await send({ idempotencyKey: "b", to: "bob@shop.test" })
    assert.deepInclude(failedOver, { provider: "provider_b", failedOver: true })
  })

  it("reports a bounce once the shop has heard of it by its event hook, and mails the address no more", async () => {
    await send({ idempotencyKey: "c", to: "cy@shop.test" })
    await postlane.bounce(await postlane.outbox.expectOne({ to: "cy@shop.test" }))
    assert.deepStrictEqual(heard.find(({ type }) => type === "email.bounced")?.to, ["cy@shop.test"])
    const again = await ask({ idempotencyKey: "d", to: "cy@shop.test" })
    assert.strictEqual(again.ok ? "sent" : again.error.code, "EMAIL_SUPPRESSED")
  })

  it("has a clock: a mail that is queued for tomorrow goes out, and an hour is not enough", async () => {
    const sendAt = new Date(Date.now() + 24 * 3_600_000).toISOString()
    await send({ idempotencyKey: "tomorrow", sendAt })
    await postlane.clock.advance("1 hour")
    await postlane.outbox.expectNone({ idempotencyKey: "tomorrow" })
    await postlane.clock.advance("24 hours")
    const sent = await postlane.outbox.expectOne({ idempotencyKey: "tomorrow" })
    assert.isAtLeast(Date.parse(sent.at), Date.parse(sendAt))
  })

  it("forgets a key after its day, by the database's time as by its own", async () => {
    const first = await send({ idempotencyKey: "again" })
    await postlane.clock.advance("25 hours")
    const second = await send({ idempotencyKey: "again" })
    assert.notStrictEqual(first["sendId"], second["sendId"])
    assert.lengthOf(await postlane.outbox.list({ idempotencyKey: "again" }), 2)
  })

  it("says why it does not start, and leaves nothing", async () => {
    const start = startPostlane({ env: { PORT: "many" } })
    const error = await start.then(
      () => assert.fail("it started"),
      (cause: unknown) => cause as Error
    )
    assert.match(error.message, /Postlane does not start.*PORT /s)
  })

  it("two start at once on one prepared database, on their own, and leave nothing when they end", async () => {
    const two = await Promise.all([startPostlane(), startPostlane()])
    assert.notStrictEqual(two[0].url, two[1].url)
    await two[0].provider.always("rejected")
    const answer = await two[1].clients.sender.sending.email({ body: RECEIPT })
    assert.isTrue(answer.ok)
    await two[1].outbox.expectOne({ to: "ann@shop.test" })
    await two[0].outbox.expectNone()
    await Promise.all(two.map(({ close }) => close()))
    for (const { dataDir } of two) assert.isFalse(existsSync(dataDir))
    for (const { url } of two) assert.isUndefined(await fetch(`${url}/health`).catch(() => undefined))
  })

  it("ends with the process that started it, and takes its data along", async () => {
    const script = `
      const { startPostlane } = await import(${JSON.stringify(ENTRY)})
      const { dataDir, url } = await startPostlane()
      console.log(JSON.stringify({ dataDir, url }))
      setInterval(() => undefined, 1000)`
    const parent = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const [line] = (await once(createInterface({ input: parent.stdout }), "line")) as [string]
    const { dataDir, url } = JSON.parse(line) as { readonly dataDir: string; readonly url: string }
    assert.isTrue(existsSync(dataDir))
    parent.kill("SIGKILL")
    await until("its data is gone", () => !existsSync(dataDir))
    assert.isUndefined(await fetch(`${url}/health`).catch(() => undefined))
  })
})
