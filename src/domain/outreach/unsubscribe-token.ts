import { Result } from "effect"
import * as Base64Url from "effect/encoding/Base64Url"

/** Whom an unsubscribe link is about, and which campaign's mail carried it. */
export interface UnsubscribeSubject {
  /** Bare and lower-case. */
  readonly email: string
  readonly campaign: string
}

/** A campaign's name: it stands in links, tags and logs. */
export const CAMPAIGN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Longest token, characters: the longest address and campaign fit into a path parameter and into one header line. */
export const MAX_TOKEN_LENGTH = 900

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** What is signed: no signature made for another purpose fits. */
const LABEL = encoder.encode("postlane unsubscribe 1\n")

/** SHA-256. */
const MAC_BYTES = 32

/** The bytes that the signature is over. */
export const signedBytes = (payload: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(LABEL.length + payload.length)
  bytes.set(LABEL)
  bytes.set(payload, LABEL.length)
  return bytes
}

/** Campaign and address as bytes; a campaign holds no line break. */
export const payloadOf = ({ campaign, email }: UnsubscribeSubject): Uint8Array =>
  encoder.encode(`${campaign}\n${email}`)

/** The token as it stands in a link. */
export const writeToken = (payload: Uint8Array, mac: Uint8Array): string =>
  `${Base64Url.encode(payload)}.${Base64Url.encode(mac)}`

/** A token taken apart, its signature not yet checked. */
export interface ReadToken {
  readonly subject: UnsubscribeSubject
  readonly payload: Uint8Array
  readonly mac: Uint8Array
}

/** The bytes of text that stands for them in the one way in which {@link writeToken} writes it. */
const bytesOf = (text: string): Uint8Array | undefined => {
  const bytes = Base64Url.decode(text)
  return Result.isSuccess(bytes) && Base64Url.encode(bytes.success) === text ? bytes.success : undefined
}

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Takes a token apart; undefined for whatever is none. */
export const readToken = (token: string): ReadToken | undefined => {
  const parts = token.length > MAX_TOKEN_LENGTH ? [] : token.split(".")
  if (parts.length !== 2) return undefined
  const payload = bytesOf(parts[0]!)
  const mac = bytesOf(parts[1]!)
  if (payload === undefined || mac?.length !== MAC_BYTES) return undefined
  const [campaign, email, ...more] = textOf(payload)?.split("\n") ?? []
  if (campaign === undefined || email === undefined || email === "" || more.length > 0) return undefined
  return CAMPAIGN.test(campaign) ? { subject: { email, campaign }, payload, mac } : undefined
}
