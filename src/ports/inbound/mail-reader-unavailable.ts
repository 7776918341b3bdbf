import { Data } from "effect"

/** No reader could run, or none got an answer ready; the mail is read later. */
export class MailReaderUnavailable extends Data.TaggedError("MailReaderUnavailable")<{
  readonly cause: unknown
}> {}
