import { Context, Data, Effect, Layer } from "effect"

import type { CustomerId, FileId } from "../../domain/ids.ts"
import { SharedFiles } from "../../ports/conversion/shared-files.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import type { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { isOk, makeProductMail } from "../accounts/product-mail.ts"
import type { Mailer } from "../mail/mailer.ts"

/** Most people that one call shares a file with. */
export const MAX_SHARE_RECIPIENTS = 50

/** Concurrent mails of one call. */
const CONCURRENCY = 4

/** There is no such file, or it belongs to somebody else (DOC-3). */
class NoSuchFile extends Data.TaggedError("NoSuchFile") {}

/** A file that is to be shared. */
export interface ShareRequest {
  readonly fileId: FileId
  readonly customerId: CustomerId
  /** Bare addresses; each gets a separate mail and does not see the others. */
  readonly recipients: ReadonlyArray<string>
  readonly message: string | undefined
  /** A repeated call has the same id, and mails a recipient once. */
  readonly callId?: string | undefined
}

/** Recipients, split by whether their mail went out (MAIL-3). */
interface ShareAnswer {
  readonly recipients: number
  readonly unsentRecipients: ReadonlyArray<string>
}

/** Shares files by mail. */
export class Sharing extends Context.Service<
  Sharing,
  {
    readonly share: (request: ShareRequest) => Effect.Effect<ShareAnswer, NoSuchFile | StoreUnavailable>
  }
>()("postlane/application/Sharing") {}

/** The service, built on the ports in context. */
export const layer: Layer.Layer<Sharing, never, Deferrals | SharedFiles | MailTemplates | Mailer> =
  Layer.effect(
    Sharing,
    Effect.gen(function* () {
      const files = yield* SharedFiles
      const sendMail = yield* makeProductMail
      return Sharing.of({
        share: Effect.fnUntraced(function* ({ callId, customerId, fileId, message, recipients }) {
          const link = yield* files.link({ fileId, customerId })
          if (link === undefined) return yield* new NoSuchFile()
          // Before the mails go out: every address that may have the link is on the list.
          const links = yield* files.note({
            fileId,
            recipients: [...new Set(recipients)],
            expiresAt: link.expiresAt
          })
          const addresses = links.map(({ email }) => email).sort()
          const sent = yield* Effect.forEach(
            links,
            ({ email: to, url }) =>
              Effect.map(
                sendMail(
                  { kind: "share", message, ...link, url },
                  {
                    to,
                    category: "transactional",
                    source: "api:share",
                    mayWait: true,
                    ...(callId && { idempotencyKey: `share/${callId}/${addresses.indexOf(to)}` })
                  }
                ),
                (result) => ({ to, ok: isOk(result) })
              ),
            { concurrency: CONCURRENCY }
          )
          return {
            recipients: sent.filter(({ ok }) => ok).length,
            unsentRecipients: sent.filter(({ ok }) => !ok).map(({ to }) => to)
          }
        })
      })
    })
  )
