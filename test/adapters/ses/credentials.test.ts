import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"

import {
  cachedCredentials,
  type Credentials,
  credentialSource
} from "../../../src/adapters/ses/credentials.ts"

const MINUTE = 60_000

describe("static credentials", () => {
  it("both keys, and the token where there is one", async () => {
    const keys = { accessKeyId: "AKIA", secretAccessKey: Redacted.make("s"), sessionToken: undefined }
    assert.deepStrictEqual(await credentialSource(keys)(), {
      accessKeyId: "AKIA",
      secretAccessKey: "s",
      source: "CLOUD_ACCESS_KEY_ID"
    })
    const withToken = { ...keys, sessionToken: Redacted.make("t") }
    assert.strictEqual((await credentialSource(withToken)()).sessionToken, "t")
  })
})

describe("cached credentials", () => {
  const scene = () => {
    let now = 0
    let asked = 0
    let broken = false
    let lasts = 60 * MINUTE
    const source = cachedCredentials(
      async (): Promise<Credentials> => {
        asked += 1
        await Promise.resolve()
        if (broken) throw new Error("down")
        return { accessKeyId: `key-${asked}`, secretAccessKey: "s", expiration: new Date(now + lasts) }
      },
      () => now
    )
    return {
      key: async () => (await source()).accessKeyId,
      source,
      asked: () => asked,
      at: (minutes: number) => void (now = minutes * MINUTE),
      breaks: (yes: boolean) => void (broken = yes),
      givesExpired: () => void (lasts = -1)
    }
  }

  it("are kept until 5 minutes before they end, and renewed once for all who wait", async () => {
    const { key, asked, at } = scene()
    assert.deepStrictEqual(await Promise.all([key(), key(), key()]), ["key-1", "key-1", "key-1"])
    at(54.9)
    assert.strictEqual(await key(), "key-1")
    at(55)
    assert.deepStrictEqual(await Promise.all([key(), key(), key()]), ["key-2", "key-2", "key-2"])
    assert.strictEqual(asked(), 2)
  })

  it("go on serving when a renewal fails, which is tried again after 30 s, and never past their end", async () => {
    const { key, source, asked, at, breaks } = scene()
    await key()
    breaks(true)
    at(56)
    assert.strictEqual(await key(), "key-1")
    assert.strictEqual(await key(), "key-1")
    assert.strictEqual(asked(), 2)
    at(56.5)
    assert.strictEqual(await key(), "key-1")
    assert.strictEqual(asked(), 3)
    at(60)
    assert.strictEqual(await source().catch(() => "none"), "none")
    breaks(false)
    assert.strictEqual(await key(), "key-5")
  })

  it("that have expired when they are given out are none", async () => {
    const { source, givesExpired } = scene()
    givesExpired()
    assert.strictEqual(await source().catch(() => "none"), "none")
  })
})
