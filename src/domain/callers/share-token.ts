import { Result } from "effect"
import * as Base64Url from "effect/encoding/Base64Url"

/** How long a link holds, seconds. */
export const SHARE_SECONDS = 14 * 24 * 60 * 60

/** What a link is about. */
export interface ShareSubject {
  readonly fileId: string
  /** Seconds since 1970. */
  readonly expiresAt: number
}

/** What is signed: no signature made for another purpose fits. */
const LABEL = new TextEncoder().encode("postlane share 1\n")

const ID_BYTES = 16
const PAYLOAD_BYTES = ID_BYTES + 6
/** SHA-256. */
const MAC_BYTES = 32

/** The bytes that the signature is over. */
export const signedBytes = (payload: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(LABEL.length + payload.length)
  bytes.set(LABEL)
  bytes.set(payload, LABEL.length)
  return bytes
}

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

/** The token as it stands in a link. */
export const writeToken = (payload: Uint8Array, mac: Uint8Array): string => {
  const bytes = new Uint8Array(payload.length + mac.length)
  bytes.set(payload)
  bytes.set(mac, payload.length)
  return Base64Url.encode(bytes)
}

/** A token taken apart, its signature not yet checked; undefined for whatever is none. */
export const readToken = (
  token: string
): { readonly subject: ShareSubject; readonly payload: Uint8Array; readonly mac: Uint8Array } | undefined => {
  if (token.length !== Math.ceil(((PAYLOAD_BYTES + MAC_BYTES) * 4) / 3)) return undefined
  const decoded = Base64Url.decode(token)
  if (Result.isFailure(decoded) || Base64Url.encode(decoded.success) !== token) return undefined
  const payload = decoded.success.slice(0, PAYLOAD_BYTES)
  const digits = [...payload.subarray(0, ID_BYTES)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  const fileId = digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
  const expiresAt = payload.subarray(ID_BYTES).reduce((sum, byte) => sum * 256 + byte, 0)
  return { subject: { fileId, expiresAt }, payload, mac: decoded.success.slice(PAYLOAD_BYTES) }
}
