import { Clock, Effect, Metric } from "effect"

import type { MailId } from "../../domain/ids.ts"
import { MailOutcome } from "../../domain/inbound/mail-outcome.ts"
import { ReplyContent } from "../../domain/inbound/reply-content.ts"
import { counter, increment, perLabel } from "../counters.ts"
import { madeAt } from "../orphans.ts"

/**
 * Why a mail, a recipient or a client was refused; `cut`: the client disconnected in the middle of a mail, `connections`: there
 * were too many clients already, `peer`: the client is not a trusted mail server, `sender`: its name or address could be read as
 * part of a header, `limits`: the mail has too many lines, parts or fields.
 */
const REFUSALS = [
  "peer",
  "sender",
  "recipient",
  "size",
  "limits",
  "rate",
  "cut",
  "unavailable",
  "connections"
] as const
export type Refusal = (typeof REFUSALS)[number]

const REPLY_KINDS = ReplyContent.members.map(({ fields }) => fields.kind.literal)

/** What is being done with a mail, one step at a time. */
const STEPS = ["receiving", "reading", "converting", "replying"] as const
type Step = (typeof STEPS)[number]

/** How one attempt at a reply ended; `retried`: it is tried again later. */
const REPLY_RESULTS = ["sent", "failed", "retried"] as const
type ReplyResult = (typeof REPLY_RESULTS)[number]

/** Upper bounds of the buckets of the time to a reply, in seconds. */
const REPLY_SECONDS = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600]

const received = counter("postlane_intake_mails_received_total", "Mails that were taken in.")
const refusals = perLabel(REFUSALS, (reason) =>
  counter("postlane_intake_refusals_total", "Refusals over SMTP by their reason.", { reason })
)
const ends = perLabel(MailOutcome.literals, (outcome) =>
  counter("postlane_intake_mails_ended_total", "Mails by how they ended.", { outcome })
)
const replies = perLabel(REPLY_KINDS, (kind) =>
  perLabel(REPLY_RESULTS, (result) =>
    counter("postlane_intake_replies_total", "Attempts at replies by their kind and result.", {
      kind,
      result
    })
  )
)

/** Counts a mail that is stored and has its row. */
export const countReceived: Effect.Effect<void> = increment(received)

/** Counts a mail, a recipient of one or a client that was refused over SMTP. */
export const countRefused = (reason: Refusal): Effect.Effect<void> => increment(refusals[reason])

/** Counts a mail by how it ended. */
export const countEnded = (outcome: MailOutcome): Effect.Effect<void> => increment(ends[outcome])

/** Counts an attempt at a reply. */
export const countReply = (kind: ReplyContent["kind"], result: ReplyResult): Effect.Effect<void> =>
  increment(replies[kind][result])

const secondsToReply = Metric.histogram("postlane_intake_reply_seconds", {
  description: "Time from a mail's arrival to its answer, acknowledgements left out, in seconds.",
  boundaries: REPLY_SECONDS
})

/** Records the time to a reply. The mail's id holds when it arrived, perhaps by another machine's clock. */
export const timeReply = (mailId: MailId): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Metric.update(secondsToReply, Math.max(0, now - madeAt(mailId)) / 1000)
  )

const stepsUnderWay = perLabel(STEPS, (step) =>
  Metric.gauge("postlane_intake_under_way", {
    description: "Mails that this process works on, by step.",
    attributes: { step }
  })
)

/** Counts a mail's step while it runs in this process. */
export const underWay = <A, E, R>(step: Step, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Metric.modify(stepsUnderWay[step], 1),
    () => work,
    () => Metric.modify(stepsUnderWay[step], -1)
  )

/** Metrics of convert-by-email, for {@link showFromStart}. */
export const intakeMetrics = [
  received,
  ...Object.values(refusals),
  ...Object.values(ends),
  ...Object.values(replies).flatMap((byResult) => Object.values(byResult)),
  secondsToReply,
  ...Object.values(stepsUnderWay)
]
