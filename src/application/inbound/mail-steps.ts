import { Cause, Duration, Effect, Option, Schedule } from "effect"

import { CHUNK_PAGES } from "../../domain/conversion/job.ts"
import type { PipelineError } from "../../ports/inbound/convert-pipeline.ts"
import { type ClaimedMail, type FailingPart, IntakeStore } from "../../ports/inbound/intake-store.ts"
import type { MailReaderUnavailable } from "../../ports/inbound/mail-reader-unavailable.ts"
import { ReplyChannel } from "../../ports/inbound/mails.ts"
import type { ObjectStoreError } from "../../ports/object-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { doNext, staleAfter, underLease } from "../leased-work.ts"
import { abandonMail, admitMail } from "./admission.ts"
import { abandonConversion, convertMail } from "./converting.ts"
import { MAIL_HOLD_WINDOW, OUTAGE_GAP, OUTLASTED, retryAfter } from "./ending.ts"
import { IntakeConfig } from "./intake-config.ts"
import { homeOrNone } from "./mail-home.ts"
import { underWay } from "./metrics.ts"
import { replyHold, sendReply } from "./replying.ts"
import type { ResultLinks } from "./result-link.ts"

/** Delay before a crashed step is tried again; three times as long each further time. */
const CRASH_RETRY_FIRST = Duration.seconds(5)

/** How often postponing a mail is tried while the database does not answer. */
const UNTIL_ANSWERED = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("15 seconds")])

const PART_NAMES: Readonly<Record<FailingPart, string>> = {
  database: "database",
  objects: "object store",
  pipeline: "conversion service",
  reader: "reader of mails"
}

type StepFailure = StoreUnavailable | ObjectStoreError | PipelineError | MailReaderUnavailable

const partOf = (failure: StepFailure): FailingPart => {
  switch (failure._tag) {
    case "StoreUnavailable":
      return "database"
    case "ObjectStoreError":
      return "objects"
    case "PipelineError":
      return "pipeline"
    case "MailReaderUnavailable":
      return "reader"
  }
}

/**
 * The part that failed; undefined where the mail itself crashed its worker, or is refused by the database: that counts as one of its
 * few attempts, since it does not go away by itself.
 */
const failedPart = (cause: Cause.Cause<StepFailure>): FailingPart | undefined =>
  Option.match(Cause.findErrorOption(cause), {
    onNone: () => undefined,
    onSome: (failure) =>
      (failure._tag === "PipelineError" && failure.reason === "crashed") ||
      (failure._tag === "StoreUnavailable" && failure.isAboutData === true)
        ? undefined
        : partOf(failure)
  })

/** The work on a mail under its lease, and how the mail ends where that was not possible for too long. */
interface Step<R> {
  readonly step: (mail: ClaimedMail) => Effect.Effect<void, StepFailure, R>
  readonly abandon: (mail: ClaimedMail, reason: string) => Effect.Effect<void, StepFailure, R>
}

/** Runs a step of a mail under its lease. On failure the mail is released and tried again later, or given up. */
const runStep = Effect.fnUntraced(function* <R>(mail: ClaimedMail, { abandon, step }: Step<R>) {
  const store = yield* IntakeStore
  const config = yield* IntakeConfig
  const context = yield* Effect.context<R>()
  const release = (after: Duration.Duration, counts: boolean) => store.handBack(mail, { after, counts })

  const held = (
    name: string,
    work: Effect.Effect<void, StepFailure, R>,
    fail: (cause: Cause.Cause<StepFailure>) => Effect.Effect<unknown, StoreUnavailable>,
    lost: () => Effect.Effect<unknown, StoreUnavailable>
  ) =>
    underLease(
      Effect.sandbox(Effect.as(work, "done")),
      {
        name,
        heartbeat: () => store.heartbeat(mail, MAIL_HOLD_WINDOW),
        release: () => release(Duration.zero, false),
        complete: () => Effect.void,
        fail,
        lost
      },
      config.heartbeat
    ).pipe(Effect.provideContext(context))

  /** Releases the mail without counting an attempt, as soon as the database accepts that; gives it up after 23 hours. */
  const postpone = Effect.fnUntraced(function* (part: FailingPart) {
    const times = { after: retryAfter(mail.failures + 1), gap: OUTAGE_GAP, limit: OUTLASTED }
    const answer = yield* store.defer(mail, { ...times, part, window: MAIL_HOLD_WINDOW }).pipe(
      Effect.tapError((error) =>
        Effect.logWarning("a mail cannot be released yet: tried until the database answers", error)
      ),
      Effect.retry(UNTIL_ANSWERED)
    )
    if (answer !== "over") return
    yield* held(
      "giving up a mail",
      abandon(mail, `the ${PART_NAMES[part]} did not answer for 23 hours`),
      () => release(retryAfter(mail.failures), false),
      () => Effect.void
    )
  })

  yield* held(
    "a step of a mail",
    step(mail),
    (cause) => {
      const part = failedPart(cause)
      return part === undefined
        ? release(Duration.times(CRASH_RETRY_FIRST, 3 ** (mail.attempts - 1)), true)
        : postpone(part)
    },
    // The database did not answer, or this process stood still.
    () => postpone("database")
  )
})

const nextMail = <R>(
  at: "received" | "converting",
  steps: Step<R>,
  only?: Parameters<IntakeStore["Service"]["claim"]>[4]
) =>
  doNext(
    "mails",
    Effect.fnUntraced(function* (lease) {
      const store = yield* IntakeStore
      const { heartbeat } = yield* IntakeConfig
      const home = yield* homeOrNone
      return home === undefined ? undefined : yield* store.claim(at, lease, staleAfter(heartbeat), home, only)
    }),
    (mail) =>
      underWay(at === "received" ? "reading" : at, runStep(mail, steps)).pipe(
        Effect.annotateLogs({ mail: mail.id })
      )
  )

/** Reads the mail that has waited longest, and answers it or queues its conversion. False when no mail waits. */
export const admitNext = nextMail("received", { step: admitMail, abandon: abandonMail })

const converting = { step: convertMail, abandon: abandonConversion }

/** Converts the longest-waiting mail of the customer that is next in turn. False when no mail waits. */
export const convertNext = nextMail("converting", converting)

/** Converts only mails with a document of at most one chunk, so that they do not wait behind long ones. */
export const convertNextShort = nextMail("converting", converting, { mostPages: CHUNK_PAGES })

/** The same of customers of whom no mail is being converted, so that none of them waits for the end of others' long ones. */
export const convertNextOfIdle = nextMail("converting", converting, { ofIdle: true })

/** Sends the reply that has waited longest. False when no reply waits. */
export const replyNext = (links: ResultLinks) =>
  doNext(
    "mails",
    Effect.fnUntraced(function* (lease) {
      const store = yield* IntakeStore
      const home = yield* homeOrNone
      return home === undefined
        ? undefined
        : yield* store.claimReply(lease, replyHold(yield* ReplyChannel), home)
    }),
    (reply) => underWay("replying", sendReply(reply, links))
  )
