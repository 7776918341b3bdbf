import { Clock, Effect } from "effect"
import type * as Mac from "effect/crypto/Mac"

import { MailId } from "../../domain/ids.ts"
import { pathTo } from "../../domain/pages.ts"
import { IntakeStore } from "../../ports/inbound/intake-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { makeSignedTokens } from "../accounts/tokens.ts"

/** How long the link to a result works, milliseconds: 7 days. */
export const LINK_LIVES_MS = 7 * 24 * 60 * 60 * 1000

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** A token holds 36 characters of id and 13 of time; longer ones are rejected unread. */
const MAX_TOKEN = 200

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Creates and verifies the tokens of links to results. */
export interface ResultLinks {
  /** The same mail and time give the same token, so that a repeated reply is identical. */
  readonly token: (mailId: MailId, expiresAt: number) => Effect.Effect<string, StoreUnavailable>
  /** The mail of a genuine token that has not expired. */
  readonly verify: (token: string) => Effect.Effect<MailId | undefined, StoreUnavailable>
}

/** The URL of the result for a token. */
export const resultUrl = (baseUrl: string, token: string): string => `${baseUrl}${pathTo.mailResult(token)}`

/** {@link ResultLinks} signed with the database's key: tokens hold the mail's id and their expiry. */
export const makeResultLinks: Effect.Effect<ResultLinks, never, IntakeStore | Mac.Mac> = Effect.gen(
  function* () {
    const { linkKey } = yield* IntakeStore
    const tokens = yield* makeSignedTokens({
      label: "postlane convert result 1",
      maxLength: MAX_TOKEN,
      key: linkKey
    })
    return {
      token: (mailId: MailId, expiresAt: number) => tokens.write(encoder.encode(`${mailId}\n${expiresAt}`)),
      verify: Effect.fnUntraced(function* (token: string) {
        const payload = yield* tokens.read(token)
        if (payload === undefined) return undefined
        const [id, until] = decoder.decode(payload).split("\n")
        if (id === undefined || !UUID.test(id)) return undefined
        return (yield* Clock.currentTimeMillis) < Number(until) ? MailId.make(id) : undefined
      })
    }
  }
)
