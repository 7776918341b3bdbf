import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { unwrap } from "../../../src/runtime/entries/client.ts"
import { startPostlane, type TestPostlane } from "../../../src/runtime/entries/testing.ts"
import { until } from "../../support/until.ts"

/** The simulated relay reports by mail, as a real one does. Rules: RETURN-1, RETURN-4. */
describe("a server whose mail goes through a relay", () => {
  let postlane: TestPostlane
  beforeAll(async () => {
    postlane = await startPostlane({
      env: { EMAIL_PRIMARY: "smtp", BOUNCE_ADDRESS: "bounce@bounces.test" }
    })
  })
  afterAll(() => postlane.close())

  const send = async (to: string) => {
    const body = {
      to,
      subject: "Receipt",
      text: "Thanks.",
      category: "transactional",
      source: "api:t"
    } as const
    return postlane.clients.sender.sending.email({ body })
  }
  const statusOf = async (recipient: string) =>
    unwrap(await postlane.clients.admin.admin.emailLog({ recipient })).rows[0]

  it.each([
    ["delivered", "ann@shop.test"],
    ["bounced", "gone@shop.test"]
  ] as const)("hears that a mail was %s from its delivery report", async (type, to) => {
    const { provider, providerMessageId } = unwrap(await send(to)) as {
      readonly providerMessageId?: unknown
      readonly provider?: unknown
    }
    assert.strictEqual(provider, "smtp")
    const mail = await postlane.outbox.expectOne({ to })
    if (type === "bounced") await postlane.bounce(mail)
    else await postlane.report(mail, "delivered")
    const row = await until(`it is ${type}`, async () => {
      const found = await statusOf(to)
      return found?.status === type ? found : undefined
    })
    assert.strictEqual(row.provider_message_id, providerMessageId)
    assert.match(row.provider_message_id ?? "", /@bounces\.test$/)
    const again = await send(to)
    assert.strictEqual(again.ok, type === "delivered", JSON.stringify(again))
  })

  it("refuses to report what no mail server knows", async () => {
    await send("cleo@shop.test")
    const mail = await postlane.outbox.expectOne({ to: "cleo@shop.test" })
    const refused = await postlane.complain(mail).then(
      () => "",
      (cause: unknown) => String(cause)
    )
    assert.match(refused, /BOUNCE_ADDRESS/)
  })
})
