import { Deferred, Effect, Layer, type Duration, type Scope } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { withDeadline } from "../../application/deadline.ts"
import { uptime } from "../../application/uptime.ts"
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

/** This process as an applicant for the lease: where it asks, and what it holds. */
interface Candidate {
  readonly store: LeaseStore["Service"]
  readonly claim: LeaseClaim
  readonly ttlMs: number
  held: Held | undefined
  /** Whether the store answered the last call. */
  isAnswered: boolean
}

/** What it holds and still trusts. */
const current = (candidate: Candidate) =>
  Effect.map(uptime, (now) =>
    candidate.held !== undefined && now < candidate.held.trustedUntil ? candidate.held : undefined
  )

/** The answer within `limitMs`, or undefined: an unresponsive store is logged once. */
const ask = <A>(
  candidate: Candidate,
  operation: string,
  call: Effect.Effect<A, StoreUnavailable>,
  limitMs: number
): Effect.Effect<{ readonly answer: A } | undefined> =>
  withDeadline(call, {
    duration: limitMs,
    onTimeout: () => Effect.fail(noAnswer(operation, `${limitMs} ms`))
  }).pipe(
    Effect.map((answer) => {
      candidate.isAnswered = true
      return { answer }
    }),
    Effect.catch((error) => {
      const log = candidate.isAnswered ? Effect.logWarning : Effect.logDebug
      candidate.isAnswered = false
      return Effect.as(
        log("the database does not answer for the leader's lease: no process may lead until it does", error),
        undefined
      )
    })
  )

/** Renews the lease until it is lost; ends with the reason. */
const lead = Effect.fnUntraced(function* (candidate: Candidate, mine: Held) {
  const { claim, store, ttlMs } = candidate
  let pause = ttlMs * RENEWAL_SHARE
  while (true) {
    yield* Effect.sleep(Math.max(0, Math.min(pause, mine.trustedUntil - (yield* uptime))))
    const started = yield* uptime
    const left = mine.trustedUntil - started
    if (left <= 0) return "its lease was not renewed in time"
    const limit = Math.min(left, ttlMs * ANSWER_SHARE)
    const renewed = yield* ask(candidate, "renew", store.renew(claim, mine.term, ttlMs), limit)
    if (renewed?.answer === false) return "another process took the lease"
    if (renewed?.answer === true) mine.trustedUntil = started + ttlMs * TRUSTED_SHARE
    pause = renewed === undefined ? RETRY_EVERY_MS : ttlMs * RENEWAL_SHARE
  }
})

const lose = (candidate: Candidate, mine: Held) =>
  Effect.suspend(() => {
    candidate.held = undefined
    return Deferred.succeed(mine.lost, undefined)
  })

/** Asks for the lease, and leads each time that it is granted. */
const campaign = Effect.fnUntraced(function* (candidate: Candidate) {
  const { claim, store, ttlMs } = candidate
  while (true) {
    const started = yield* uptime
    const taken = yield* ask(candidate, "take", store.take(claim, ttlMs), ttlMs * ANSWER_SHARE)
    if (taken?.answer === undefined) {
      yield* Effect.sleep(FOLLOW_EVERY)
      continue
    }
    const mine: Held = {
      term: taken.answer,
      trustedUntil: started + ttlMs * TRUSTED_SHARE,
      lost: yield* Deferred.make<void>()
    }
    candidate.held = mine
    yield* Effect.logInfo("this process leads").pipe(
      Effect.andThen(lead(candidate, mine)),
      Effect.ensuring(lose(candidate, mine)),
      Effect.flatMap((reason) => Effect.logWarning(`this process no longer leads: ${reason}`)),
      Effect.annotateLogs({ term: mine.term })
    )
  }
})

const release = ({ claim, store }: Candidate) =>
  withDeadline(store.release(claim), {
    duration: RELEASE_WITHIN,
    onTimeout: () => Effect.fail(noAnswer("release", RELEASE_WITHIN))
  }).pipe(
    Effect.catch((error) =>
      Effect.logWarning("the leader's lease was not released: the next leader waits until it expires", error)
    )
  )

const make = Effect.fnUntraced(function* (options: LeaseOptions) {
  const random = yield* SecureRandom
  const candidate: Candidate = {
    store: yield* LeaseStore,
    claim: { name: options.name ?? NAME, holder: yield* random.uuidV7() },
    ttlMs: options.ttlMs ?? TTL_MS,
    held: undefined,
    isAnswered: true
  }
  // Finalizers run from the last to the first: first the leader's work stops, then the loop, then the lease is released.
  yield* Effect.addFinalizer(() => release(candidate))
  yield* supervise("leadership", campaign(candidate))
  return Leadership.of({
    term: Effect.map(current(candidate), (mine) => mine?.term),
    whileLeading: (work) =>
      Effect.flatMap(current(candidate), (mine) =>
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
 * other conditions.
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
