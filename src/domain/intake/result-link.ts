import { Clock, Effect, Redacted, Result } from "effect"
import * as Mac from "effect/crypto/Mac"
import * as Base64Url from "effect/encoding/Base64Url"

import { IntakeStore, type IntakeUnavailable } from "../../ports/intake-store.ts"

/** How long the link to a result works, milliseconds: 7 days. */
export const LINK_LIVES_MS = 7 * 24 * 60 * 60 * 1000

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** What is signed: no signature made for another purpose fits. */
const signedBytes = (payload: string): Uint8Array => encoder.encode(`postlane convert result 1\n${payload}`)

/** SHA-256. */
const MAC_BYTES = 32

/** A token holds 36 characters of id and 13 of time; longer ones are not looked at. */
const MAX_TOKEN = 200

const bytesOf = (text: string): Uint8Array | undefined => {
  const bytes = Base64Url.decode(text)
  return Result.isSuccess(bytes) && Base64Url.encode(bytes.success) === text ? bytes.success : undefined
}

/** Makes and checks the tokens of links to results. */
export interface ResultLinks {
  /** The same mail and time give the same token, so that a reply that is sent again is the same. */
  readonly token: (mailId: string, expiresAt: number) => Effect.Effect<string, IntakeUnavailable>
  /** The mail of a genuine token whose time is not over. */
  readonly verify: (token: string) => Effect.Effect<string | undefined, IntakeUnavailable>
}

/** {@link ResultLinks} on the key of the database: HMAC-SHA256 over the mail's id and the end of its time. */
export const makeResultLinks: Effect.Effect<ResultLinks, never, IntakeStore | Mac.Mac> = Effect.gen(
  function* () {
    const store = yield* IntakeStore
    const mac = yield* Mac.Mac
    let kept: Mac.Key | undefined

    /** Read once; a failure is not kept. */
    const key = Effect.suspend(() =>
      kept !== undefined
        ? Effect.succeed(kept)
        : store.linkKey.pipe(
            Effect.flatMap((bytes) => Effect.orDie(Mac.key(Mac.hmacSha256, Redacted.value(bytes)))),
            Effect.tap((made) => Effect.sync(() => void (kept = made)))
          )
    )

    return {
      token: Effect.fnUntraced(function* (mailId: string, expiresAt: number) {
        const payload = `${mailId}\n${expiresAt}`
        const signature = yield* Effect.orDie(mac.sign(yield* key, signedBytes(payload)))
        return `${Base64Url.encode(encoder.encode(payload))}.${Base64Url.encode(signature)}`
      }),
      verify: Effect.fnUntraced(function* (token: string) {
        const [head, tail, ...more] = token.length > MAX_TOKEN ? [] : token.split(".")
        const bytes = head === undefined || more.length > 0 ? undefined : bytesOf(head)
        const signature = tail === undefined ? undefined : bytesOf(tail)
        if (bytes === undefined || signature?.length !== MAC_BYTES) return undefined
        const payload = decoder.decode(bytes)
        const genuine = yield* Effect.orDie(mac.verify(yield* key, signature, signedBytes(payload)))
        const [id, until] = payload.split("\n")
        if (!genuine || id === undefined || !UUID.test(id)) return undefined
        return (yield* Clock.currentTimeMillis) < Number(until) ? id : undefined
      })
    }
  }
)
