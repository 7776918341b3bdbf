import { createHmac } from "node:crypto"

import { Redacted, Result } from "effect"
import { Resend } from "resend"
import { describe, expect, it } from "vitest"

import { BadSignature, makeSignatureCheck } from "../../../src/adapters/resend/webhook-signature.ts"

const secretOf = (text: string) => `whsec_${Buffer.from(text).toString("base64")}`
const NEW = secretOf("a new secret, 24 bytes..")
const OLD = secretOf("an old secret, 24 bytes.")
const BODY = '{"type":"email.sent"}'

const sign = (
  secret: string,
  options: { readonly body?: string; readonly family?: string; readonly off?: number } = {}
) => {
  const { body = BODY, family = "svix", off = 0 } = options
  const timestamp = String(Math.floor(Date.now() / 1000) + off)
  const key = Buffer.from(secret.slice("whsec_".length), "base64")
  const mac = createHmac("sha256", key).update(`msg_1.${timestamp}.${body}`).digest("base64")
  return {
    [`${family}-id`]: "msg_1",
    [`${family}-timestamp`]: timestamp,
    [`${family}-signature`]: `v1,${mac}`
  }
}
const check = (headers: Record<string, unknown>, secrets = [NEW, OLD], body = BODY) =>
  Result.isSuccess(makeSignatureCheck(secrets.map((secret) => Redacted.make(secret)))(body, headers))

describe("the webhook's signature (W1)", () => {
  it("holds in both header families and under every secret in force", () => {
    for (const family of ["svix", "webhook"]) {
      for (const secret of [NEW, OLD]) expect(check(sign(secret, { family }))).toBe(true)
    }
    const headers = sign(NEW)
    expect(check({ ...headers, "svix-signature": `v1a,x v1,AAAA ${headers["svix-signature"]}` })).toBe(true)
    expect(check(sign(OLD), [NEW])).toBe(false)
  })

  it("does not hold for another body, id, time or none", () => {
    expect(check(sign(NEW), [NEW], `${BODY} `)).toBe(false)
    expect(check({ ...sign(NEW), "svix-id": "msg_2" })).toBe(false)
    expect(check({ ...sign(NEW), "svix-timestamp": String(Math.floor(Date.now() / 1000) - 1) })).toBe(false)
    expect(check({})).toBe(false)
    for (const name of ["svix-id", "svix-timestamp", "svix-signature"]) {
      expect(check({ ...sign(NEW), [name]: undefined })).toBe(false)
      expect(check({ ...sign(NEW), [name]: "" })).toBe(false)
      expect(check({ ...sign(NEW), [name]: [sign(NEW)[name]] })).toBe(false)
      expect(check({ ...sign(NEW), [name]: "v1" })).toBe(false)
    }
  })

  it("is good for five minutes either side", () => {
    for (const off of [-290, 290]) expect(check(sign(NEW, { off }))).toBe(true)
    for (const off of [-310, 310]) expect(check(sign(NEW, { off }))).toBe(false)
  })

  it("says which it was: the clock or the secret", () => {
    const reasonOf = (headers: Record<string, unknown>, secret: string) => {
      const checked = makeSignatureCheck([Redacted.make(secret)])("{}", headers)
      return Result.isFailure(checked) ? checked.failure.reason : ""
    }
    expect(reasonOf(sign(NEW, { off: 600 }), NEW)).toContain("look at its clock")
    expect(reasonOf(sign(NEW), OLD)).toContain("its secret is another one")
  })

  it("refuses everybody without a usable secret, and answers nothing but its own error", () => {
    for (const secrets of [[], [""], ["whsec_"], ["whsec_not base64!"]]) {
      expect(check(sign(NEW), secrets)).toBe(false)
    }
    expect(check(sign(NEW), ["whsec_not base64!", NEW])).toBe(true)
    const refused = makeSignatureCheck([Redacted.make(NEW)])("", {})
    expect(Result.isFailure(refused) && refused.failure).toBeInstanceOf(BadSignature)
  })

  it("agrees with the vendor's SDK", () => {
    const headers = sign(NEW)
    const verify = () =>
      new Resend("re_x").webhooks.verify({
        payload: BODY,
        headers: {
          id: headers["svix-id"]!,
          timestamp: headers["svix-timestamp"]!,
          signature: headers["svix-signature"]!
        },
        webhookSecret: NEW
      })
    expect(verify()).toEqual(JSON.parse(BODY))
    expect(check(headers)).toBe(true)
  })
})
