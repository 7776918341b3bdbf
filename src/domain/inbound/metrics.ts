import { Clock, Effect, Metric } from "effect"

import type { MailId } from "../ids.ts"
import { madeAt } from "../orphans.ts"
import type { MailOutcome } from "./intake-config.ts"
import type { ReplyContent } from "./reply-content.ts"

/**
 * Why a mail, a recipient or a client was refused; `cut`: the client disconnected in the middle of a mail, `connections`: there
 * were too many clients already, `peer`: the client is not a trusted mail server, `sender`: its name or address could be read as
 * part of a header, `limits`: the mail has too many lines, parts or fields.
 */
export type Refusal =
  | "peer"
  | "sender"
  | "recipient"
  | "size"
  | "limits"
  | "rate"
  | "cut"
  | "unavailable"
  | "connections"

/** What is being done with a mail, one step at a time. */
type Step = "receiving" | "reading" | "converting" | "replying"

/** How one attempt at a reply ended; `retried`: it is tried again later. */
type ReplyResult = "sent" | "failed" | "retried"

/** Upper bounds of the buckets of the time to a reply, in seconds. */
const REPLY_SECONDS = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600]

const count = (name: string, description: string, attributes?: Readonly<Record<string, string>>) =>
  Metric.update(Metric.counter(name, { description, incremental: true, attributes }), 1)

/** Counts a mail that is stored and has its row. */
export const countReceived: Effect.Effect<void> = count(
  "postlane_intake_mails_received_total",
  "Mails that were taken in."
)

/** Counts a mail, a recipient of one or a client that was refused over SMTP. */
export const countRefused = (reason: Refusal): Effect.Effect<void> =>
  count("postlane_intake_refusals_total", "Refusals over SMTP by their reason.", { reason })

/** Counts a mail by how it ended. */
export const countEnded = (outcome: MailOutcome): Effect.Effect<void> =>
  count("postlane_intake_mails_ended_total", "Mails by how they ended.", { outcome })

/** Counts an attempt at a reply. */
export const countReply = (kind: ReplyContent["kind"], result: ReplyResult): Effect.Effect<void> =>
  count("postlane_intake_replies_total", "Attempts at replies by their kind and result.", { kind, result })

const secondsToReply = Metric.histogram("postlane_intake_reply_seconds", {
  description: "Time from a mail's arrival to its answer, acknowledgements left out, in seconds.",
  boundaries: REPLY_SECONDS
})

/** Records the time to a reply. The mail's id holds when it arrived, perhaps by another machine's clock. */
export const timeReply = (mailId: MailId): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Metric.update(secondsToReply, Math.max(0, now - madeAt(mailId)) / 1000)
  )

/** Counts a mail's step while it runs in this process. */
export const underWay = <A, E, R>(step: Step, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const gauge = Metric.gauge("postlane_intake_under_way", {
    description: "Mails that this process works on, by step.",
    attributes: { step }
  })
  return Effect.acquireUseRelease(
    Metric.modify(gauge, 1),
    () => work,
    () => Metric.modify(gauge, -1)
  )
}
