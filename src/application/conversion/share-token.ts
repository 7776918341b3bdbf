import { Clock, Effect, type Redacted } from "effect"

import { FileId } from "../../domain/ids.ts"
import { pathTo } from "../../domain/pages.ts"
import { makeSignedTokens } from "../accounts/tokens.ts"

/** How long a link is valid, seconds. */
export const SHARE_SECONDS = 14 * 24 * 60 * 60

/** What a link refers to. */
interface ShareSubject {
  readonly fileId: FileId
  /** Seconds since 1970. */
  readonly expiresAt: number
}

/** The purposes that signatures of links to shared files are bound to: for anyone who has the link, and of one share. */
const SHARE_LABEL = "postlane share 1"
const OWN_SHARE_LABEL = "postlane share 2"

/** A token has 74 characters, that of one share 95; longer texts are rejected. */
const MAX_SHARE_TOKEN = 74
const MAX_OWN_SHARE_TOKEN = 95

const ID_BYTES = 16
const PAYLOAD_BYTES = ID_BYTES + 6

const bytesOfId = (id: string): Uint8Array =>
  Uint8Array.from(id.replaceAll("-", "").match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

const idOfBytes = (bytes: Uint8Array): string =>
  [...bytes]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")

/** File and end as bytes. */
export const payloadOf = ({ expiresAt, fileId }: ShareSubject): Uint8Array => {
  const payload = new Uint8Array(PAYLOAD_BYTES)
  payload.set(bytesOfId(fileId))
  let rest = expiresAt
  for (let at = PAYLOAD_BYTES - 1; at >= ID_BYTES; at--) {
    payload[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
  return payload
}

/** Decodes a payload; undefined when {@link payloadOf} cannot have produced it. */
export const subjectOf = (payload: Uint8Array): ShareSubject | undefined => {
  if (payload.length !== PAYLOAD_BYTES) return undefined
  const expiresAt = payload.subarray(ID_BYTES).reduce((sum, byte) => sum * 256 + byte, 0)
  return { fileId: FileId.make(idOfBytes(payload.subarray(0, ID_BYTES))), expiresAt }
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
  const own = yield* makeSignedTokens({ label: OWN_SHARE_LABEL, maxLength: MAX_OWN_SHARE_TOKEN, key })
  const urlOf = (token: string) => `${baseUrl}${pathTo.shared(token)}`
  return {
    /** The link of a file that is valid from this moment, milliseconds of the epoch. */
    from: Effect.fnUntraced(function* (fileId: FileId, ms: number) {
      const expiresAt = Math.floor(ms / 1000) + SHARE_SECONDS
      const token = yield* tokens.write(payloadOf({ fileId, expiresAt }))
      return { url: urlOf(token), expiresAt: new Date(expiresAt * 1000).toISOString() }
    }),
    /** The link of one share of a file, which ends with the share, at the latest at `until`, ISO 8601. */
    ofShare: Effect.fnUntraced(function* (fileId: FileId, shareId: string, until: string) {
      const subject = payloadOf({ fileId, expiresAt: Math.floor(Date.parse(until) / 1000) })
      return urlOf(yield* own.write(Uint8Array.of(...subject, ...bytesOfId(shareId))))
    }),
    /** The file of a genuine token that has not expired, its share if it names one, and when the link was made, seconds since 1970. */
    read: Effect.fnUntraced(function* (token: string) {
      const isOwn = token.length > MAX_SHARE_TOKEN
      const payload = yield* (isOwn ? own : tokens).read(token)
      const subject = payload === undefined ? undefined : subjectOf(payload.subarray(0, PAYLOAD_BYTES))
      const shareId = isOwn && payload !== undefined ? idOfBytes(payload.subarray(PAYLOAD_BYTES)) : undefined
      const now = yield* Clock.currentTimeMillis
      return subject === undefined || subject.expiresAt * 1000 <= now
        ? undefined
        : { fileId: subject.fileId, shareId, madeAt: subject.expiresAt - SHARE_SECONDS }
    })
  }
})
