import { Effect } from "effect"

import { Deferrals } from "../../ports/mail/deferrals.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import { Mailer } from "../mail/mailer.ts"
import type { Category } from "../mail/suppression-policy.ts"
import type { MailTemplate } from "../mail/template.ts"

/** What a mail of the product needs beside its words. */
interface Addressed {
  readonly to: string
  readonly category: Category
  /** `api:<name>`. */
  readonly source: `api:${string}`
  readonly replyTo?: string
  readonly idempotencyKey?: string
}

/** What came of a mail. `Deferred`: its retry is queued, and its end shows when the same key is asked for again. */
export type Told =
  | { readonly _tag: "Sent" }
  | { readonly _tag: "Deferred" }
  | { readonly _tag: "Unsent"; readonly error: string }

/** Whether people may be told that the mail was sent: only where the send's `ok` is true. */
export const isOk = (told: Told): boolean => told._tag !== "Unsent"

/**
 * Writes a mail and sends it; one that does not go out is logged. A key that is asked for again sends again only where its
 * mail did not go out, the end of a deferral included.
 */
type Tell = (mail: MailTemplate, addressed: Addressed) => Effect.Effect<Told>

/** Makes {@link Tell} on the mailer of the surroundings. */
export const makeTell: Effect.Effect<Tell, never, Deferrals | Mailer | MailTemplates> = Effect.gen(
  function* () {
    const deferrals = yield* Deferrals
    const templates = yield* MailTemplates
    const mailer = yield* Mailer

    /** A log that does not answer keeps no mail back: the relay's own memory of the key still holds. */
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
