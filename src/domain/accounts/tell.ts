import { Effect } from "effect"

import { Deferrals } from "../../ports/mail/deferrals.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import { Mailer } from "../mail/mailer.ts"
import type { Category } from "../mail/suppression-policy.ts"
import type { MailTemplate } from "../mail/template.ts"

/** The envelope of a mail of the product: all but its text. */
interface Addressed {
  readonly to: string
  readonly category: Category
  /** `api:<name>`. */
  readonly source: `api:${string}`
  readonly replyTo?: string
  readonly idempotencyKey?: string
}

/** The outcome of a mail. `Deferred`: its retry is queued; a later call with the same key returns how it ended. */
export type Told =
  | { readonly _tag: "Sent" }
  | { readonly _tag: "Deferred" }
  | { readonly _tag: "Unsent"; readonly error: string }

/** Whether a caller may say that the mail was sent: only where the send's `ok` is true (MAIL-3). */
export const isOk = (told: Told): boolean => told._tag !== "Unsent"

/**
 * Renders a mail and sends it; one that does not go out is logged. A repeated key sends again only where its mail did not
 * go out, also after a deferral.
 */
type Tell = (mail: MailTemplate, addressed: Addressed) => Effect.Effect<Told>

/** Makes {@link Tell}, on the mailer in its context. */
export const makeTell: Effect.Effect<Tell, never, Deferrals | Mailer | MailTemplates> = Effect.gen(
  function* () {
    const deferrals = yield* Deferrals
    const templates = yield* MailTemplates
    const mailer = yield* Mailer

    /** Where the log does not answer, the mail is sent under the plain key, which the claims still remember. */
    const openKey = (key: string) =>
      deferrals.openKey(key).pipe(
        Effect.catch(({ cause }) =>
          Effect.as(Effect.logWarning("how an earlier deferral ended is not known", cause), {
            key,
            state: "new" as const
          })
        )
      )

    return Effect.fnUntraced(function* (mail, { idempotencyKey, ...addressed }) {
      const open = idempotencyKey === undefined ? undefined : yield* openKey(idempotencyKey)
      if (open?.state === "sent") return { _tag: "Sent" } as const
      if (open?.state === "deferred") return { _tag: "Deferred" } as const
      const rendered = yield* templates.render(mail)
      const key = open === undefined ? {} : { idempotencyKey: open.key }
      const told = yield* mailer.send({ ...rendered, ...addressed, ...key }).pipe(
        Effect.map((result): Told => {
          if (!result.ok) return { _tag: "Unsent", error: result.error }
          return { _tag: result.status === "sent" ? "Sent" : "Deferred" }
        }),
        Effect.catch((notBegun) => Effect.succeed<Told>({ _tag: "Unsent", error: notBegun.message }))
      )
      if (told._tag === "Unsent") {
        yield* Effect.logError("a mail did not go out").pipe(
          Effect.annotateLogs({ source: addressed.source, kind: mail.kind, error: told.error })
        )
      }
      return told
    })
  }
)
