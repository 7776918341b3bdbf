import { Effect, Duration } from "effect"

import type { CustomerId, MailId } from "../../domain/ids.ts"
import { creditsFor } from "../../domain/inbound/page-class.ts"
import type { ReplyContent } from "../../domain/inbound/reply-content.ts"
import { blocks, suppressedError } from "../../domain/mail/suppression/policy.ts"
import type { PipelineError } from "../../ports/inbound/convert-pipeline.ts"
import {
  type ClaimedMail,
  IntakeStore,
  type MailEnd,
  type Shortage
} from "../../ports/inbound/intake-store.ts"
import { ReplyChannel } from "../../ports/inbound/mails.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { IntakeConfig } from "./intake-config.ts"
import { countEnded } from "./metrics.ts"

/** Attempts at one step of a mail before it is given up: a mail must not crash its worker for ever. */
export const MAX_ATTEMPTS = 4

/** Whether the pipeline's failure ends the mail. An outage never does, however many attempts it costs. */
export const isFinal = (mail: ClaimedMail, reason: PipelineError["reason"]): boolean =>
  reason === "document" || (reason === "crashed" && mail.attempts >= MAX_ATTEMPTS)

/** Counts and logs how a mail ended. */
export const noteEnd = (
  mail: MailId,
  { outcome, reason }: Pick<MailEnd, "outcome" | "reason">
): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* countEnded(outcome)
    const line = `a mail ended: ${outcome} (${reason})`
    yield* outcome === "error" ? Effect.logWarning(line) : Effect.logInfo(line)
  }).pipe(Effect.annotateLogs({ mail, outcome }))

/** Records how a mail ended, and logs it; does nothing where the lease was lost. */
export const endMail = (
  mail: ClaimedMail,
  end: MailEnd
): Effect.Effect<void, StoreUnavailable, IntakeStore> =>
  Effect.gen(function* () {
    const store = yield* IntakeStore
    if (yield* store.end(mail, end)) yield* noteEnd(mail.id, end)
  })

/** The customer that the mail is from, and the file that it is about. */
export interface About {
  readonly customerId: CustomerId
  readonly recipient: string
  readonly filename: string
  readonly fileBytes: number
}

/**
 * Ends a customer's mail when no reply can reach them, so that no unread result is made. True when it ended. The workspace mail
 * API has no suppressions.
 */
export const endIfUnreachable = Effect.fnUntraced(function* (
  mail: ClaimedMail,
  about: About,
  options: { readonly begun: boolean }
) {
  const store = yield* IntakeStore
  const channel = yield* ReplyChannel
  if (channel.name !== "library") return false
  const found = yield* store.suppressions(about.recipient)
  const reasons = found.filter((reason) => blocks("transactional", reason))
  if (reasons.length === 0) return false
  const reason = suppressedError(reasons)
  yield* endMail(mail, {
    outcome: "suppressed",
    reason,
    customerId: about.customerId,
    filename: about.filename,
    fileBytes: about.fileBytes,
    jobError: options.begun ? reason : undefined
  })
  return true
})

/** Ends a mail after its conversion failed: an error reply, a row in `conversion_jobs`, no charge. */
export const endInError = (mail: ClaimedMail, about: About, reason: string) =>
  endMail(mail, {
    outcome: "error",
    reason,
    customerId: about.customerId,
    filename: about.filename,
    fileBytes: about.fileBytes,
    jobError: reason,
    reply: {
      recipient: about.recipient,
      content: { kind: "error", fileName: about.filename, reason }
    }
  })

/** Ends a mail that its sender cannot pay for: the reply has the balance, and where to buy more. */
export const endInsufficient = Effect.fnUntraced(function* (
  mail: ClaimedMail,
  about: About,
  pages: number,
  { balance, plan }: Shortage
) {
  const { buyUrl } = yield* IntakeConfig
  const needed = creditsFor({ standard: pages, complex: 0 })
  const content: ReplyContent = {
    kind: "insufficient-credits",
    fileName: about.filename,
    needed,
    balance: Math.max(0, balance),
    plan,
    buyUrl
  }
  yield* endMail(mail, {
    outcome: "insufficient",
    reason: `${needed} credits needed, ${balance} there`,
    customerId: about.customerId,
    filename: about.filename,
    fileBytes: about.fileBytes,
    reply: { recipient: about.recipient, content }
  })
})

/** Delay before what failed through no fault of a mail or reply is tried again; doubled each time … */
const RETRY_FIRST = Duration.seconds(10)
/** … up to this, so that work resumes soon after an outage. */
const RETRY_MOST = Duration.minutes(15)

/** The delay after this many failures in a row. */
export const retryAfter = (failures: number): Duration.Duration =>
  Duration.min(Duration.times(RETRY_FIRST, 2 ** Math.min(Math.max(failures, 1) - 1, 20)), RETRY_MOST)

/** How long a failing part is waited for (INBOUND-12): the library remembers a key for an hour longer. */
export const OUTLASTED = Duration.hours(23)

/** Failures further apart count as two outages, since no check ran in between. */
export const OUTAGE_GAP = Duration.hours(2)

/** How long a mail's funds stay on hold: longer than any outage that it survives. */
export const MAIL_HOLD_WINDOW = Duration.hours(26)
