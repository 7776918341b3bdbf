import { Context } from "effect"

/**
 * The span of the send that is under way, as W3C's `traceparent` has it; undefined where nothing is traced. It is kept with the send's
 * rows and retries, their spans begin new traces and link to it.
 */
export class Traceparent extends Context.Reference<string | undefined>(
  "postlane/application/mail/Traceparent",
  {
    defaultValue: () => undefined
  }
) {}
