import { Context, Data } from "effect"
import type { Effect } from "effect"

import type { SendRequest } from "../domain/mail/message.ts"

/** The relay did not send. */
export class RelayFailed extends Data.TaggedError("RelayFailed")<{
  /** In words, without a secret. */
  readonly message: string
  /** True where the answer proves that this call sent nothing; false where it may have. */
  readonly certain: boolean
}> {}

/** `POST /internal/send-email`, from wherever the caller runs (document 1, "What the service does", 5). */
export class SendRelay extends Context.Service<
  SendRelay,
  {
    /** False where `INTERNAL_SEND_EMAIL_URL` is unset. */
    readonly configured: boolean
    /** Sends through the library; `suppressed` is the relay's 422. */
    readonly send: (request: SendRequest) => Effect.Effect<"sent" | "suppressed", RelayFailed>
  }
>()("postlane/ports/SendRelay") {}
