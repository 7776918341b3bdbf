import { Context, Data, type Effect } from "effect"

import type { ReturnedMail } from "../../domain/delivery/returned/report.ts"

/** The mail was not read. `unavailable`: the machine is at fault, and the same mail may be read later. */
export class ReturnUnread extends Data.TaggedError("ReturnUnread")<{
  readonly reason: "unreadable" | "unavailable"
  readonly message: string
}> {}

/** Reads mails to the bounce address, where no mail can hold up the process (H1). */
export class ReturnReader extends Context.Service<
  ReturnReader,
  { readonly read: (raw: Uint8Array) => Effect.Effect<ReturnedMail, ReturnUnread> }
>()("postlane/ports/ReturnReader") {}
