import { Context, Data, type Effect, type Duration } from "effect"

import type { IncomingMail } from "../../domain/inbound/incoming-mail.ts"

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

/** A mail that intake sends. */
export interface OutgoingReply {
  /** The same key is the same mail: a channel that can tell sends it once. */
  readonly key: string
  /** Bare address. */
  readonly to: string
  readonly subject: string
  /** Text alone where it is undefined. */
  readonly html: string | undefined
  readonly text: string
  /** Message-ID of the mail that is answered, with its brackets. */
  readonly inReplyTo: string | undefined
  readonly references: string | undefined
  /** False for a mail that somebody asked for by hand. */
  readonly automatic: boolean
  readonly attachment:
    | { readonly filename: string; readonly contentType: string; readonly content: Uint8Array }
    | undefined
}

/**
 * A reply that did not go out. `later`: the same again may; `refused`: never, as it is (too large, not valid, suppressed).
 * `unknown`: nobody can say, and the channel cannot tell a repetition. `unrepeatable`: nobody can say, and the channel does not send
 * anything under this key again; asked once more, it may have learned that the mail arrived.
 */
export class ReplyFailure extends Data.TaggedError("ReplyFailure")<{
  readonly reason: "later" | "refused" | "unknown" | "unrepeatable"
  readonly message: string
}> {}

/** How replies go out: the workspace mail API or the library (`CONVERT_REPLY_CHANNEL`). */
export class ReplyChannel extends Context.Service<
  ReplyChannel,
  {
    readonly name: "workspace" | "library"
    /** Most bytes of an attachment, before its transfer encoding. */
    readonly maxAttachmentBytes: number
    /** The longest that `send` takes: all its calls' deadlines together. */
    readonly sendsWithin: Duration.Duration
    /**
     * Ends when it is accepted. `deferred`: it may have been, and retries are under way; the same call says later how they ended.
     */
    readonly send: (reply: OutgoingReply) => Effect.Effect<"deferred" | void, ReplyFailure>
  }
>()("postlane/ports/ReplyChannel") {}
