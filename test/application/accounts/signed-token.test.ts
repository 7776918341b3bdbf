import { Effect, Layer, Redacted } from "effect"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { makeSignedTokens } from "../../../src/application/accounts/tokens.ts"

/** Signed tokens, as promises. */
const tokensOf = async (label: string, byte: number) => {
  const key = Effect.succeed(Redacted.make(new Uint8Array(32).fill(byte)))
  const { read, write } = await Effect.runPromise(
    makeSignedTokens({ label, maxLength: 200, key }).pipe(
      Effect.provide(Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto)))
    )
  )
  return {
    read: (token: string) => Effect.runPromise(read(token)),
    write: (payload: Uint8Array) => Effect.runPromise(write(payload))
  }
}

const tokens = await tokensOf("a", 1)
const others = [await tokensOf("b", 1), await tokensOf("a", 2)]
const payloads = fc.uint8Array({ maxLength: 100 })

describe("signed tokens", () => {
  it("carry any payload, and the same one in the same way", () =>
    fc.assert(
      fc.asyncProperty(payloads, async (payload) => {
        const token = await tokens.write(payload)
        expect(token).toMatch(/^[\w-]*\.[\w-]{43}$/)
        expect(await tokens.write(payload)).toBe(token)
        expect(await tokens.read(token)).toEqual(payload)
        for (const other of others) expect(await other.read(token)).toBeUndefined()
      })
    ))

  it("are genuine in one writing only", () =>
    fc.assert(
      fc.asyncProperty(
        payloads,
        fc.nat(),
        fc.constantFrom(...Array.from("AZaz09_-.=%\n\0 ä")),
        async (payload, place, character) => {
          const token = await tokens.write(payload)
          const at = place % token.length
          const changed = [
            token.slice(0, at),
            token.slice(at + 1),
            `${token.slice(0, at)}${character}${token.slice(at + 1)}`,
            `${token.slice(0, at)}${character}${token.slice(at)}`
          ].filter((candidate) => candidate !== token)
          for (const candidate of changed) expect(await tokens.read(candidate)).toBeUndefined()
        }
      )
    ))

  it("longer than ours are not looked at, and no text fails", async () => {
    const long = await tokens.write(new Uint8Array(150))
    for (const text of [long, "", ".", "..", "a.b", "x".repeat(100_000), ".".repeat(1000)])
      expect(await tokens.read(text)).toBeUndefined()
  })
})
