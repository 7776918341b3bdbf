/** How long a link is valid, seconds. */
export const SHARE_SECONDS = 14 * 24 * 60 * 60

/** What a link refers to. */
export interface ShareSubject {
  readonly fileId: string
  /** Seconds since 1970. */
  readonly expiresAt: number
}

/** The purpose that signatures of links to shared files are bound to. */
export const SHARE_LABEL = "postlane share 1"

/** A token has 74 characters; longer texts are rejected. */
export const MAX_SHARE_TOKEN = 74

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
  return { fileId, expiresAt }
}
