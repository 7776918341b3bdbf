import {
  Cause,
  Clock,
  DateTime,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Latch,
  Layer,
  Option,
  Semaphore
} from "effect"

import { withDeadline } from "../../../application/deadline.ts"
import type { LogRowId } from "../../../domain/ids.ts"
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
  /** What the body says; none where it cannot be read. */
  readonly message: Option.Option<DeferredSend>
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
  /** SIGKILL: this process settles, extends and enqueues nothing more, its messages come back, its handlers are interrupted. */
  readonly kill: Effect.Effect<void>
}

/** A retry queue that lives in this process's memory and on Effect's `Clock`; several "processes" can share it. */
export interface DeferBroker {
  readonly attach: () => DeferProcess
  /** Adds a second copy of each message of this row that is not dead (at least once); returns how many there were. */
  readonly duplicate: (rowId: LogRowId) => Effect.Effect<number>
  /** Puts any text on the queue, due now: a poison message. */
  readonly inject: (body: string) => Effect.Effect<void>
  /** While false, every operation fails, and a running consumer with it. */
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
  message: Option.getOrNull(entry.message)
})

/** A handler that interrupts itself has failed; only an interruption by a shutdown returns its message to the queue. */
const failWhereItInterruptsItself = <E, R>(handler: Effect.Effect<void, E, R>) =>
  Effect.catchCause(handler, (cause) =>
    Cause.hasInterrupts(cause) ? Effect.die(cause) : Effect.failCause(cause)
  )

/** The queue's messages, live and dead. */
interface Messages {
  readonly visibilityMs: number
  readonly entries: Set<Entry>
  readonly dead: Map<string, Dead>
  answering: boolean
  serial: number
  consumers: number
  /** Opens when a message came or fell free; a new one then takes its place. */
  changed: Latch.Latch
}

/** A process's connection to the queue. */
interface Connection {
  readonly messages: Messages
  readonly killed: Deferred.Deferred<never>
  alive: boolean
}

const notify = (messages: Messages): void => {
  messages.changed.openUnsafe()
  messages.changed = Latch.makeUnsafe(false)
}

const nextDue = ({ entries }: Messages): number => least(Array.from(entries, (entry) => entry.visibleAt))

const add = (messages: Messages, body: string, visibleAt: number): void => {
  // A consumer that waits for an earlier message looks again when that is due.
  const isFirst = visibleAt < nextDue(messages)
  messages.serial += 1
  messages.entries.add({
    id: String(messages.serial),
    body,
    message: decodeDeferredSend(body),
    visibleAt,
    receives: 0,
    receipt: 0,
    held: false
  })
  if (isFirst) notify(messages)
}

const bury = ({ dead, entries }: Messages, entry: Entry, diedAt: number, reason: string): void => {
  entries.delete(entry)
  entry.held = false
  dead.set(entry.id, { entry, diedAt, reason })
}

/** Frees the messages past their visibility time, and buries those received too often. */
const sweep = (messages: Messages, now: number): void => {
  for (const entry of messages.entries) {
    if (entry.visibleAt > now) continue
    entry.held = false
    if (entry.receives >= MAX_RECEIVES) bury(messages, entry, now, "not settled within the visibility time")
  }
}

const silent = Effect.fail(
  new StoreUnavailable({
    operation: "queue",
    reason: "The retry queue does not answer",
    isRetryable: true
  })
)

const whenAnswering = (messages: Messages): Effect.Effect<void, StoreUnavailable> =>
  Effect.suspend(() => (messages.answering ? Effect.void : silent))

/** Receives the message that is due for longest. */
const claim = (messages: Messages, now: number): Entry | undefined => {
  sweep(messages, now)
  let first: Entry | undefined
  for (const entry of messages.entries) {
    if (entry.visibleAt <= now && (first === undefined || entry.visibleAt < first.visibleAt)) first = entry
  }
  if (first === undefined) return undefined
  first.receives += 1
  first.receipt += 1
  first.held = true
  first.visibleAt = now + messages.visibilityMs
  return first
}

const untilDue = (messages: Messages, now: number): Effect.Effect<void> => {
  const { changed } = messages
  const next = nextDue(messages)
  return Number.isFinite(next)
    ? withDeadline(changed.await, { duration: next - now, onTimeout: () => Effect.void })
    : changed.await
}

/** Whether the process still holds the message received as `receipt`, and can reach the broker. */
const holds = ({ alive, messages }: Connection, entry: Entry, receipt: number): boolean =>
  alive && messages.answering && messages.entries.has(entry) && entry.receipt === receipt

const settle = (
  connection: Connection,
  entry: Entry,
  receipt: number,
  now: number,
  exit: Exit.Exit<void, unknown>
): void => {
  if (!holds(connection, entry, receipt)) return
  const { messages } = connection
  if (Exit.isSuccess(exit)) messages.entries.delete(entry)
  else if (Exit.hasInterrupts(exit)) {
    entry.held = false
    entry.receives -= 1
    entry.visibleAt = now
    notify(messages)
  } else if (entry.receives >= MAX_RECEIVES) bury(messages, entry, now, "the handler failed")
  else entry.visibleAt = now + messages.visibilityMs
}

/** Hands a message to the handler, and keeps it hidden while it works. */
const work = <R>(
  connection: Connection,
  entry: Entry,
  handling: Effect.Effect<void, unknown, R>
): Effect.Effect<void, never, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { visibilityMs } = connection.messages
      const receipt = entry.receipt
      const extension = yield* Effect.map(Clock.currentTimeMillis, (at) => {
        if (holds(connection, entry, receipt)) entry.visibleAt = at + visibilityMs
      }).pipe(Effect.delay(visibilityMs / 3), Effect.forever, Effect.forkChild)
      const exit = yield* Effect.exit(restore(failWhereItInterruptsItself(handling)))
      yield* Fiber.interrupt(extension)
      settle(connection, entry, receipt, yield* Clock.currentTimeMillis, exit)
    })
  )

/** Starts to work on the next message as soon as one is due; a slot is taken. */
const startNext = <E, R>(
  connection: Connection,
  handler: (message: DeferredSend) => Effect.Effect<void, E, R>,
  slots: Semaphore.Semaphore
): Effect.Effect<void, StoreUnavailable, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Clock.currentTimeMillis, (now): Effect.Effect<void, StoreUnavailable, R> => {
      const { messages } = connection
      if (!messages.answering) return silent
      if (!connection.alive) return restore(Effect.never)
      const entry = claim(messages, now)
      const again = () => startNext(connection, handler, slots)
      if (entry === undefined) return restore(Effect.flatMap(untilDue(messages, now), again))
      if (Option.isSome(entry.message))
        return work(connection, entry, handler(entry.message.value)).pipe(
          Effect.ensuring(slots.release(1)),
          Effect.forkChild({ startImmediately: true })
        )
      bury(messages, entry, now, "the message cannot be read")
      return restore(Effect.suspend(again))
    })
  )

const queueOf = (connection: Connection): DeferQueue["Service"] => {
  const { killed, messages } = connection
  const enqueue: DeferQueue["Service"]["enqueue"] = Effect.fnUntraced(function* (message, delaySeconds) {
    if (!connection.alive) return yield* Effect.never
    const body = encodeDeferredSend(message)
    if (Option.isNone(body)) return yield* tooLargeToQueue()
    yield* whenAnswering(messages)
    add(messages, body.value, (yield* Clock.currentTimeMillis) + delaySeconds * 1000)
  })
  return DeferQueue.of({
    configured: true,
    enqueue,
    // A new message; the held one goes when its handler succeeds.
    putBack: enqueue,
    consume: (handler, { concurrency }) =>
      Effect.suspend(() => {
        const slots = Semaphore.makeUnsafe(concurrency)
        messages.consumers += 1
        return Effect.andThen(slots.take(1), startNext(connection, handler, slots)).pipe(
          Effect.forever,
          Effect.raceFirst(Deferred.await(killed)),
          Effect.ensuring(Effect.sync(() => void (messages.consumers -= 1)))
        )
      }),
    isConsumed: Effect.map(whenAnswering(messages), () => messages.consumers > 0),
    deadLetters: Effect.fnUntraced(function* ({ limit }) {
      yield* whenAnswering(messages)
      sweep(messages, yield* Clock.currentTimeMillis)
      return Array.from(messages.dead.values()).sort(newestFirst).slice(0, limit).map(toDeadLetter)
    }),
    redrive: Effect.fnUntraced(function* (id) {
      yield* whenAnswering(messages)
      const found = messages.dead.get(id)
      if (found === undefined) return false
      messages.dead.delete(id)
      add(messages, found.entry.body, yield* Clock.currentTimeMillis)
      return true
    }),
    removeUnreadable: (id) =>
      Effect.map(
        whenAnswering(messages),
        () => messages.dead.get(id)?.entry.message._tag === "None" && messages.dead.delete(id)
      ),
    check: whenAnswering(messages)
  })
}

const attach = (messages: Messages): DeferProcess => {
  const connection: Connection = { messages, killed: Deferred.makeUnsafe<never>(), alive: true }
  return {
    queue: queueOf(connection),
    kill: Effect.suspend(() => {
      connection.alive = false
      return Effect.asVoid(Deferred.interrupt(connection.killed))
    })
  }
}

const duplicate = (messages: Messages, rowId: LogRowId, now: number): number => {
  sweep(messages, now)
  const copies = Array.from(messages.entries).filter(({ message }) =>
    Option.exists(message, (one) => one.rowId === rowId)
  )
  for (const copy of copies) add(messages, copy.body, Math.max(now, copy.held ? now : copy.visibleAt))
  return copies.length
}

/** A new, empty broker. A message that is enqueued twice is two messages, as on a queue that does not dedupe. */
export const makeDeferBroker = (options: { readonly visibilitySeconds: number }): DeferBroker => {
  const messages: Messages = {
    visibilityMs: options.visibilitySeconds * 1000,
    entries: new Set(),
    dead: new Map(),
    answering: true,
    serial: 0,
    consumers: 0,
    changed: Latch.makeUnsafe(false)
  }
  return {
    attach: () => attach(messages),
    duplicate: (rowId) => Effect.map(Clock.currentTimeMillis, (now) => duplicate(messages, rowId, now)),
    inject: (body) => Effect.map(Clock.currentTimeMillis, (now) => add(messages, body, now)),
    setAnswering: (value) =>
      Effect.sync(() => {
        messages.answering = value
        notify(messages)
      }),
    pending: Effect.map(Clock.currentTimeMillis, (now) => {
      sweep(messages, now)
      return Array.from(messages.entries, ({ body, held }) => ({ body, held }))
    })
  }
}

/** No queue is configured: nothing can be deferred, so an ambiguous send ends `failed`. */
export const layerNone: Layer.Layer<DeferQueue> = Layer.sync(DeferQueue, () => {
  const none = Effect.fail(
    new StoreUnavailable({ operation: "enqueue", reason: "No retry queue is configured", isRetryable: false })
  )
  return DeferQueue.of({
    configured: false,
    enqueue: () => none,
    putBack: () => none,
    consume: () => Effect.never,
    isConsumed: Effect.succeed(false),
    deadLetters: () => Effect.succeed([]),
    redrive: () => Effect.succeed(false),
    removeUnreadable: () => Effect.succeed(false),
    check: Effect.void
  })
})
