import { Context, Data } from "effect"
import type { Effect } from "effect"

import type { IncomingMail } from "../domain/intake/incoming-mail.ts"

/** The bytes cannot be taken apart as a mail: nested too deep, or headers beyond all measure. The message is for the log. */
export class UnreadableMail extends Data.TaggedError("UnreadableMail")<{ readonly message: string }> {}

/** Takes mails apart, malformed ones as far as it goes. */
export class MailReader extends Context.Service<
  MailReader,
  { readonly read: (raw: Uint8Array) => Effect.Effect<IncomingMail, UnreadableMail> }
>()("postlane/ports/MailReader") {}
