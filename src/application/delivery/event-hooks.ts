import { Effect, FiberSet, Latch, Metric, Schedule } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { RECEIPT_WITHIN_SECONDS } from "../../domain/delivery/event-hooks.ts"
import { type ClaimedDelivery, EventHooks, HookSender, isReceipt } from "../../ports/delivery/event-hooks.ts"
import { uptime } from "../uptime.ts"

/** Tries at once, of this process, and of one receiver. */
const MAX_TRIES = 128
const MAX_TRIES_OF_HOOK = 32

/** Places that hooks which answer always find, however many receivers are slow at once. */
const SPARE_TRIES = 32

/** Longer than a try with its look-up: what a process that died was sending is sent again after it. */
const LEASE_MS = (RECEIPT_WITHIN_SECONDS + 15) * 1_000

const CLAIM_LIMITS = { leaseMs: LEASE_MS, each: MAX_TRIES_OF_HOOK, spare: SPARE_TRIES }

/** How often an idle dispatcher looks. */
const IDLE = "1 second"

/** A receipt that cannot be noted now is tried again until its lease is over. */
const NOTED_AGAIN = Schedule.spaced("1 second").pipe(Schedule.upTo({ times: LEASE_MS / 1_000 }))

const tries = (outcome: "received" | "refused" | "unanswered") =>
  Metric.counter("postlane_event_hook_tries_total", {
    description: "Tries to deliver an event to a hook.",
    incremental: true,
    attributes: { outcome }
  })

const makeDispatcher = Effect.gen(function* () {
  const hooks = yield* EventHooks
  const sender = yield* HookSender
  const random = yield* SecureRandom
  const underWay = yield* FiberSet.make<void, never>()
  const busy = new Map<string, number>()
  const freed = Latch.makeUnsafe()
  let placeIsFree = false
  const count = (hookId: string, by: number) => {
    const now = (busy.get(hookId) ?? 0) + by
    if (now === 0) busy.delete(hookId)
    else busy.set(hookId, now)
  }

  const attempt = (lease: string) => (delivery: ClaimedDelivery) =>
    sender.post(delivery).pipe(
      Effect.tap((answer) =>
        Metric.update(
          tries(isReceipt(answer) ? "received" : answer.status === undefined ? "unanswered" : "refused"),
          1
        )
      ),
      Effect.flatMap((answer) => Effect.retry(hooks.end(delivery.id, lease, answer), NOTED_AGAIN)),
      Effect.catch((error) =>
        Effect.logWarning("how a try of an event hook ended was not noted: it is tried again", error)
      ),
      Effect.ensuring(
        Effect.suspend(() => {
          count(delivery.hookId, -1)
          placeIsFree = true
          return freed.release
        })
      )
    )

  /** Starts what is due and has a free place; how many. */
  const startDue = Effect.gen(function* () {
    const limit = MAX_TRIES - (yield* FiberSet.size(underWay))
    if (limit <= 0) return 0
    placeIsFree = false
    const lease = yield* random.uuidV7()
    const claimed = yield* hooks.claim({ ...CLAIM_LIMITS, lease, limit, busy })
    for (const delivery of claimed) {
      count(delivery.hookId, 1)
      yield* FiberSet.run(underWay, attempt(lease)(delivery))
    }
    return claimed.length
  })

  const wait = Effect.suspend(() =>
    placeIsFree ? Effect.yieldNow : Effect.asVoid(Effect.timeoutOption(freed.whenOpen(Effect.void), IDLE))
  )
  // A database that is away is no reason to break off what receivers are answering.
  const untilAnswered = FiberSet.awaitEmpty(underWay)
  return {
    always: Effect.flatMap(startDue, (started) => (started > 0 ? Effect.yieldNow : wait)).pipe(
      Effect.forever,
      Effect.tapError(() => untilAnswered)
    ),
    once: Effect.fnUntraced(function* (withinMs: number) {
      const endsAt = (yield* uptime) + withinMs
      while ((yield* uptime) < endsAt) {
        if ((yield* startDue) > 0) continue
        if ((yield* FiberSet.size(underWay)) === 0) return
        yield* wait
      }
      yield* untilAnswered
    })
  }
})

/**
 * Sends events that are due to their hooks, for ever. Each hook has places of its own, so that a slow receiver delays no other, and one
 * that does not answer has one place until it does.
 */
export const dispatchEventHooks = Effect.scoped(Effect.flatMap(makeDispatcher, ({ always }) => always))

/** For a process that lives for a moment: sends the events that are due now, and begins nothing after `withinMs`. */
export const dispatchDueEventHooks = (withinMs: number) =>
  Effect.scoped(Effect.flatMap(makeDispatcher, ({ once }) => once(withinMs)))

/** How often the leader looks after hooks. */
export const HOOK_UPKEEP_INTERVAL = "1 minute"

/** Switches off hooks whose receivers have been silent for days; the alarm `event_hooks` notifies of them. */
export const tendEventHooks = Effect.gen(function* () {
  for (const hook of yield* (yield* EventHooks).tend) {
    yield* Effect.annotateLogs(Effect.logError("EVENT_HOOK_OFF: no receipt for five days"), { hook })
  }
})
