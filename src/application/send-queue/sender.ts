import { Clock, Context, Effect, type Fiber, FiberSet, Latch, Layer, Random } from "effect"

import type { QueueId } from "../../domain/ids.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import { SendQueue, type TakenMail } from "../../ports/mail/send-queue.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { bounded } from "../mail/retry-store.ts"
import { layerProcess, makeSendParts, type SendServices } from "../mail/sending.ts"
import { uptime } from "../uptime.ts"
import { listenToBell, ringBell } from "../work-bell.ts"
import { makePlaces } from "./places.ts"
import { QueueConfig } from "./queue-config.ts"
import {
  hasTurn,
  moveTo,
  QUEUE_LEASE_MS,
  type QueuedWork,
  type QueueParts,
  TOKEN_MS,
  write
} from "./queued-work.ts"
import { sendQueued } from "./send-queued.ts"

/** The wait between two looks: short where there was work just now, and then twice as long each time, milliseconds. */
const SHORTEST_LOOK_MS = 20
const LONGEST_LOOK_MS = 1_000

/** How often leases are prolonged, milliseconds. */
const RENEW_MS = QUEUE_LEASE_MS / 5

interface Sender extends QueueParts {
  readonly running: Map<QueueId, QueuedWork>
  /** Open while requests are under way. */
  readonly busy: Latch.Latch
  readonly fork: (work: Effect.Effect<void>) => Fiber.Fiber<void>
}

const workOf = (mail: TakenMail, now: number): QueuedWork => ({
  mail,
  takenAt: now,
  goodUntil: now + mail.waitMs + TOKEN_MS,
  renewedAt: now,
  next: undefined,
  retryAfterMs: undefined,
  refusals: mail.refusals,
  isHeard: false,
  unwritten: undefined,
  isMoved: false,
  isUnasked: false,
  isAsked: false
})

/** How many requests still need a provider. A request whose end is being written no longer occupies a place, so that ends are written in larger batches. */
const askingOf = ({ running }: Pick<Sender, "running">): number => {
  let asking = 0
  for (const { isMoved, unwritten } of running.values()) if (!isMoved && unwritten === undefined) asking += 1
  return asking
}

type Occupied = Pick<Sender, "config" | "now" | "places" | "running">

/**
 * How many requests may be taken now: as many are sent at once as are configured, with those that are taken ahead, and as many again wait for
 * their ends to be written.
 */
const freePlaces = (sender: Occupied): number => {
  const { concurrency } = sender.config
  const most = concurrency + sender.places.ahead(sender.now())
  return Math.min(most - askingOf(sender), most + concurrency - sender.running.size)
}

/** Not for each place that becomes free: what is free is taken together. */
const ringIfWorthwhile = (sender: Occupied): Effect.Effect<void> =>
  Effect.suspend(() =>
    freePlaces(sender) >= sender.config.concurrency / 4 ? ringBell("queue") : Effect.void
  )

/** A request that nothing was done for goes back as it was. */
const handBack = (sender: Sender, work: QueuedWork) =>
  Effect.ignore(
    bounded(
      sender.parts,
      "move",
      write(
        sender,
        work,
        moveTo(work, work.mail.deferral === undefined ? "queued" : "deferred", { dueMs: 0 })
      )
    )
  )

/** Where the first request of a mail goes, as far as the queue knows. */
const providerOf = (sender: Sender, { request }: TakenMail): Provider => {
  const named: unknown =
    typeof request === "object" && request !== null ? Reflect.get(request, "provider") : undefined
  return (
    sender.config.paces.find(({ provider }) => provider === named)?.provider ?? sender.parts.config.primary
  )
}

/** Waits for the request's token. A process that was stalled past it needs another one. */
const untilItsTurn = Effect.fnUntraced(function* (sender: Sender, work: QueuedWork) {
  if (work.mail.waitMs > 0) yield* Effect.sleep(work.mail.waitMs)
  return yield* hasTurn(sender, work, providerOf(sender, work.mail))
})

/** One request, to its end or its next wait. A shutdown hands back what it has not begun. */
const send = (sender: Sender, mail: TakenMail, now: number): Effect.Effect<void> => {
  const item = workOf(mail, now)
  sender.running.set(mail.id, item)
  sender.busy.openUnsafe()
  return untilItsTurn(sender, item).pipe(
    Effect.onInterrupt(() => handBack(sender, item)),
    Effect.flatMap((isNow) =>
      isNow ? sender.parts.runner.detached(sendQueued(sender, item)) : handBack(sender, item)
    ),
    Effect.ensuring(
      Effect.suspend(() => {
        sender.running.delete(item.mail.id)
        if (sender.running.size === 0) sender.busy.closeUnsafe()
        return ringIfWorthwhile(sender)
      })
    )
  )
}

/** Prolongs the leases of the requests under way, for as long as the process lives. */
const renewing = (sender: Sender): Effect.Effect<never> =>
  Effect.forever(
    Effect.gen(function* () {
      yield* sender.busy.whenOpen(Effect.sleep(RENEW_MS))
      const items = [...sender.running.values()]
      if (items.length === 0) return
      const askedAt = yield* uptime
      const held = yield* sender.queue.renew(
        items.map(({ mail: { id, lease } }) => ({ id, lease })),
        QUEUE_LEASE_MS
      )
      for (const item of items) if (held.has(item.mail.id)) item.renewedAt = askedAt
    }).pipe(
      Effect.catch((error) => Effect.logWarning("the leases of queued mails could not be prolonged", error))
    )
  )

/** Takes what is due, as much as there are free places, and begins to send it. What a shutdown finds taken is in hand, so that it goes back. */
const look = Effect.fnUntraced(function* (sender: Sender) {
  const { config, parts, queue } = sender
  const free = freePlaces(sender)
  if (free <= 0) return { taken: 0, isFull: true, nextMs: undefined }
  const { mails, nextMs } = yield* queue.take({
    paces: config.paces,
    primary: parts.config.primary,
    limit: free,
    leaseMs: QUEUE_LEASE_MS
  })
  const now = yield* uptime
  for (const mail of mails) sender.fork(send(sender, mail, now))
  return { taken: mails.length, isFull: mails.length === free, nextMs }
}, Effect.uninterruptible)

/** Looks for due requests at the bell, and at least once a second. */
const looking = Effect.fnUntraced(function* (sender: Sender): Effect.fn.Return<never, StoreUnavailable> {
  const wait = yield* listenToBell("queue")
  let lookMs = SHORTEST_LOOK_MS
  while (true) {
    const { isFull, nextMs, taken } = yield* look(sender)
    lookMs = taken > 0 ? SHORTEST_LOOK_MS : Math.min(LONGEST_LOOK_MS, lookMs * 2)
    yield* wait(isFull ? LONGEST_LOOK_MS : Math.min(lookMs, Math.max(5, nextMs ?? lookMs)))
  }
})

/** Sends what is due or will be within a second, and begins nothing after `withinMs`. */
const draining = Effect.fnUntraced(function* (sender: Sender, withinMs: number) {
  const wait = yield* listenToBell("queue")
  const endsAt = (yield* uptime) + withinMs
  while ((yield* uptime) < endsAt) {
    const { nextMs = Number.POSITIVE_INFINITY, taken } = yield* look(sender)
    if (taken === 0 && sender.running.size === 0 && nextMs > LONGEST_LOOK_MS) return
    yield* wait(Math.min(LONGEST_LOOK_MS, Math.max(5, nextMs)))
  }
  while (sender.running.size > 0) yield* wait(LONGEST_LOOK_MS)
})

/** Sends the requests of the queue (QUEUE-3). Leases and pace are the database's, so that any number of processes may do it. */
export class QueueSender extends Context.Service<
  QueueSender,
  {
    /** Takes what is due and sends it, until the store fails. */
    readonly run: Effect.Effect<never, StoreUnavailable>
    /** For a process that lives for a moment: sends what is due now, and begins nothing after `withinMs`. */
    readonly drain: (withinMs: number) => Effect.Effect<void, StoreUnavailable>
    /** A request that was taken, to its end or its next wait; its lease is prolonged meanwhile. */
    readonly send: (mail: TakenMail) => Effect.Effect<void>
  }
>()("postlane/application/QueueSender") {}

/** The sender, on the services of its ports. */
export const layer: Layer.Layer<QueueSender, never, SendServices | SendQueue | QueueConfig> = Layer.effect(
  QueueSender,
  Effect.gen(function* () {
    const parts = yield* makeSendParts
    const clock = yield* Clock.Clock
    const random = yield* Random.Random
    const config = yield* QueueConfig
    const occupied: Occupied = {
      config,
      now: () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6,
      places: makePlaces(config.concurrency),
      running: new Map()
    }
    const sender: Sender = {
      ...occupied,
      queue: yield* SendQueue,
      parts,
      random: () => random.nextDoubleUnsafe(),
      onAnswered: ringIfWorthwhile(occupied),
      busy: Latch.makeUnsafe(false),
      // Interrupted before the attempts are awaited: one that began later would be cut off, in doubt.
      fork: yield* FiberSet.makeRuntime<never, void, never>()
    }
    yield* Effect.forkScoped(renewing(sender))
    return QueueSender.of({
      run: looking(sender),
      drain: (withinMs) => draining(sender, withinMs),
      send: (mail) => Effect.flatMap(uptime, (now) => send(sender, mail, now))
    })
  })
).pipe(Layer.provide(layerProcess))
