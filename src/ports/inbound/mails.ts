import { Context, Data, type Effect, type Duration, type Scope, type Stream } from "effect"

import type { IncomingMail } from "../../domain/inbound/incoming-mail.ts"
import type { MailObjects, ObjectStoreError } from "../object-store.ts"
import type { MailReaderUnavailable } from "./mail-reader-unavailable.ts"

/**
 * The bytes cannot be parsed as a mail: nested too deep, or beyond the limits. `deadly`: they crashed their reader twice
 * and must not be read again (INBOUND-3). The message is for the log.
 */
export class UnreadableMail extends Data.TaggedError("UnreadableMail")<{
  readonly message: string
  readonly deadly: boolean
}> {}

/** A mail with PDFs that are read as streams. */
export type ReadableMail = IncomingMail<PdfContent>
export type PdfContent = Stream.Stream<Uint8Array, MailReaderUnavailable>

/** A mail, and the SHA-256 (hex) of its raw form. */
interface ReadMail {
  readonly mail: ReadableMail
  readonly rawSha256: string
}

/** Parses mails, malformed ones as far as possible. */
export class MailReader extends Context.Service<
  MailReader,
  {
    /** Reads a header section at once, as `read` reads that of the mail; it takes less than a millisecond. */
    readonly readHead: (head: Uint8Array) => Pick<IncomingMail, "headers" | "from">
    /**
     * Reads a stored mail of so many bytes; a missing or short object is an error of the store, and is read again later. Its files can be
     * read until the scope closes.
     */
    readonly read: (
      key: string,
      bytes: number
    ) => Effect.Effect<
      ReadMail,
      UnreadableMail | MailReaderUnavailable | ObjectStoreError,
      MailObjects | Scope.Scope
    >
  }
>()("postlane/ports/MailReader") {}

/** A mail that intake sends. */
export interface OutgoingReply {
  /** Idempotency key: a channel that dedupes sends it once. */
  readonly key: string
  /** Bare address. */
  readonly to: string
  readonly subject: string
  /** Undefined: the mail is text only. */
  readonly html: string | undefined
  readonly text: string
  /** Message-ID of the answered mail, with its brackets. */
  readonly inReplyTo: string | undefined
  readonly references: string | undefined
  /** False for a mail that somebody asked for by hand. */
  readonly automatic: boolean
  readonly attachment:
    | { readonly filename: string; readonly contentType: string; readonly content: Uint8Array }
    | undefined
}

/**
 * A reply that did not go out. `later`: a retry may succeed; `refused`: it can never go out unchanged (too large, not
 * valid, suppressed). `unknown`: it may have arrived, and the channel does not dedupe. `unrepeatable`: it may have arrived,
 * and the channel sends nothing under this key again; a later call may report that the mail arrived.
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
    /** The longest duration of `send`: the sum of its calls' deadlines. */
    readonly sendsWithin: Duration.Duration
    /**
     * Succeeds when the reply is accepted. `deferred`: it may have been, and retries are under way; a later call returns
     * how they ended.
     */
    readonly send: (reply: OutgoingReply) => Effect.Effect<"deferred" | void, ReplyFailure>
  }
>()("postlane/ports/ReplyChannel") {}
