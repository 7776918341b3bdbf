import { Duration, Effect, Result, Schedule } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { LeaseId } from "../domain/ids.ts"
import type { StoreUnavailable } from "../ports/store-unavailable.ts"
import { withDeadline } from "./deadline.ts"
import { uptime } from "./uptime.ts"
import { type Kind, ringBell } from "./work-bell.ts"

/**
 * Leased work: chunks, assemblies, inline conversions, flyers, and the steps of a mail, each done by one process at a time. A
 * worker claims a piece under a new lease and keeps the lease with heartbeats. When the lease is lost, another worker may have the
 * piece: the work ends and its result is not recorded.
 */

/** Missed heartbeats after which a worker counts as dead (DOC-12). */
const LEASE_HEARTBEATS = 5

/** How long claimed work is reserved without a heartbeat. */
export const staleAfter = (interval: Duration.Duration): Duration.Duration =>
  Duration.times(interval, LEASE_HEARTBEATS)

/** Time limit of the release at shutdown. */
const RELEASE_WITHIN = Duration.seconds(8)

/** Retries of the final report while the store is unavailable: the work may be paid for. */
const UNTIL_RECORDED = Schedule.spaced("5 seconds").pipe(Schedule.upTo({ times: 5 }))

type Report = Effect.Effect<unknown, StoreUnavailable>

/** Store operations on one claimed piece of work. Each is safe to repeat, and does nothing once the lease belongs to another worker. */
export interface Lease<A, F> {
  /** Name of the piece of work in the log. */
  readonly name: string
  /** Extends the lease. Returns false when it is lost. */
  readonly heartbeat: () => Effect.Effect<boolean, StoreUnavailable>
  /** Frees the work for another worker when the process stops. */
  readonly release: () => Report
  readonly complete: (result: A) => Report
  /** Queues another attempt, or gives up after the last one. */
  readonly fail: (failure: F) => Report
  /** Records the cost after the lease was lost. */
  readonly lost?: () => Report
  /** Asks the work to end by itself once the lease is lost. For work with paid calls, which is not interrupted. */
  readonly stop?: () => void
}

/**
 * Sends a heartbeat every interval, and returns once the lease is lost: the store reports it (the work was cancelled, or claimed
 * by another worker), or has not confirmed the lease for most of its length.
 */
const untilLost = Effect.fnUntraced(function* (
  heartbeat: Effect.Effect<boolean, StoreUnavailable>,
  interval: Duration.Duration
) {
  const intervalMs = Duration.toMillis(interval)
  const trustedMs = intervalMs * (LEASE_HEARTBEATS - 1)
  let confirmedAt = yield* uptime
  let remainingMs = trustedMs
  while (true) {
    yield* Effect.sleep(Math.min(intervalMs, remainingMs))
    const askedAt = yield* uptime
    // After an overlong sleep one more heartbeat is sent, with a time-out within the lease.
    const timeoutMs = Math.min(intervalMs, Math.max(confirmedAt + trustedMs - askedAt, intervalMs / 2))
    const answer = yield* Effect.result(
      withDeadline(heartbeat, { duration: timeoutMs, onTimeout: () => Effect.fail("no answer" as const) })
    )
    if (Result.isSuccess(answer)) confirmedAt = askedAt
    if (Result.isSuccess(answer) ? !answer.success : askedAt - confirmedAt >= trustedMs) return
    remainingMs = Math.max(0, confirmedAt + trustedMs - (yield* uptime))
  }
})

const released = (release: Report) =>
  withDeadline(Effect.asVoid(release), { duration: RELEASE_WITHIN, onTimeout: () => Effect.void }).pipe(
    Effect.ignore({ log: true })
  )

/**
 * Works while the lease holds, then reports how the work ended. A result of `undefined` means that the work ended by itself after `stop`.
 */
export const underLease = <A extends {}, F, R>(
  work: Effect.Effect<A | undefined, F, R>,
  lease: Lease<A, F>,
  interval: Duration.Duration
): Effect.Effect<void, StoreUnavailable, R> =>
  Effect.gen(function* () {
    const watch = Effect.flatMap(untilLost(Effect.suspend(lease.heartbeat), interval), () => {
      lease.stop?.()
      return lease.stop === undefined ? Effect.undefined : Effect.never
    })
    const ended = yield* Effect.raceFirst(work, watch).pipe(
      Effect.result,
      Effect.onInterrupt(() => released(Effect.suspend(lease.release)))
    )
    if (Result.isFailure(ended)) yield* Effect.logWarning(`${lease.name} failed`, ended.failure)
    const report = Effect.suspend((): Report => {
      if (Result.isFailure(ended)) return lease.fail(ended.failure)
      if (ended.success !== undefined) return lease.complete(ended.success)
      return lease.lost?.() ?? Effect.void
    })
    yield* Effect.retry(report, { schedule: UNTIL_RECORDED, while: ({ isRetryable }) => isRetryable })
  }).pipe(Effect.withSpan("leased work", { attributes: { "postlane.work": lease.name } }))

/** Claims a piece of work and does it, then wakes idle workers, since the next step may be due. Returns false when no work is due. */
export const doNext = <C, R, R2>(
  kind: Kind,
  claim: (lease: LeaseId) => Effect.Effect<C | undefined, StoreUnavailable, R>,
  work: (claimed: C) => Effect.Effect<void, StoreUnavailable, R2>
): Effect.Effect<boolean, StoreUnavailable, R | R2 | SecureRandom> =>
  Effect.gen(function* () {
    const random = yield* SecureRandom
    const claimed = yield* claim(LeaseId.make(yield* random.uuidV7()))
    if (claimed === undefined) return false
    yield* work(claimed)
    yield* ringBell(kind)
    return true
  })
