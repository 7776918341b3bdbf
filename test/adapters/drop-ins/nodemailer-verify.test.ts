import { createTransport } from "nodemailer"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { close } from "../../../src/runtime/entries/library.ts"
import { postlaneTransport } from "../../../src/runtime/entries/nodemailer.ts"
import { fakeResend } from "../../support/vendors/fake-resend.ts"

const vendor = fakeResend({ sendOnly: true })
const env = () => ({ PROVIDERA_API_KEY: "re_key", PROVIDERA_BASE_URL: vendor.url })
const ours = () => createTransport(postlaneTransport({ env: env() }))

beforeAll(() => vendor.listen())
afterAll(async () => {
  await close()
  await vendor.close()
})

describe("verify", () => {
  it("asks the provider, and sends nothing", async () => {
    expect(await ours().verify()).toBe(true)
    expect(vendor.accepted).toEqual([])
    const called = await new Promise((resolve, reject) => {
      ours().verify((error, isTrue) => (error === null ? resolve(isTrue) : reject(error)))
    })
    expect(called).toBe(true)
  })

  it.each([
    [{ PROVIDERA_API_KEY: undefined }, "PROVIDERA_API_KEY is not set"],
    [{ PROVIDERA_API_KEY: "a b" }, "the API key is refused"],
    [{ PROVIDERA_BASE_URL: "http://127.0.0.1:9" }, "does not answer"],
    [{ PROVIDERA_BASE_URL: "nowhere" }, "PROVIDERA_BASE_URL"],
    [
      { DB_URL: "postgres://postlane@127.0.0.1:9/none", DB_SECRET_KEY: "p" },
      "The database does not answer now"
    ]
  ])("says what does not work: %j", async (part, reason) => {
    const transport = createTransport(postlaneTransport({ env: { ...env(), ...part } }))
    await expect(transport.verify()).rejects.toMatchObject({
      code: "EVERIFY",
      message: expect.stringContaining(reason)
    })
  })
})
