import { Effect, Layer, Redacted } from "effect"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { makePreferences } from "../../../src/adapters/memory/mail/preferences.ts"
import {
  layer,
  MAX_TOKEN_LENGTH,
  type UnsubscribeSubject,
  Unsubscribing
} from "../../../src/application/outreach/unsubscribe.ts"
import { MailPreferences } from "../../../src/ports/mail/preferences.ts"
import { Unsubscribes } from "../../../src/ports/outreach/campaign-book.ts"
import { storeDown } from "../../support/worlds/store-down.ts"

/** What was recorded, by which way. */
type Recorded = { readonly email: string; readonly campaign?: string | undefined; readonly list?: string }

/** Unsubscribing with a key of these bytes; `added` is what was recorded. */
const make = async (byte: number, options: { down: boolean } = { down: false }) => {
  const added: Array<Recorded> = []
  let reads = 0
  const store = Layer.succeed(
    Unsubscribes,
    Unsubscribes.of({
      key: Effect.suspend(() => {
        reads += 1
        return options.down
          ? Effect.fail(storeDown())
          : Effect.succeed(Redacted.make(new Uint8Array(32).fill(byte)))
      }),
      add: (entry) => Effect.sync(() => void added.push(entry))
    })
  )
  const nothing = makePreferences({ has: () => false, add: () => {}, lift: () => {}, emails: () => [] })
  const preferences = Layer.succeed(MailPreferences, {
    ...nothing,
    leave: (entry) => Effect.sync(() => void added.push(entry))
  })
  const service = await Effect.runPromise(
    Effect.provide(
      Unsubscribing,
      layer.pipe(
        Layer.provide([store, preferences, Mac.layerWebCrypto]),
        Layer.provide(SecureRandom.layerWebCrypto)
      )
    )
  )
  return { service, added, reads: () => reads }
}

const { added, reads, service } = await make(7)
const other = (await make(8)).service

const text = (characters: string, maxLength: number) =>
  fc.array(fc.constantFrom(...Array.from(characters)), { minLength: 1, maxLength }).map((all) => all.join(""))
const subject = fc.record({
  email: fc
    .tuple(text("abcXYZ019.+'=äß漢🐘", 64), text("abc019-.", 180))
    .map(([local, domain]) => `${local.slice(0, 64)}@${domain}`),
  campaign: text("abcXYZ019._-", 63).map((name) => `c${name}`)
})
const token = (one: UnsubscribeSubject, by = service) => Effect.runPromise(by.token(one))
const unsubscribe = (one: string) =>
  Effect.runPromise(Effect.map(service.choose(one, "leave"), (standing) => standing?.subject))

describe("unsubscribe links", () => {
  it("name whom they are about, in a path parameter and a header line, and unsubscribe him", async () => {
    await fc.assert(
      fc.asyncProperty(subject, async (one) => {
        added.length = 0
        const written = await token(one)
        expect(written).toMatch(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/)
        expect(written.length).toBeLessThanOrEqual(MAX_TOKEN_LENGTH)
        expect(await Effect.runPromise(service.verify(written))).toEqual(one)
        expect(added).toEqual([])
        expect(await unsubscribe(written)).toEqual(one)
        expect(added).toEqual([one])
      })
    )
    expect(reads()).toBe(1)
  })

  it("of a list leave that list, those of all marketing everything", async () => {
    await fc.assert(
      fc.asyncProperty(
        subject,
        fc.option(text("abc019", 64), { nil: undefined }),
        async ({ email }, list) => {
          added.length = 0
          const one = { email, list }
          const written = await token(one)
          expect(written.length).toBeLessThanOrEqual(MAX_TOKEN_LENGTH)
          expect(await unsubscribe(written)).toEqual(one)
          expect(added).toEqual([list === undefined ? { email, campaign: undefined } : { email, list }])
        }
      )
    )
  })

  it("that are forged, cut, changed or signed by another key do nothing", async () => {
    added.length = 0
    await fc.assert(
      fc.asyncProperty(
        subject,
        subject,
        fc.nat(),
        fc.constantFrom(...Array.from("AZaz09_-.=%\n\0 ä")),
        async (one, two, place, character) => {
          const written = await token(one)
          const at = place % written.length
          const [payload, mac] = written.split(".")
          const [otherPayload, otherMac] = (await token(two)).split(".")
          const forged = [
            written.slice(0, at),
            written.slice(at + 1),
            `${written.slice(0, at)}${character}${written.slice(at + 1)}`,
            `${written.slice(0, at)}${character}${written.slice(at)}`,
            `${written}.`,
            `${payload}=.${mac}`,
            `${payload}.`,
            `${payload}.${"A".repeat(43)}`,
            await token(one, other),
            ...(payload === otherPayload ? [] : [`${payload}.${otherMac}`, `${otherPayload}.${mac}`])
          ].filter((candidate) => candidate !== written)
          for (const candidate of forged) expect(await unsubscribe(candidate)).toBeUndefined()
        }
      )
    )
    for (const junk of ["", ".", "..", "a", "x".repeat(100_000), ".".repeat(1000), "__proto__", "ä.ä"]) {
      expect(await unsubscribe(junk)).toBeUndefined()
    }
    expect(added).toEqual([])
  })

  it("wait for a key that cannot be read, and read it once it can", async () => {
    const options = { down: true }
    const world = await make(7, options)
    const written = await token({ email: "a@x.test", campaign: "c" })
    const failure = await Effect.runPromise(Effect.flip(world.service.choose(written, "leave")))
    expect(failure._tag).toBe("StoreUnavailable")
    options.down = false
    expect(await Effect.runPromise(world.service.choose(written, "leave"))).toBeDefined()
    expect(await Effect.runPromise(world.service.choose(written, "leave"))).toBeDefined()
    expect(world.reads()).toBe(2)
  })
})
