import { Effect } from "effect"

import { IdempotencyKey, LogRowId } from "../../domain/ids.ts"
import { type DeferredSend, deferredJson, type ProviderRequest } from "../../domain/mail/deferred-send.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import { mayGoBack, refusedWaitMs } from "../../domain/mail/queue.ts"
import { type Accepted, type MailProvider, ProviderFailure } from "../../ports/mail/mail-provider.ts"
import type { RecordedSend, RecordSend } from "../../ports/mail/mail-store.ts"
import type { QueueMove, SendQueue, TakenMail } from "../../ports/mail/send-queue.ts"
import { countSend } from "../mail/metrics.ts"
import { bounded } from "../mail/retry-store.ts"
import type { SendParts, Terms } from "../mail/sending.ts"
import type { Places } from "./places.ts"
import { paceOf, type QueueConfig } from "./queue-config.ts"

/** A lease that is not prolonged for so long counts as a dead sender's: its work is taken up again within 15 s, milliseconds. */
export const QUEUE_LEASE_MS = 12_000

/** How much of the lease an attempt needs when it begins: it is prolonged while the sender lives, milliseconds. */
const NEEDED_MS = 3_000

/** Waits of a request while another call holds its key: with an attempt under way, or with a deferral, milliseconds. */
export const BUSY_MS = 2_000
export const DEFERRED_ELSEWHERE_MS = 30_000

/** A provider cannot be asked for longer than its keys live, milliseconds. */
const WINDOW_MS = 24 * 3_600_000

/** How long after its time a token is good, milliseconds. */
export const TOKEN_MS = 250

/** The queue's own answer to an attempt, in place of a provider's. */
export type QueueRefusal = Pick<ProviderFailure, "kind" | "message">

const TURN_PASSED: QueueRefusal = {
  kind: "unavailable",
  message: "the database or the provider was slow, and its turn at the provider has passed: it was not asked"
}

/** A request that its sender works on. */
export interface QueuedWork {
  readonly mail: TakenMail
  /** By the monotonic clock, milliseconds. */
  readonly takenAt: number
  /** Until when its token is good. */
  goodUntil: number
  /** When its lease was last prolonged. */
  renewedAt: number
  /** The retry that follows, and how long it waits, seconds. */
  next: { readonly message: DeferredSend; readonly delaySeconds: number } | undefined
  /** What the last provider asked for when it refused. */
  retryAfterMs: number | undefined
  /** Refusals in a row, with those of this attempt. */
  refusals: number
  /** The database has said what it knows of the key. */
  isHeard: boolean
  /** What has to be written yet. */
  unwritten: QueueMove | undefined
  /** Something was written. */
  isMoved: boolean
  /** The queue itself answered in place of a provider: that is no reason to ask another one. */
  isUnasked: boolean
  /** A provider was asked. */
  isAsked: boolean
}

/** What moves and attempts of queued requests go by. */
export interface QueueParts {
  readonly parts: SendParts
  readonly queue: SendQueue["Service"]
  readonly config: QueueConfig["Service"]
  readonly places: Places
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
  /** A request's next state is being written: no provider is asked any more. */
  readonly onAnswered: Effect.Effect<void>
}

/** What the waits of refused requests go by. */
type Pacing = Pick<QueueParts, "config" | "now" | "random">

/** Since it was due and looked at first, milliseconds. */
const ageOf = ({ mail, takenAt }: QueuedWork, now: number): number => mail.ageMs + now - takenAt

/** Until the mail is worthless, milliseconds. */
export const expiresInMs = ({ mail, takenAt }: QueuedWork, now: number): number | undefined =>
  mail.expiresInMs === undefined ? undefined : mail.expiresInMs - (now - takenAt)

/** How long the request waits that was refused now; undefined where its time is over. */
const waitMs = (
  { config, now, random }: Pacing,
  work: QueuedWork,
  ages: { readonly ageMs: number; readonly maxAgeMs: number } = {
    ageMs: ageOf(work, now()),
    // A request never ends unasked: while all its turns have passed, its age does not count.
    maxAgeMs: work.refusals === 0 ? Number.POSITIVE_INFINITY : config.maxAgeMs
  }
): number | undefined =>
  refusedWaitMs({
    ...ages,
    refusals: work.refusals,
    expiresInMs: expiresInMs(work, now()),
    retryAfterMs: work.retryAfterMs,
    random: random()
  })

/** Where its turn had passed nobody was asked: that is no refusal, and the next wait is no longer than the last one. */
const countRefusal = (work: QueuedWork): void => {
  if (work.isAsked) work.refusals += 1
}

/** A move without a row in the log. */
export const moveTo = (
  { mail, refusals }: QueuedWork,
  state: QueueMove["state"],
  more: Partial<QueueMove> = {}
): QueueMove => ({
  id: mail.id,
  lease: mail.lease,
  state,
  tried: mail.tried,
  refusals,
  error: null,
  result: null,
  frees: false,
  record: undefined,
  writesRow: false,
  ...(mail.deferral === undefined ? {} : { deferral: mail.deferral }),
  ...more
})

/** The request waits until its key is free, or has an end: no attempt. */
export const waitForKey = (work: QueuedWork, dueMs = BUSY_MS): QueueMove =>
  moveTo(work, work.mail.deferral === undefined ? "queued" : "deferred", { dueMs })

/** How the row of a send moves its request: a proven refusal goes back, an ambiguous attempt waits in its own request, the rest ends. */
export const moveOf = (queue: Pacing, work: QueuedWork, row: RecordSend): QueueMove => {
  const { mail, next } = work
  const tried = [...mail.tried, ...row.attempts]
  const { error, settle } = row
  const isFree = settle?.state === "refused"
  if (row.outcome === "deferred") {
    if (next === undefined) return waitForKey(work, DEFERRED_ELSEWHERE_MS)
    return moveTo(work, "deferred", {
      dueMs: next.delaySeconds * 1000,
      provider: next.message.request.provider,
      deferral: deferredJson(next.message),
      tried,
      error: error ?? row.attempts.at(-1)?.reason ?? null,
      record: row
    })
  }
  if (row.outcome === "failed" && row.waitsForKey === true) return { ...waitForKey(work), tried, error }
  if (mayGoBack(row.outcome, row.errorKind, isFree)) {
    countRefusal(work)
    const dueMs = waitMs(queue, work)
    if (dueMs !== undefined) return moveTo(work, "queued", { dueMs, tried, error, record: row })
  }
  return moveTo(work, row.outcome, {
    tried,
    error,
    result: settle?.result ?? null,
    frees: isFree,
    record: { ...row, rowId: LogRowId.make(mail.id), attempts: tried },
    writesRow: true
  })
}

/** The row as it was asked for. */
const asAsked = ({ outcome, providerMessageId, rowId }: RecordSend): RecordedSend => ({
  sendId: rowId,
  status: outcome,
  providerMessageId
})

const reportFailed = (about: Readonly<Record<string, unknown>>): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWarning("a queued mail ended failed"), about)

const ended = ({ details, error, errorKind, outcome, provider }: RecordSend): Effect.Effect<void> =>
  Effect.andThen(
    countSend(provider, outcome, details.category),
    outcome === "failed" ? reportFailed({ error, kind: errorKind, source: details.source }) : Effect.void
  )

/**
 * Writes a move, in the time that the caller gives it; what is not written stays in `unwritten`. Where somebody else has the request by now, an
 * acceptance that this sender learned of is evidence, also when it is written late (S4).
 */
export const write = (
  { onAnswered, parts, queue }: QueueParts,
  work: QueuedWork,
  move: QueueMove
): ReturnType<SendQueue["Service"]["move"]> => {
  const { isUnasked, record, writesRow } = move
  work.unwritten = move
  return Effect.andThen(onAnswered, queue.move(move)).pipe(
    Effect.tap((moved) => {
      if (moved === undefined) return Effect.void
      if (isUnasked === true) return reportFailed({ error: move.error })
      return writesRow && record !== undefined ? ended(record) : Effect.void
    }),
    Effect.flatMap((moved) =>
      moved === undefined && record?.outcome === "sent" ? parts.store.record(record) : Effect.succeed(moved)
    ),
    Effect.map((moved) => {
      work.unwritten = undefined
      work.isMoved = true
      return moved
    })
  )
}

/** Whether a token was had for a request to this provider now. */
const tokenFor = (queue: QueueParts, work: QueuedWork, provider: Provider): Effect.Effect<boolean> => {
  const pace = paceOf(queue.config.paces, provider)
  if (pace.rate === 0) return Effect.succeed(true)
  return Effect.tap(
    Effect.orElseSucceed(bounded(queue.parts, "token", queue.queue.token(pace)), () => false),
    () => Effect.sync(() => void (work.goodUntil = queue.now() + TOKEN_MS))
  )
}

/** Whether the provider may be asked now: by the token that came with the request, or where the process or the database was slow since, by another one. */
export const hasTurn = (queue: QueueParts, work: QueuedWork, provider: Provider): Effect.Effect<boolean> =>
  Effect.suspend(() =>
    queue.now() <= work.goodUntil ? Effect.succeed(true) : tokenFor(queue, work, provider)
  )

/** The claim is as long as the request's lease; a fail-over takes a token. */
const termsOf = (queue: QueueParts, work: QueuedWork): Terms => ({
  leaseMs: QUEUE_LEASE_MS,
  neededMs: NEEDED_MS,
  get renewedAt() {
    return work.renewedAt
  },
  mayFailOver: (provider) => (work.isUnasked ? Effect.succeed(false) : tokenFor(queue, work, provider)),
  refusedWait: (failure, sinceFirstMs) => {
    countRefusal(work)
    work.retryAfterMs = failure.pace?.retryAfterMs
    const wait = waitMs(queue, work, { ageMs: sinceFirstMs, maxAgeMs: WINDOW_MS })
    return wait === undefined ? undefined : wait / 1000
  }
})

/** One attempt, in its place at the provider, which it has waited for since then. */
const attemptInPlace = Effect.fnUntraced(function* (
  queue: QueueParts,
  work: QueuedWork,
  {
    adapter,
    refusal,
    request,
    since
  }: {
    readonly adapter: MailProvider
    readonly request: ProviderRequest
    readonly refusal: QueueRefusal | undefined
    readonly since: number
  }
): Effect.fn.Return<Accepted, ProviderFailure> {
  const { provider } = request
  // What was looked up before, and the hold on the key, are good for so long.
  const isNow = queue.now() - since <= NEEDED_MS / 2 && (yield* hasTurn(queue, work, provider))
  const why = refusal ?? (isNow ? undefined : TURN_PASSED)
  work.isUnasked = why !== undefined
  if (why !== undefined) return yield* new ProviderFailure({ provider, ...why })
  work.isAsked = true
  const askedAt = queue.now()
  const accepted = yield* Effect.tapError(queue.parts.runner.attempt(adapter, request), ({ pace }) =>
    Effect.sync(() => void (work.retryAfterMs = pace?.retryAfterMs))
  )
  const now = queue.now()
  queue.places.noteAccepted(now, now - askedAt)
  return accepted
})

/**
 * The parts of a send of the queue. Its deferral stays in its request, a refusal puts it back, its row of the log is written
 * with its end; each in one transaction that sees that the request is still this sender's.
 */
export const partsOf = (
  queue: QueueParts,
  work: QueuedWork,
  refusal: QueueRefusal | undefined
): SendParts => {
  const { parts } = queue
  const { mail } = work
  const held = { id: mail.id, lease: mail.lease }
  return {
    ...parts,
    // The owner of a retry's claim: its lease is prolonged with the request's.
    newId: () => Effect.succeed(mail.lease),
    terms: termsOf(queue, work),
    queue: {
      ...parts.queue,
      configured: true,
      // The sender of the queue makes its retries, too.
      isConsumed: Effect.succeed(true),
      enqueue: (message, delaySeconds) =>
        Effect.sync(() => {
          work.next = { message, delaySeconds }
        }),
      putBack: (message, delaySeconds) =>
        Effect.sync(() => {
          work.next = { message, delaySeconds }
        })
    },
    // No caller waits for a queued mail: each of its attempts is a probe.
    circuits: { ...parts.circuits, unlessHanging: (_provider, _lastsMs, attempt) => attempt },
    store: {
      ...parts.store,
      begin: (entry) =>
        entry.claim === undefined
          ? parts.store.begin(entry)
          : Effect.tap(queue.queue.begin({ ...entry, claim: entry.claim, held }), () =>
              Effect.sync(() => void (work.isHeard = true))
            ),
      beginRetry: (entry) => queue.queue.beginRetry({ ...entry, held }),
      record: (row) =>
        Effect.suspend(() =>
          Effect.map(write(queue, work, moveOf(queue, work, row)), (moved) => moved ?? asAsked(row))
        )
    },
    runner: {
      ...parts.runner,
      attempt: (adapter, request) =>
        Effect.suspend(() =>
          queue.places.use(attemptInPlace(queue, work, { adapter, request, refusal, since: queue.now() }))
        )
    }
  }
}

/** The key of a request, as its send uses it. */
export const keyOf = ({ mail }: QueuedWork): IdempotencyKey => IdempotencyKey.make(mail.idempotencyKey)
