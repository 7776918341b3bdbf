import { Clock, Deferred, Effect, Layer, type Duration, type Scope } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { withDeadline } from "../../domain/deadline.ts"
import { Leadership, type LeaseClaim, LeaseStore } from "../../ports/leadership.ts"
import { type StoreUnavailable, noAnswer } from "../../ports/store-unavailable.ts"
import { supervise, type Supervisors, superviseTicksWithin } from "./supervisor.ts"

/** How a lease is held. The defaults hand over within 12 s of a crash, within one of a clean stop. */
interface LeaseOptions {
  readonly name?: string
  /** Time to live in the store, milliseconds; 15 s at most. */
  readonly ttlMs?: number
}

const NAME = "leader"
const TTL_MS = 12_000

/** The share of its time to live that the holder trusts a lease for, from before it asked for it. */
const TRUSTED_SHARE = 0.75
/** The share after which it is renewed. */
const RENEWAL_SHARE = 0.2
/** The share that one answer may take. */
const ANSWER_SHARE = 0.15
/** How often a process that does not lead asks. */
const FOLLOW_EVERY = "1 second"
/** How often a renewal without an answer is tried again. */
const RETRY_EVERY_MS = 250
/** How long a stopping process may take to release its lease. */
const RELEASE_WITHIN = "2 seconds"
/** How soon a leader's work begins once the process leads. */
const NOTICE_WITHIN = "250 millis"

interface Held {
  readonly term: number
  /** On the monotonic clock, milliseconds. */
  trustedUntil: number
  readonly lost: Deferred.Deferred<void>
}

/** Milliseconds on a monotonic clock that runs on while the process is frozen. */
const uptime = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

const make = Effect.fnUntraced(function* (options: LeaseOptions) {
  const store = yield* LeaseStore
  const random = yield* SecureRandom
  const ttlMs = options.ttlMs ?? TTL_MS
  const claim: LeaseClaim = { name: options.name ?? NAME, holder: yield* random.uuidV7() }
  let held: Held | undefined
  let answers = true

  const current = Effect.map(uptime, (now) =>
    held !== undefined && now < held.trustedUntil ? held : undefined
  )

  /** The answer within `limitMs`, or undefined: an unresponsive store is logged once. */
  const asked = <A>(
    operation: string,
    call: Effect.Effect<A, StoreUnavailable>,
    limitMs: number
  ): Effect.Effect<{ readonly answer: A } | undefined> =>
    withDeadline(call, {
      duration: limitMs,
      onTimeout: () => Effect.fail(noAnswer(operation, `${limitMs} ms`))
    }).pipe(
      Effect.map((answer) => {
        answers = true
        return { answer }
      }),
      Effect.catch((error) =>
        Effect.as(
          answers
            ? Effect.logWarning("the lease of the leader cannot be asked for", error)
            : Effect.logDebug("the lease of the leader cannot be asked for", error),
          undefined
        ).pipe(Effect.ensuring(Effect.sync(() => void (answers = false))))
      )
    )

  const lead = Effect.fnUntraced(function* (mine: Held) {
    let pause = ttlMs * RENEWAL_SHARE
    while (true) {
      yield* Effect.sleep(Math.max(0, Math.min(pause, mine.trustedUntil - (yield* uptime))))
      const started = yield* uptime
      const left = mine.trustedUntil - started
      if (left <= 0) return "it was not renewed in time"
      const limit = Math.min(left, ttlMs * ANSWER_SHARE)
      const renewed = yield* asked("renew", store.renew(claim, mine.term, ttlMs), limit)
      if (renewed?.answer === false) return "the lease is another's"
      if (renewed?.answer === true) mine.trustedUntil = started + ttlMs * TRUSTED_SHARE
      pause = renewed === undefined ? RETRY_EVERY_MS : ttlMs * RENEWAL_SHARE
    }
  })

  const loseIt = (mine: Held) =>
    Effect.suspend(() => {
      held = undefined
      return Deferred.succeed(mine.lost, undefined)
    })

  const run = Effect.gen(function* () {
    while (true) {
      const started = yield* uptime
      const taken = yield* asked("take", store.take(claim, ttlMs), ttlMs * ANSWER_SHARE)
      if (taken?.answer === undefined) {
        yield* Effect.sleep(FOLLOW_EVERY)
        continue
      }
      const mine: Held = {
        term: taken.answer,
        trustedUntil: started + ttlMs * TRUSTED_SHARE,
        lost: yield* Deferred.make<void>()
      }
      const about = Effect.annotateLogs({ term: mine.term })
      held = mine
      yield* Effect.logInfo("this process leads").pipe(
        about,
        Effect.andThen(lead(mine)),
        Effect.ensuring(loseIt(mine)),
        Effect.flatMap((reason) => about(Effect.logWarning(`this process does not lead any more: ${reason}`)))
      )
    }
  })

  // Finalizers run from the last to the first: first the leader's work stops, then the loop, then the lease is released.
  yield* Effect.addFinalizer(() =>
    withDeadline(store.release(claim), {
      duration: RELEASE_WITHIN,
      onTimeout: () => Effect.fail(noAnswer("release", RELEASE_WITHIN))
    }).pipe(
      Effect.catch((error) =>
        Effect.logWarning("the lease of the leader was not given back: it runs out by itself", error)
      )
    )
  )
  yield* supervise("leadership", run)

  return Leadership.of({
    term: Effect.map(current, (mine) => mine?.term),
    whileLeading: (work) =>
      Effect.flatMap(current, (mine) =>
        mine === undefined
          ? Effect.succeed(false)
          : Effect.raceFirst(Effect.as(work, true), Effect.as(Deferred.await(mine.lost), false))
      )
  })
})

/**
 * Leadership by a lease that this process keeps asking for. It trusts the lease for less than the store does, by its own
 * monotonic clock and from before it asked; without an answer it stops leading before another can begin. A process that was
 * frozen past its lease notices when it wakes, perhaps one step late: its writes are guarded by `lease_is_held(name, term)` or by
 * guards of its own.
 */
export const layer = (
  options: LeaseOptions = {}
): Layer.Layer<Leadership, never, LeaseStore | SecureRandom | Supervisors> =>
  Layer.effect(Leadership, make(options))

/**
 * Ticks of the leader: one as soon as this process leads, then one every `interval`, never overlapping, for as long as it leads.
 * Losing the lease interrupts a running tick at once.
 */
export const leaderTicking = <E, R>(
  name: string,
  interval: Duration.Input,
  tick: Effect.Effect<unknown, E, R>
): Layer.Layer<never, never, Leadership | Supervisors | Exclude<R, Scope.Scope>> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const leadership = yield* Leadership
      yield* superviseTicksWithin(name, interval, tick, (ticks) =>
        Effect.forever(Effect.andThen(leadership.whileLeading(ticks), Effect.sleep(NOTICE_WITHIN)))
      )
    })
  )
