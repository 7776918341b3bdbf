import { Clock, Context, Data, type Duration, Effect, Layer } from "effect"

import type { ListMark, ListedMail } from "../../domain/delivery/listed-mail.ts"
import {
  eventOf,
  historyBefore,
  isBackfill,
  isNews,
  MAX_PAGES,
  newestOf,
  reaches
} from "../../domain/delivery/poll-rules.ts"
import {
  PollLog,
  type PollPosition,
  ListFailure,
  type MailPage,
  SentMails
} from "../../ports/delivery/event-poll.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import { EventRecording } from "./event-recording.ts"

/** The counts of one run. */
interface PollCounts {
  readonly pages: number
  /** Mails that were read. */
  readonly seen: number
  /** Mails that were new to the log or had a new last event. */
  readonly recorded: number
  /** Recorded mails that are backfill: they never alert (EVENT-32). */
  readonly backfilled: number
  /** Alerts that went out. */
  readonly alerts: number
  /** Alerts that did not go out: their claims are released, and the next run tries again. */
  readonly alertsFailed: number
}

/**
 * The result of one run. `truncated`: it read its five pages, and more mails remain. The next run continues with those that
 * were sent since logging began; older ones are not read.
 */
export interface PollResult extends PollCounts {
  readonly truncated: boolean
}

/** The run failed. What it recorded stays recorded, and the next run begins where this one did. */
export class PollFailure extends Data.TaggedError("PollFailure")<{
  readonly cause: ListFailure | StoreUnavailable
  readonly counts: PollCounts
}> {}

/** The poll of `provider_a`'s list: finds events that no webhook delivered (EVENT-30). */
export class EventPoll extends Context.Service<
  EventPoll,
  {
    /** One run: 5 pages at most. Runs at the same time, here or elsewhere, record nothing twice. */
    readonly run: Effect.Effect<PollResult, PollFailure>
  }
>()("postlane/application/EventPoll") {}

/** Pause between two pages: the vendor's rate limit is shared with the sends, which come first. */
const PAUSE = "600 millis"
/** Time limit of one page. */
const ANSWER_WITHIN = "15 seconds"
/** Retries of a page … */
const RETRIES = 2
/** … after this wait, where the vendor names none, milliseconds … */
const RETRY_AFTER_MS = 1_000
/** … and none where the vendor names a longer wait than this. */
const MAX_RETRY_AFTER_MS = 20_000
/** Mails that are recorded at once. */
const AT_ONCE = 10

const retryDelay = ({ kind, retryAfterMs = RETRY_AFTER_MS }: ListFailure): number | undefined =>
  (kind === "throttled" || kind === "unavailable") && retryAfterMs <= MAX_RETRY_AFTER_MS
    ? retryAfterMs
    : undefined

const distinct = (mails: ReadonlyArray<ListedMail>): ReadonlyArray<ListedMail> => [
  ...new Map(mails.toReversed().map((mail) => [mail.id, mail])).values()
]

/** One run: its services, its counts, and where the history of the account begins. */
interface Run {
  readonly sent: SentMails["Service"]
  readonly log: PollLog["Service"]
  readonly recording: EventRecording["Service"]
  readonly pause: Duration.Input
  readonly counts: { -readonly [Count in keyof PollCounts]: PollCounts[Count] }
  /** By the log's oldest row before this run; known once a page is read. */
  history: ListMark | undefined
}

const ask = (
  sent: SentMails["Service"],
  after: string | undefined,
  retries: number
): Effect.Effect<MailPage, ListFailure> =>
  withDeadline(sent.page(after), {
    duration: ANSWER_WITHIN,
    onTimeout: () =>
      Effect.fail(new ListFailure({ kind: "unavailable", message: `no answer within ${ANSWER_WITHIN}` }))
  }).pipe(
    Effect.catch((failure) => {
      const delay = retries === 0 ? undefined : retryDelay(failure)
      return delay === undefined
        ? Effect.fail(failure)
        : Effect.andThen(Effect.sleep(delay), ask(sent, after, retries - 1))
    })
  )

/** Records what is news to the log. */
const record = Effect.fnUntraced(function* (
  { counts, recording }: Run,
  mails: ReadonlyArray<ListedMail>,
  found: Effect.Success<ReturnType<PollLog["Service"]["known"]>>,
  askedAt: number
) {
  yield* Effect.forEach(
    mails.filter((mail) => isNews(mail, found.mails.get(mail.id))),
    Effect.fnUntraced(function* (mail) {
      const known = found.mails.get(mail.id)
      const backfill = isBackfill(mail, { known, now: askedAt, oldest: found.oldest })
      const recorded = yield* recording.record(eventOf(mail, askedAt), { backfill, polled: true })
      counts.recorded += 1
      if (recorded.backfilled) counts.backfilled += 1
      if (recorded.alerted === "delivered") counts.alerts += 1
      if (recorded.alerted === "failed" || recorded.alerted === "unconfigured") counts.alertsFailed += 1
    }),
    { concurrency: AT_ONCE, discard: true }
  )
})

/** Reads one page and records what is news in it. */
const read = Effect.fnUntraced(function* (run: Run, after: string | undefined) {
  const { counts, log, pause, sent } = run
  if (counts.pages > 0) yield* Effect.sleep(pause)
  const askedAt = yield* Clock.currentTimeMillis
  const page = yield* ask(sent, after, RETRIES)
  const mails = distinct(page.mails)
  counts.pages += 1
  counts.seen += mails.length
  if (page.unreadable > 0) {
    yield* Effect.logWarning(`provider_a's list holds ${page.unreadable} items that cannot be read`)
  }
  if (mails.length === 0) return { ...page, askedAt, wasKnown: () => false }
  const found = yield* log.known(mails.map(({ id }) => id))
  run.history ??= { id: undefined, sentAt: historyBefore(askedAt, found.oldest) }
  yield* record(run, mails, found, askedAt)
  return { ...page, askedAt, wasKnown: (id: string) => found.mails.has(id) }
})

/** Reads on from a cursor until the mark or the end is reached, or no page is left; then `left` is its position. */
const descend = Effect.fnUntraced(function* (
  run: Run,
  from: string | undefined,
  until: ListMark | undefined
) {
  let cursor = from
  let newest: ListMark | undefined
  let isFirst = true
  let intoHistory = false
  while (run.counts.pages < MAX_PAGES) {
    const page = yield* read(run, cursor)
    if (isFirst) newest = newestOf(page.mails, page.askedAt)
    isFirst = false
    intoHistory ||= reaches(page.mails, run.history, page.wasKnown)
    cursor = page.next
    if (cursor === undefined || reaches(page.mails, until, page.wasKnown))
      return { newest, cursor, left: undefined, intoHistory }
  }
  return { newest, cursor, left: cursor, intoHistory }
})

/** As `descend`; undefined where the cursor's mail is no longer in the list. */
const descendFrom = (run: Run, cursor: string, until: ListMark | undefined) =>
  descend(run, cursor, until).pipe(
    Effect.catchTag("ListFailure", (failure) =>
      failure.kind === "cursor" ? Effect.succeed(undefined) : Effect.fail(failure)
    )
  )

/**
 * Continues an earlier gap with the pages that the newest mails left over, and returns what remains of it. `below`: where
 * the newest mails ended.
 */
const closeGap = Effect.fnUntraced(function* (
  run: Run,
  gap: PollPosition["gap"] & {},
  below: string | undefined
) {
  const until = gap.until ?? run.history
  if (run.counts.pages >= MAX_PAGES) return { after: gap.after, until }
  let end = yield* descendFrom(run, gap.after, until)
  if (end === undefined) {
    yield* Effect.logWarning(
      "the poll's position is gone from provider_a's list: it continues from the newest"
    )
    // The mails below the newest ones include all that is left of the gap.
    end = below === undefined ? undefined : yield* descend(run, below, until)
  }
  return end?.left === undefined ? undefined : { after: end.left, until }
})

/** One run, from the newest mails down; what it could not read is the gap that the next run begins with. */
const runOnce = Effect.fnUntraced(function* (run: Run) {
  const { position, version } = yield* run.log.position
  const head = yield* descend(run, undefined, position.newest)
  const isFirst = position.newest === undefined && position.gap === undefined
  let gap: PollPosition["gap"]
  if (head.left !== undefined && isFirst) {
    // The history of an account that is older than the log is not read.
    if (!head.intoHistory) gap = { after: head.left, until: run.history }
  } else if (head.left !== undefined) {
    // An earlier gap lies below the newest mails: everything down to its end is read again.
    const until = position.gap === undefined ? position.newest : position.gap.until
    gap = { after: head.left, until: until ?? run.history }
  } else if (position.gap !== undefined) {
    gap = yield* closeGap(run, position.gap, head.cursor)
  } else if (head.cursor !== undefined) {
    // Everything new is read: the remaining pages go to older mails, since their events may have changed.
    yield* descendFrom(run, head.cursor, undefined)
  }
  yield* run.log.savePosition({ newest: head.newest ?? position.newest, gap }, version)
  return { ...run.counts, truncated: gap !== undefined || head.left !== undefined }
})

/** The poll; `pause` is the time between two pages. */
export const layer = (
  options: { readonly pause?: Duration.Input } = {}
): Layer.Layer<EventPoll, never, SentMails | PollLog | EventRecording> =>
  Layer.effect(
    EventPoll,
    Effect.gen(function* () {
      const services = { sent: yield* SentMails, log: yield* PollLog, recording: yield* EventRecording }
      const { pause = PAUSE } = options
      return EventPoll.of({
        run: Effect.suspend(() => {
          const counts = { pages: 0, seen: 0, recorded: 0, backfilled: 0, alerts: 0, alertsFailed: 0 }
          const run: Run = { ...services, pause, counts, history: undefined }
          return Effect.mapError(runOnce(run), (cause) => new PollFailure({ cause, counts: { ...counts } }))
        })
      })
    })
  )
