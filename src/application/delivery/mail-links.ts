import { Clock, Context, Effect, Layer } from "effect"
import type * as Mac from "effect/crypto/Mac"

import { AuditNotes } from "../../ports/accounts/audit-log.ts"
import { Unsubscribes } from "../../ports/outreach/campaign-book.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { makeSignedTokens } from "../accounts/tokens.ts"

/** Longest that a link works, days. */
export const MAX_LINK_DAYS = 30

const DAY_MS = 86_400_000

/** The signing purpose of these links: no token of another kind opens one. */
const LABEL = "postlane mail link 1"

/** Longest token, characters: that of the longest address. */
const MAX_TOKEN_LENGTH = 900

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** A link to what one address was mailed. */
interface MailLink {
  /** Bare and lower-case. */
  readonly recipient: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

const payloadOf = ({ expiresAt, recipient }: MailLink): Uint8Array =>
  encoder.encode(`${expiresAt}\n${recipient}`)

/** What a payload that we signed says. */
const linkOf = (payload: Uint8Array): MailLink => {
  const [expiresAt = "", recipient = ""] = decoder.decode(payload).split("\n")
  return { expiresAt: Number(expiresAt), recipient }
}

/**
 * Signed links that show what one address was mailed, to people without an account (EVENT-67). A link holds the address and its end with an
 * HMAC over both; the links in mails are signed with the same key, for another purpose.
 */
export class MailLinks extends Context.Service<
  MailLinks,
  {
    /** A new link. A `mail_link` row is written to `admin_audit_log`. */
    readonly make: (wanted: {
      readonly recipient: string
      readonly days: number
      readonly actor: string
    }) => Effect.Effect<{ readonly token: string; readonly expiresAt: number }, StoreUnavailable>
    /** What a genuine token opens; undefined for any other text, and after its end. */
    readonly open: (token: string) => Effect.Effect<MailLink | undefined, StoreUnavailable>
  }
>()("postlane/application/MailLinks") {}

export const layer: Layer.Layer<MailLinks, never, AuditNotes | Unsubscribes | Mac.Mac> = Layer.effect(
  MailLinks,
  Effect.gen(function* () {
    const { key } = yield* Unsubscribes
    const notes = yield* AuditNotes
    const tokens = yield* makeSignedTokens({ label: LABEL, maxLength: MAX_TOKEN_LENGTH, key })
    return MailLinks.of({
      make: Effect.fnUntraced(function* ({ actor, days, recipient }) {
        const expiresAt = (yield* Clock.currentTimeMillis) + days * DAY_MS
        const token = yield* tokens.write(payloadOf({ recipient, expiresAt }))
        yield* notes.add({ action: "mail_link", actor, target: recipient })
        return { token, expiresAt }
      }),
      open: Effect.fnUntraced(function* (token) {
        const payload = yield* tokens.read(token)
        if (payload === undefined) return undefined
        const link = linkOf(payload)
        return link.expiresAt > (yield* Clock.currentTimeMillis) ? link : undefined
      })
    })
  })
)
