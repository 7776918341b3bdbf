import { Clock, Context, Data, type Duration, Effect, Layer } from "effect"

import {
  type ListMark,
  PollLog,
  type PollPosition,
  type ListedMail,
  ListFailure,
  type MailPage,
  SentMails
} from "../../ports/delivery/event-poll.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import { EventRecording } from "./event-recording.ts"
import { eventOf, historyBefore, isBackfill, isNews, MAX_PAGES, newestOf, reaches } from "./poll-rules.ts"

/** The counts of one run. */
interface PollCounts {
  readonly pages: number
  /** Mails that were read. */
  readonly seen: number
  /** Mails that were new to the log, or whose last event changed. */
  readonly recorded: number
  /** Those of them that are backfill: they never alert (EVENT-32). */
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
>()("postlane/domain/EventPoll") {}

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

const make = Effect.fnUntraced(function* (pause: Duration.Input) {
  const sent = yield* SentMails
  const log = yield* PollLog
  const recording = yield* EventRecording

  const ask = (after: string | undefined, retries: number): Effect.Effect<MailPage, ListFailure> =>
    withDeadline(sent.page(after), {
      duration: ANSWER_WITHIN,
      onTimeout: () =>
        Effect.fail(new ListFailure({ kind: "unavailable", message: `no answer within ${ANSWER_WITHIN}` }))
    }).pipe(
      Effect.catch((failure) => {
        const delay = retries === 0 ? undefined : retryDelay(failure)
        return delay === undefined
          ? Effect.fail(failure)
          : Effect.andThen(Effect.sleep(delay), ask(after, retries - 1))
      })
    )

  /** The state of one run: its counts and the pages that it may still read. */
  const makeRun = () => {
    const counts = { pages: 0, seen: 0, recorded: 0, backfilled: 0, alerts: 0, alertsFailed: 0 }

    let history: ListMark | undefined

    /** Records what is news, and returns which of the mails the log knew before. */
    const record = Effect.fnUntraced(function* (mails: ReadonlyArray<ListedMail>, askedAt: number) {
      if (mails.length === 0) return () => false
      const found = yield* log.known(mails.map(({ id }) => id))
      history ??= { id: undefined, sentAt: historyBefore(askedAt, found.oldest) }
      yield* Effect.forEach(
        mails.filter((mail) => isNews(mail, found.mails.get(mail.id))),
        Effect.fnUntraced(function* (mail) {
          const known = found.mails.get(mail.id)
          const backfill = isBackfill(mail, { known, now: askedAt, oldest: found.oldest })
          const { alerted, backfilled } = yield* recording.record(eventOf(mail, askedAt), {
            backfill,
            polled: true
          })
          counts.recorded += 1
          if (backfilled) counts.backfilled += 1
          if (alerted === "delivered") counts.alerts += 1
          if (alerted === "failed" || alerted === "unconfigured") counts.alertsFailed += 1
        }),
        { concurrency: AT_ONCE, discard: true }
      )
      return (id: string) => found.mails.has(id)
    })

    const read = Effect.fnUntraced(function* (after: string | undefined) {
      if (counts.pages > 0) yield* Effect.sleep(pause)
      const askedAt = yield* Clock.currentTimeMillis
      const page = yield* ask(after, RETRIES)
      const mails = distinct(page.mails)
      counts.pages += 1
      counts.seen += mails.length
      if (page.unreadable > 0) {
        yield* Effect.logWarning(`provider_a's list holds ${page.unreadable} items that cannot be read`)
      }
      const wasKnown = yield* record(mails, askedAt)
      return { ...page, askedAt, wasKnown }
    })

    /** Reads on from a cursor until the mark or the end is reached, or no page is left; then `left` is its position. */
    const descend = Effect.fnUntraced(function* (from: string | undefined, until: ListMark | undefined) {
      let cursor = from
      let newest: ListMark | undefined
      let isFirst = true
      let intoHistory = false
      while (counts.pages < MAX_PAGES) {
        const page = yield* read(cursor)
        if (isFirst) newest = newestOf(page.mails, page.askedAt)
        isFirst = false
        intoHistory ||= reaches(page.mails, history, page.wasKnown)
        cursor = page.next
        if (cursor === undefined || reaches(page.mails, until, page.wasKnown))
          return { newest, cursor, left: undefined, intoHistory }
      }
      return { newest, cursor, left: cursor, intoHistory }
    })

    /** The start of the account's history, by the log's oldest row before this run. */
    return { counts, descend, historyMark: () => history }
  }

  type Run = ReturnType<typeof makeRun>

  /** As `descend`; undefined where the cursor's mail is no longer in the list. */
  const descendFrom = (run: Run, cursor: string, until: ListMark | undefined) =>
    run
      .descend(cursor, until)
      .pipe(
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
    const until = gap.until ?? run.historyMark()
    if (run.counts.pages >= MAX_PAGES) return { after: gap.after, until }
    let end = yield* descendFrom(run, gap.after, until)
    if (end === undefined) {
      yield* Effect.logWarning(
        "the poll's position is gone from provider_a's list: it goes on from the newest"
      )
      // The mails below the newest ones include all that is left of the gap.
      end = below === undefined ? undefined : yield* run.descend(below, until)
    }
    return end?.left === undefined ? undefined : { after: end.left, until }
  })

  const runOnce = Effect.fnUntraced(function* (run: Run) {
    const { position, version } = yield* log.position
    const head = yield* run.descend(undefined, position.newest)
    const isFirst = position.newest === undefined && position.gap === undefined
    let gap: PollPosition["gap"]
    if (head.left !== undefined && isFirst) {
      // The history of an account that is older than the log is not read.
      if (!head.intoHistory) gap = { after: head.left, until: run.historyMark() }
    } else if (head.left !== undefined) {
      // An earlier gap lies below the newest mails: everything down to its end is read again.
      const until = position.gap === undefined ? position.newest : position.gap.until
      gap = { after: head.left, until: until ?? run.historyMark() }
    } else if (position.gap !== undefined) {
      gap = yield* closeGap(run, position.gap, head.cursor)
    } else if (head.cursor !== undefined) {
      // Everything new is read: the pages that are left go to older mails, whose events may have changed.
      yield* descendFrom(run, head.cursor, undefined)
    }
    yield* log.savePosition({ newest: head.newest ?? position.newest, gap }, version)
    return { ...run.counts, truncated: gap !== undefined || head.left !== undefined }
  })

  return EventPoll.of({
    run: Effect.suspend(() => {
      const run = makeRun()
      return Effect.mapError(runOnce(run), (cause) => new PollFailure({ cause, counts: { ...run.counts } }))
    })
  })
})

/** The poll; `pause` is the time between two pages. */
export const layer = (
  options: { readonly pause?: Duration.Input } = {}
): Layer.Layer<EventPoll, never, SentMails | PollLog | EventRecording> =>
  Layer.effect(EventPoll, make(options.pause ?? PAUSE))
