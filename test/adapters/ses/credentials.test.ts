import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect, Redacted } from "effect"

import {
  cachedCredentials,
  type Credentials,
  credentialSource
} from "../../../src/adapters/ses/credentials.ts"
import { imdsCredentials } from "../../../src/adapters/ses/imds-credentials.ts"
import { makeSesProvider } from "../../../src/adapters/ses/ses-provider.ts"
import { keyOf, mail } from "../../support/files/mail-message.ts"
import { fakeImds, type ImdsState } from "../../support/vendors/fake-imds.ts"
import { listening } from "../../support/vendors/fake-peers.ts"
import { fakeSes } from "../../support/vendors/fake-ses.ts"

const MINUTE = 60_000

describe("static credentials", () => {
  it("both keys, and the token where there is one", async () => {
    const keys = { accessKeyId: "AKIA", secretAccessKey: Redacted.make("s"), sessionToken: undefined }
    assert.deepStrictEqual(await credentialSource(keys)(), { accessKeyId: "AKIA", secretAccessKey: "s" })
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

describe("instance role (IMDSv2)", () => {
  const start = Date.parse("2026-11-21T12:00:00Z")
  const state = (): ImdsState => ({
    role: "mail-role",
    expiration: new Date(Date.now() + 6 * 60 * MINUTE).toISOString(),
    generation: 0,
    tokenStatus: 200
  })

  beforeEach(() => {
    vi.stubEnv("AWS_EC2_METADATA_SERVICE_ENDPOINT", undefined)
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", undefined)
  })
  afterEach(() => void vi.unstubAllEnvs())

  const sendWith = (imdsState: ImdsState, script?: "hang" | "500") =>
    Effect.gen(function* () {
      const imds = yield* listening(() => fakeImds(imdsState))
      if (script !== undefined) yield* Effect.promise(() => imds.always(script))
      const ses = yield* listening(() => fakeSes())
      const provider = yield* makeSesProvider({
        region: "us-east-1",
        endpoint: ses.url,
        credentials: imdsCredentials({ endpoint: imds.url, now: Date.now })
      })
      const send = provider.send(provider.prepare(mail(), keyOf("k")))
      return { imds, ses, send }
    })

  it.effect("signs with the role's credentials, asked for once", () =>
    Effect.gen(function* () {
      const { imds, ses, send } = yield* sendWith(state())
      yield* Effect.all([send, send, send], { concurrency: "unbounded" })
      yield* send
      const { headers } = ses.requests[0]!
      assert.include(headers.authorization, "Credential=ASIAEXAMPLE1/")
      assert.strictEqual(headers["x-amz-security-token"], "imds-session-token")
      assert.deepStrictEqual(
        imds.requests.map(({ method }) => method),
        ["PUT", "GET", "GET"]
      )
    })
  )

  it.effect("renews when they near their end", () =>
    Effect.gen(function* () {
      let now = start
      const imdsState = { ...state(), expiration: new Date(Date.now() + 60 * MINUTE).toISOString() }
      const imds = yield* listening(() => fakeImds(imdsState))
      const source = imdsCredentials({ endpoint: imds.url, now: () => now })
      now = Date.now()
      assert.strictEqual((yield* Effect.promise(source)).accessKeyId, "ASIAEXAMPLE1")
      now += 56 * MINUTE
      imdsState.expiration = new Date(now + 60 * MINUTE).toISOString()
      assert.strictEqual((yield* Effect.promise(source)).accessKeyId, "ASIAEXAMPLE2")
    })
  )

  const NONE: ReadonlyArray<readonly [string, Partial<ImdsState>, "hang" | "500" | undefined]> = [
    ["no role is attached", { role: undefined }, undefined],
    ["the token is refused (no fallback to version 1)", { tokenStatus: 403 }, undefined],
    ["it gives expired credentials", { expiration: "2020-01-01T00:00:00Z" }, undefined],
    ["it fails", {}, "500"],
    ["it does not answer", {}, "hang"]
  ]

  it.effect.each(NONE)("%s: unavailable, and no request to the provider", ([, change, script]) =>
    Effect.gen(function* () {
      const { ses, send } = yield* sendWith({ ...state(), ...change }, script)
      const failure = yield* Effect.flip(send)
      assert.strictEqual(failure.kind, "unavailable")
      assert.strictEqual(ses.received, 0)
    })
  )

  it.effect("a refused token does not stick: the next send asks anew", () =>
    Effect.gen(function* () {
      const imdsState = { ...state(), tokenStatus: 403 }
      const { imds, ses, send } = yield* sendWith(imdsState)
      yield* Effect.flip(send)
      assert.deepStrictEqual(
        imds.requests.map(({ method }) => method),
        ["PUT"]
      )
      imdsState.tokenStatus = 200
      yield* send
      assert.strictEqual(ses.acceptedCount, 1)
    })
  )

  it.effect("switched off: unavailable, and it is not asked", () =>
    Effect.gen(function* () {
      vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true")
      const { imds, send } = yield* sendWith(state())
      assert.strictEqual((yield* Effect.flip(send)).kind, "unavailable")
      assert.strictEqual(imds.received, 0)
    })
  )
})
