import { Context, Effect, Layer } from "effect"
import type * as Mac from "effect/crypto/Mac"

import { Unsubscribes } from "../../ports/outreach/campaign-book.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { makeSignedTokens } from "../accounts/tokens.ts"

/** The address of an unsubscribe link, and the campaign of the mail that carried it. */
export interface UnsubscribeSubject {
  /** Bare and lower-case. */
  readonly email: string
  readonly campaign: string
}

/** A campaign's name: it is used in links, tags and logs. */
export const CAMPAIGN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Longest token, characters: the longest address and campaign fit into a path parameter and into one header line. */
export const MAX_TOKEN_LENGTH = 900

/** The signing purpose of unsubscribe links. */
const UNSUBSCRIBE_LABEL = "postlane unsubscribe 1"

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Campaign and address as bytes; a campaign holds no line break. */
const payloadOf = ({ campaign, email }: UnsubscribeSubject): Uint8Array =>
  encoder.encode(`${campaign}\n${email}`)

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** The subject of a payload; undefined for bytes that {@link payloadOf} does not make. */
const subjectOf = (payload: Uint8Array): UnsubscribeSubject | undefined => {
  const [campaign, email, ...more] = textOf(payload)?.split("\n") ?? []
  if (campaign === undefined || email === undefined || email === "" || more.length > 0) return undefined
  return CAMPAIGN.test(campaign) ? { email, campaign } : undefined
}

/**
 * One-click unsubscribing (RFC 8058). A link holds the address and the campaign with an HMAC-SHA256 over both, so that it
 * works for as long as the mail is kept, whatever happens to the rows. The key is random and kept in the database: a secret
 * in the settings is rotated now and then, which would break every link in mail that people already have.
 */
export class Unsubscribing extends Context.Service<
  Unsubscribing,
  {
    /** The token of a link. */
    readonly token: (subject: UnsubscribeSubject) => Effect.Effect<string, StoreUnavailable>
    /** The subject of a genuine token; undefined for a forged, truncated or changed one. Records nothing. */
    readonly verify: (token: string) => Effect.Effect<UnsubscribeSubject | undefined, StoreUnavailable>
    /** As `verify`, and takes the address off all outreach. */
    readonly unsubscribe: (token: string) => Effect.Effect<UnsubscribeSubject | undefined, StoreUnavailable>
  }
>()("postlane/application/Unsubscribing") {}

const make = Effect.gen(function* () {
  const store = yield* Unsubscribes
  const tokens = yield* makeSignedTokens({
    label: UNSUBSCRIBE_LABEL,
    maxLength: MAX_TOKEN_LENGTH,
    key: store.key
  })

  const verify = (token: string) =>
    Effect.map(tokens.read(token), (payload) => (payload === undefined ? undefined : subjectOf(payload)))

  return Unsubscribing.of({
    token: (subject) => tokens.write(payloadOf(subject)),
    verify,
    unsubscribe: Effect.fnUntraced(function* (token) {
      const subject = yield* verify(token)
      if (subject !== undefined) yield* store.add(subject)
      return subject
    })
  })
})

export const layer: Layer.Layer<Unsubscribing, never, Unsubscribes | Mac.Mac> = Layer.effect(
  Unsubscribing,
  make
)
