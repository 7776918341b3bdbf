import { Context, Effect, Layer } from "effect"
import type * as Mac from "effect/crypto/Mac"

import { pathTo } from "../../domain/pages.ts"
import { type LeftMail, MailPreferences } from "../../ports/mail/preferences.ts"
import { Unsubscribes } from "../../ports/outreach/campaign-book.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { makeSignedTokens } from "../accounts/tokens.ts"
import { type MakeLink, UnsubscribeLinks } from "../mail/unsubscribe-links.ts"

/** The address of an unsubscribe link, and the mail that carried it. */
export type UnsubscribeSubject = {
  /** Bare and lower-case. */
  readonly email: string
} & (
  | { readonly campaign: string }
  /** Of other marketing, or of one list. */
  | { readonly list: string | undefined }
)

/** What somebody does on the page of a link. */
export const CHOICES = ["leave", "return", "leave-all", "return-to-all"] as const
export type Choice = (typeof CHOICES)[number]

/** A campaign's name: it is used in links, tags and logs. */
export const CAMPAIGN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u

/** Longest token, characters: the longest address and campaign fit into a path parameter and into one header line. */
export const MAX_TOKEN_LENGTH = 900

/** The signing purpose of unsubscribe links. */
const UNSUBSCRIBE_LABEL = "postlane unsubscribe 1"

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Before the name of a list, which may be empty: no campaign begins with it. */
const LIST = "list:"

/** Campaign or list, and the address, as bytes; neither holds a line break. */
const payloadOf = (subject: UnsubscribeSubject): Uint8Array =>
  encoder.encode(
    `${"campaign" in subject ? subject.campaign : `${LIST}${subject.list ?? ""}`}\n${subject.email}`
  )

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** The subject of a payload; undefined for bytes that {@link payloadOf} does not make. */
const subjectOf = (payload: Uint8Array): UnsubscribeSubject | undefined => {
  const [origin, email, ...more] = textOf(payload)?.split("\n") ?? []
  if (origin === undefined || email === undefined || email === "" || more.length > 0) return undefined
  if (origin.startsWith(LIST)) return { email, list: origin.slice(LIST.length) || undefined }
  return CAMPAIGN.test(origin) ? { email, campaign: origin } : undefined
}

/** A link, and what its address has left. */
export interface Standing {
  readonly subject: UnsubscribeSubject
  /** The link's list; absent where it is of all marketing. */
  readonly list: string | undefined
  readonly left: LeftMail
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
    /** As `verify`, with what the address has left so far; records nothing. */
    readonly look: (token: string) => Effect.Effect<Standing | undefined, StoreUnavailable>
    /**
     * As `look`, after the choice: `leave` is of the link's list, or of all marketing where it names none. Again, it changes nothing.
     */
    readonly choose: (token: string, choice: Choice) => Effect.Effect<Standing | undefined, StoreUnavailable>
  }
>()("postlane/application/Unsubscribing") {}

/** The links' tokens, by the key of the database. */
const makeTokens = Effect.flatMap(Unsubscribes, ({ key }) =>
  makeSignedTokens({ label: UNSUBSCRIBE_LABEL, maxLength: MAX_TOKEN_LENGTH, key })
)

/** Links in the mail that this process sends; `baseUrl` begins with `https://` and has no slash at its end. */
export const layerLinks = (baseUrl: string): Layer.Layer<never, never, Unsubscribes | Mac.Mac> =>
  Layer.effect(
    UnsubscribeLinks,
    Effect.map(
      makeTokens,
      (tokens): MakeLink =>
        (subject) =>
          Effect.map(tokens.write(payloadOf(subject)), (token) => `${baseUrl}${pathTo.unsubscribe(token)}`)
    )
  )

const make = Effect.gen(function* () {
  const store = yield* Unsubscribes
  const preferences = yield* MailPreferences
  const tokens = yield* makeTokens

  const verify = (token: string) =>
    Effect.map(tokens.read(token), (payload) => (payload === undefined ? undefined : subjectOf(payload)))

  const listOf = (subject: UnsubscribeSubject) => ("campaign" in subject ? undefined : subject.list)

  const standing = (subject: UnsubscribeSubject) =>
    Effect.map(preferences.of(subject.email), (left): Standing => ({ subject, list: listOf(subject), left }))

  const look = Effect.fnUntraced(function* (token: string) {
    const subject = yield* verify(token)
    return subject === undefined ? undefined : yield* standing(subject)
  })

  const carryOut = (subject: UnsubscribeSubject, choice: Choice): Effect.Effect<void, StoreUnavailable> => {
    const { email } = subject
    const campaign = "campaign" in subject ? subject.campaign : undefined
    const list = listOf(subject)
    switch (choice) {
      case "leave":
        return list === undefined ? store.add({ email, campaign }) : preferences.leave({ email, list })
      case "leave-all":
        return store.add({ email, campaign })
      case "return":
        return preferences.comeBack({ email, list })
      case "return-to-all":
        return preferences.comeBack({ email, list: undefined })
    }
  }

  return Unsubscribing.of({
    token: (subject) => tokens.write(payloadOf(subject)),
    verify,
    look,
    choose: Effect.fnUntraced(function* (token, choice) {
      const subject = yield* verify(token)
      if (subject === undefined) return undefined
      yield* carryOut(subject, choice)
      return yield* standing(subject)
    })
  })
})

export const layer: Layer.Layer<Unsubscribing, never, Unsubscribes | MailPreferences | Mac.Mac> =
  Layer.effect(Unsubscribing, make)
