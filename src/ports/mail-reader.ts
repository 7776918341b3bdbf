import { Context, Data } from "effect"
import type { Effect } from "effect"

import type { IncomingMail } from "../domain/intake/incoming-mail.ts"

/**
 * The bytes cannot be taken apart as a mail: nested too deep, or beyond all measure. `deadly`: reading them ended their reader
 * twice, and they must not be read again. The message is for the log.
 */
export class UnreadableMail extends Data.TaggedError("UnreadableMail")<{
  readonly message: string
  readonly deadly: boolean
}> {}

/** Nothing could read the mail, whatever it is; it is read later. */
export class MailReaderUnavailable extends Data.TaggedError("MailReaderUnavailable")<{
  readonly cause: unknown
}> {}

/** Takes mails apart, malformed ones as far as it goes. */
export class MailReader extends Context.Service<
  MailReader,
  { readonly read: (raw: Uint8Array) => Effect.Effect<IncomingMail, UnreadableMail | MailReaderUnavailable> }
>()("postlane/ports/MailReader") {}
