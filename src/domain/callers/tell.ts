import { Effect } from "effect"

import { MailTemplates } from "../../ports/mail-templates.ts"
import type { Category } from "../mail/category.ts"
import { Mailer } from "../mail/mailer.ts"
import type { MailTemplate } from "../mail/template.ts"

/** What a mail of the product needs beside its words. */
export interface Addressed {
  readonly to: string
  readonly category: Category
  /** `api:<name>`. */
  readonly source: `api:${string}`
  readonly replyTo?: string
  readonly idempotencyKey?: string
}

/** Writes a mail and sends it. True only where the send's `ok` is; else the error is logged (document 1, "Rules for callers"). */
export type Tell = (mail: MailTemplate, addressed: Addressed) => Effect.Effect<boolean>

/** Makes {@link Tell} on the mailer of the surroundings. */
export const makeTell: Effect.Effect<Tell, never, Mailer | MailTemplates> = Effect.gen(function* () {
  const templates = yield* MailTemplates
  const mailer = yield* Mailer
  return Effect.fnUntraced(function* (mail, addressed) {
    const rendered = yield* templates.render(mail)
    const error = yield* mailer.send({ ...rendered, ...addressed }).pipe(
      Effect.map((result) => (result.ok ? undefined : result.error)),
      Effect.catch((notBegun) => Effect.succeed(notBegun.message))
    )
    if (error === undefined) return true
    yield* Effect.logError("a mail did not go out").pipe(
      Effect.annotateLogs({ source: addressed.source, kind: mail.kind, error })
    )
    return false
  })
})
