import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { Webhook } from "standardwebhooks"
import { afterAll, beforeAll, vi } from "vitest"

import { signedHeaders } from "../../../src/adapters/event-hooks/hook-sender.ts"
import vectors from "./vectors.json" with { type: "json" }

const verifies = (secrets: ReadonlyArray<string>, body: string, headers: Record<string, string>): boolean =>
  secrets.some((secret) => {
    try {
      new Webhook(secret).verify(body, headers, { jsonParse: false })
      return true
    } catch {
      return false
    }
  })

/** Made by the scheme's Python library; eight libraries of five languages agree on them. */
describe("vectors of Standard Webhooks (EVENT-83)", () => {
  beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }))
  afterAll(() => void vi.useRealTimers())

  for (const { body, headers, name, now, secrets, valid } of vectors.vectors) {
    it(`${name}: ${valid ? "holds, and ours is as good" : "is refused"}`, () => {
      vi.setSystemTime(now * 1000)
      assert.strictEqual(verifies(secrets, body, headers), valid)
      if (!valid) return
      const ours = signedHeaders(
        { messageId: headers["webhook-id"], body, secrets: secrets.map((secret) => Redacted.make(secret)) },
        new Date(Number(headers["webhook-timestamp"]) * 1000)
      )
      assert.strictEqual(ours["webhook-id"], headers["webhook-id"])
      assert.strictEqual(ours["webhook-timestamp"], headers["webhook-timestamp"])
      // A vector may have signatures of other versions or secrets beside ours.
      const theirs = headers["webhook-signature"].split(" ")
      assert.isTrue(ours["webhook-signature"]!.split(" ").some((signature) => theirs.includes(signature)))
      for (const secret of secrets) assert.isTrue(verifies([secret], body, ours))
    })
  }
})
