import { Cause, Clock, DateTime, Deferred, Effect, Exit, Fiber, Latch, Layer, Option, Schedule } from "effect"

import { least } from "../../../domain/lists.ts"
import {
  decodeDeferredSend,
  encodeDeferredSend,
  type DeferredSend,
  MAX_RECEIVES
} from "../../../domain/mail/deferred-send.ts"
import { type DeadLetter, DeferQueue, tooLargeToQueue } from "../../../ports/mail/defer-queue.ts"
import { StoreUnavailable } from "../../../ports/store-unavailable.ts"

interface Entry {
  readonly id: string
  readonly body: string
  /** Due from this time on (milliseconds): the end of its delay, or of its holder's visibility time. */
  visibleAt: number
  receives: number
  /** Grows with each receive, so that an earlier receiver can no longer settle the message. */
  receipt: number
  held: boolean
}

interface Dead {
  readonly entry: Entry
  readonly diedAt: number
  readonly reason: string
}

/** One process on a broker. */
export interface DeferProcess {
  readonly queue: DeferQueue["Service"]
  /**
   * SIGKILL as the queue sees it: from now on this process settles, extends and enqueues nothing, its messages come
   * back after the visibility time, and its consumers and their handlers are interrupted.
   */
  readonly kill: Effect.Effect<void>
}

/** A retry queue that lives in this process's memory and on Effect's `Clock`; several "processes" can share it. */
export interface DeferBroker {
  readonly attach: () => DeferProcess
  /** Adds a second copy of each message of this row that is not dead (at least once); returns how many there were. */
  readonly duplicate: (rowId: string) => Effect.Effect<number>
  /** Puts any text on the queue, due now: a poison message. */
  readonly inject: (body: string) => Effect.Effect<void>
  /** While false, every operation fails with `Unavailable`, and a running consumer with it. */
  readonly setAnswering: (answering: boolean) => Effect.Effect<void>
  /** The messages that are neither settled nor dead, held ones included. */
  readonly pending: Effect.Effect<ReadonlyArray<{ readonly body: string; readonly held: boolean }>>
}

const newestFirst = (a: Dead, b: Dead) => b.diedAt - a.diedAt || Number(b.entry.id) - Number(a.entry.id)

const toDeadLetter = ({ entry, diedAt, reason }: Dead): DeadLetter => ({
  id: entry.id,
  diedAt: DateTime.formatIso(DateTime.makeUnsafe(diedAt)),
  receives: entry.receives,
  reason,
  message: Option.getOrNull(decodeDeferredSend(entry.body))
})

/** A handler that interrupts itself has failed; only an interruption by a shutdown returns its message to the queue. */
const failWhereItInterruptsItself = <E, R>(handler: Effect.Effect<void, E, R>) =>
  Effect.catchCause(handler, (cause) =>
    Cause.hasInterrupts(cause) ? Effect.die(cause) : Effect.failCause(cause)
  )

/** A new, empty broker. A message that is enqueued twice is two messages, as on a queue that does not dedupe. */
export const makeDeferBroker = (options: { readonly visibilitySeconds: number }): DeferBroker => {
  const visibilityMs = options.visibilitySeconds * 1000
  const entries = new Set<Entry>()
  const dead = new Map<string, Dead>()
  let answering = true
  let serial = 0
  let changed = Latch.makeUnsafe(false)

  const notify = () => {
    changed.openUnsafe()
    changed = Latch.makeUnsafe(false)
  }

  const add = (body: string, visibleAt: number) => {
    serial += 1
    entries.add({ id: String(serial), body, visibleAt, receives: 0, receipt: 0, held: false })
    notify()
  }

  const bury = (entry: Entry, diedAt: number, reason: string) => {
    entries.delete(entry)
    entry.held = false
    dead.set(entry.id, { entry, diedAt, reason })
  }

  const sweep = (now: number) => {
    for (const entry of entries) {
      if (entry.visibleAt > now) continue
      entry.held = false
      if (entry.receives >= MAX_RECEIVES) bury(entry, now, "not settled within the visibility time")
    }
  }

  const whenAnswering = Effect.suspend(() =>
    answering
      ? Effect.void
      : Effect.fail(
          new StoreUnavailable({
            operation: "queue",
            reason: "The retry queue does not answer",
            isRetryable: true
          })
        )
  )

  const attach = (): DeferProcess => {
    const killed = Deferred.makeUnsafe<never>()
    let alive = true

    /** Whether this process still holds the message received as `receipt`, and can reach the broker. */
    const holds = (entry: Entry, receipt: number) =>
      alive && answering && entries.has(entry) && entry.receipt === receipt

    const claim = (now: number): Entry | undefined => {
      sweep(now)
      let first: Entry | undefined
      for (const entry of entries) {
        if (entry.visibleAt <= now && (first === undefined || entry.visibleAt < first.visibleAt))
          first = entry
      }
      if (first === undefined) return undefined
      first.receives += 1
      first.receipt += 1
      first.held = true
      first.visibleAt = now + visibilityMs
      return first
    }

    const untilDue = (now: number) => {
      const next = least(Array.from(entries, (entry) => entry.visibleAt))
      return Number.isFinite(next) ? Effect.race(changed.await, Effect.sleep(next - now)) : changed.await
    }

    const settle = (entry: Entry, receipt: number, now: number, exit: Exit.Exit<void, unknown>) => {
      if (!holds(entry, receipt)) return
      if (Exit.isSuccess(exit)) entries.delete(entry)
      else if (Exit.hasInterrupts(exit)) {
        entry.held = false
        entry.receives -= 1
        entry.visibleAt = now
      } else if (entry.receives >= MAX_RECEIVES) bury(entry, now, "the handler failed")
      else entry.visibleAt = now + visibilityMs
      notify()
    }

    const receive = <E, R>(handler: (message: DeferredSend) => Effect.Effect<void, E, R>) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          yield* whenAnswering
          const now = yield* Clock.currentTimeMillis
          const entry = alive ? claim(now) : undefined
          if (entry === undefined) return yield* restore(alive ? untilDue(now) : Effect.never)
          const message = decodeDeferredSend(entry.body)
          if (Option.isNone(message)) return bury(entry, now, "the message cannot be read")
          const receipt = entry.receipt
          const extension = yield* Effect.map(Clock.currentTimeMillis, (at) => {
            if (holds(entry, receipt)) entry.visibleAt = at + visibilityMs
          }).pipe(Effect.schedule(Schedule.spaced(visibilityMs / 3)), Effect.forkChild)
          const exit = yield* Effect.exit(restore(failWhereItInterruptsItself(handler(message.value))))
          yield* Fiber.interrupt(extension)
          settle(entry, receipt, yield* Clock.currentTimeMillis, exit)
        })
      )

    const queue = DeferQueue.of({
      configured: true,
      enqueue: Effect.fnUntraced(function* (message, delaySeconds) {
        if (!alive) return yield* Effect.never
        const body = encodeDeferredSend(message)
        if (Option.isNone(body)) {
          return yield* tooLargeToQueue()
        }
        yield* whenAnswering
        add(body.value, (yield* Clock.currentTimeMillis) + delaySeconds * 1000)
      }),
      consume: (handler, { concurrency }) =>
        Effect.forEach(Array.from({ length: concurrency }), () => Effect.forever(receive(handler)), {
          concurrency: "unbounded",
          discard: true
        }).pipe(Effect.andThen(Effect.never), Effect.raceFirst(Deferred.await(killed))),
      deadLetters: ({ limit }) =>
        Effect.gen(function* () {
          yield* whenAnswering
          sweep(yield* Clock.currentTimeMillis)
          return Array.from(dead.values()).sort(newestFirst).slice(0, limit).map(toDeadLetter)
        }),
      redrive: (id) =>
        Effect.gen(function* () {
          yield* whenAnswering
          const found = dead.get(id)
          if (found === undefined) return false
          dead.delete(id)
          add(found.entry.body, yield* Clock.currentTimeMillis)
          return true
        }),
      check: whenAnswering
    })

    const kill = Effect.suspend(() => {
      alive = false
      return Effect.asVoid(Deferred.interrupt(killed))
    })

    return { queue, kill }
  }

  return {
    attach,
    duplicate: (rowId) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        sweep(now)
        const copies = Array.from(entries).filter((entry) =>
          Option.exists(decodeDeferredSend(entry.body), (message) => message.rowId === rowId)
        )
        for (const copy of copies) add(copy.body, Math.max(now, copy.held ? now : copy.visibleAt))
        return copies.length
      }),
    inject: (body) => Effect.map(Clock.currentTimeMillis, (now) => add(body, now)),
    setAnswering: (value) =>
      Effect.sync(() => {
        answering = value
        notify()
      }),
    pending: Effect.map(Clock.currentTimeMillis, (now) => {
      sweep(now)
      return Array.from(entries, ({ body, held }) => ({ body, held }))
    })
  }
}

/** One process on a broker of its own. */
export const layer = (options: { readonly visibilitySeconds: number }): Layer.Layer<DeferQueue> =>
  Layer.sync(DeferQueue, () => makeDeferBroker(options).attach().queue)

/** No queue is configured: nothing can be deferred, so an ambiguous send ends `failed`. */
export const layerNone: Layer.Layer<DeferQueue> = Layer.sync(DeferQueue, () => {
  const none = Effect.fail(
    new StoreUnavailable({ operation: "enqueue", reason: "No retry queue is configured", isRetryable: false })
  )
  return DeferQueue.of({
    configured: false,
    enqueue: () => none,
    consume: () => Effect.never,
    deadLetters: () => Effect.succeed([]),
    redrive: () => Effect.succeed(false),
    check: Effect.void
  })
})
