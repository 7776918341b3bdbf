import { Context, Data, type Effect } from "effect"

import type { SubmittedMail } from "../../domain/mail/submitted-mail.ts"

/** The mail was not read. `unavailable`: the machine is at fault, and the same mail may be read later. */
export class SubmissionUnread extends Data.TaggedError("SubmissionUnread")<{
  readonly reason: "unreadable" | "unavailable"
  /** For the mail's sender. */
  readonly message: string
}> {}

/** Takes apart the mails that programs hand over as bytes, where no mail can hold up the process (H1). */
export class SubmissionReader extends Context.Service<
  SubmissionReader,
  { readonly read: (raw: Uint8Array) => Effect.Effect<SubmittedMail, SubmissionUnread> }
>()("postlane/ports/SubmissionReader") {}
