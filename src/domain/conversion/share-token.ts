import { Clock, Effect, type Redacted } from "effect"

import { makeSignedTokens } from "../accounts/tokens.ts"
import { FileId } from "../ids.ts"

/** How long a link is valid, seconds. */
export const SHARE_SECONDS = 14 * 24 * 60 * 60

/** What a link refers to. */
interface ShareSubject {
  readonly fileId: FileId
  /** Seconds since 1970. */
  readonly expiresAt: number
}

/** The purpose that signatures of links to shared files are bound to. */
const SHARE_LABEL = "postlane share 1"

/** A token has 74 characters; longer texts are rejected. */
const MAX_SHARE_TOKEN = 74

const ID_BYTES = 16
const PAYLOAD_BYTES = ID_BYTES + 6

/** File and end as bytes. */
export const payloadOf = ({ expiresAt, fileId }: ShareSubject): Uint8Array => {
  const payload = new Uint8Array(PAYLOAD_BYTES)
  const digits = fileId.replaceAll("-", "")
  for (let at = 0; at < ID_BYTES; at++) payload[at] = Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16)
  let rest = expiresAt
  for (let at = PAYLOAD_BYTES - 1; at >= ID_BYTES; at--) {
    payload[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
  return payload
}

/** Decodes a payload; undefined for what {@link payloadOf} does not produce. */
export const subjectOf = (payload: Uint8Array): ShareSubject | undefined => {
  if (payload.length !== PAYLOAD_BYTES) return undefined
  const digits = [...payload.subarray(0, ID_BYTES)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  const fileId = digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
  const expiresAt = payload.subarray(ID_BYTES).reduce((sum, byte) => sum * 256 + byte, 0)
  return { fileId: FileId.make(fileId), expiresAt }
}

/** Whether a link that was made then, seconds since 1970, works after links were stopped at `sharesFrom`, milliseconds. */
export const isAfterStop = (madeAt: number, sharesFrom: number | null): boolean =>
  sharesFrom === null || sharesFrom < madeAt * 1000

/** The first moment from which a link works, milliseconds: links count by the second, and those until `sharesFrom` are stopped. */
export const firstMoment = (sharesFrom: number | null): Effect.Effect<number> =>
  Effect.map(Clock.currentTimeMillis, (now) => Math.max(now, sharesFrom === null ? 0 : sharesFrom + 1000))

/**
 * Signed links to results: file id and expiry with an HMAC-SHA256 over both. The same moment gives the same link, so that a
 * mail with links can be sent again under its idempotency key.
 */
export const makeShareLinks = Effect.fnUntraced(function* <E>(options: {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly key: Effect.Effect<Redacted.Redacted<Uint8Array>, E>
}) {
  const { baseUrl, key } = options
  const tokens = yield* makeSignedTokens({ label: SHARE_LABEL, maxLength: MAX_SHARE_TOKEN, key })
  return {
    /** The link of a file that is valid from this moment, milliseconds of the epoch. */
    from: Effect.fnUntraced(function* (fileId: FileId, ms: number) {
      const expiresAt = Math.floor(ms / 1000) + SHARE_SECONDS
      const token = yield* tokens.write(payloadOf({ fileId, expiresAt }))
      return { url: `${baseUrl}/shared/${token}`, expiresAt: new Date(expiresAt * 1000).toISOString() }
    }),
    /** The file of a genuine token that has not expired, and when the link was made, seconds since 1970. */
    read: Effect.fnUntraced(function* (token: string) {
      const payload = yield* tokens.read(token)
      const subject = payload === undefined ? undefined : subjectOf(payload)
      const now = yield* Clock.currentTimeMillis
      return subject === undefined || subject.expiresAt * 1000 <= now
        ? undefined
        : { fileId: subject.fileId, madeAt: subject.expiresAt - SHARE_SECONDS }
    })
  }
})
