import { Context, Effect } from "effect"

import type { IdempotencyKey } from "../../domain/ids.ts"
import { addressKey } from "../../domain/mail/address.ts"
import type { Message } from "../../domain/mail/message.ts"
import { ClaimUnavailable, InvalidRequest } from "../../domain/mail/send-result.ts"
import { isBulk, linkingOf, linkIssues, withLink } from "../../domain/mail/suppression/one-click.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"

/** The link by which this address leaves a list, or all marketing where none is named; the same subject has the same link for ever. */
export type MakeLink = (subject: {
  /** Bare and lower-case. */
  readonly email: string
  readonly list: string | undefined
}) => Effect.Effect<string, StoreUnavailable>

/** Absent where no mail service would take a link: without a database, or with a `BASE_URL` that is no https. */
export class UnsubscribeLinks extends Context.Reference<MakeLink | undefined>(
  "postlane/application/mail/UnsubscribeLinks",
  { defaultValue: () => undefined }
) {}

/**
 * The mail with its link (MAIL-67). Unlike the look-up this fails closed: a mail that its reader cannot stop is a complaint, one that goes
 * out later does no harm. The key of the links is read once a process.
 */
export const linked = Effect.fnUntraced(function* (
  makeLink: MakeLink | undefined,
  message: Message,
  idempotencyKey: IdempotencyKey
): Effect.fn.Return<Message, InvalidRequest | ClaimUnavailable> {
  if (!isBulk(message)) return message
  const linking = linkingOf(message, makeLink !== undefined)
  const issues = linkIssues(message, linking)
  if (issues.length > 0) return yield* new InvalidRequest({ issues })
  if (linking._tag === "Own" && linking.url !== undefined) return withLink(message, linking.url, true)
  const [to] = message.to
  if (linking._tag !== "Made" || makeLink === undefined || to === undefined) return message
  const url = yield* makeLink({ email: addressKey(to), list: message.list }).pipe(
    Effect.mapError(() => new ClaimUnavailable({ idempotencyKey }))
  )
  return withLink(message, url, false)
})

/** For the answer of a bulk mail: whether it has a link that a mail service takes. */
export const oneClickOf = (
  makeLink: MakeLink | undefined,
  message: Message
): { readonly oneClick?: boolean } => {
  if (!isBulk(message)) return {}
  const linking = linkingOf(message, makeLink !== undefined)
  return { oneClick: linking._tag === "Made" || (linking._tag === "Own" && linking.url !== undefined) }
}
