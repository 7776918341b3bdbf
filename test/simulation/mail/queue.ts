import { Clock, Context, Effect } from "effect"

import type { MailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { makeSendQueue } from "../../../src/adapters/memory/mail/send-queue.ts"
import type { MailerConfig } from "../../../src/application/mail/sending.ts"
import { QueueConfig } from "../../../src/application/send-queue/queue-config.ts"
import type { QueueSender } from "../../../src/application/send-queue/sender.ts"
import { LogRowId, type QueueId } from "../../../src/domain/ids.ts"
import { continuation } from "../../../src/domain/mail/claim.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import { QUEUE_ORDER, SET_ASIDE } from "../../../src/domain/mail/queue.ts"
import { fixedRate } from "../../../src/domain/mail/rate.ts"
import type { Category } from "../../../src/domain/mail/suppression/policy.ts"
import type { RecordSend } from "../../../src/ports/mail/mail-store.ts"
import { type PaceLimit, SendQueue } from "../../../src/ports/mail/send-queue.ts"
import type { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import type { Chance, SimClock } from "../kernel.ts"
import { CallTrace, noted, repeatedly, type SimProcess, traced } from "../process.ts"
import type { Chronicle } from "../world.ts"
import type { Bug } from "./bugs.ts"
import type { Report } from "./oracle.ts"
import type { Attempt } from "./provider-model.ts"

/** A sender that is silent for so long has lost its request. */
const LEASE_MS = 12_000

/** A request, as its caller knows it. */
interface Asked {
  readonly id: QueueId
  readonly subject: string
  readonly to: string
  /** Its place in the order of categories. */
  readonly lane: number
  /** Its transaction was rolled back. */
  isUndone: boolean
  /** No direct send has its key. */
  readonly isAlone: boolean
  /** By the database's clock. */
  readonly sendAt: number
  /** Whether it was taken before that, at first. */
  isEarly: boolean | undefined
  /** When a cancel was answered `cancelled`. */
  cancelledAt: number | undefined
}

interface Road {
  readonly road: <A>(
    operation: string,
    apply: Effect.Effect<A, StoreUnavailable>
  ) => Effect.Effect<A, StoreUnavailable>
  readonly settings: MailerConfig["Service"]
  /** `row`: the one that was written in the log. */
  readonly onRecorded: (entry: RecordSend, row: LogRowId | undefined) => void
  readonly onGranted: (subject: string, isNew: boolean) => void
}

interface QueueingOptions {
  readonly clock: SimClock
  readonly database: MailDatabase
  readonly databaseClock: SimClock
  readonly chronicle: Chronicle
  readonly chance: Chance
  readonly isOn: boolean
  /** The world's providers; requests that name none go to the first. */
  readonly pair: readonly [Provider, Provider]
  readonly bug: Bug | undefined
  readonly onReport: (report: Report) => void
  /** How many times longer the wait for the next look becomes where nothing was due for a while. */
  readonly longestIdle?: number
}

/** What a queued mail is, whose content does not matter. */
interface QueuedMail {
  readonly to: string
  readonly category: Category
}

/** How many processes a fleet has at the most. */
const PROCESSES = 3

const failedResult = {
  ok: false,
  status: "failed",
  kind: "unavailable",
  error: "planted",
  provider: null,
  providerMessageId: null,
  failedOver: false,
  idempotencyKey: "",
  suppressedRecipients: []
} as const

/** The queue with the bug in it. */
const broken = (bug: Bug | undefined, queue: SendQueue["Service"]): SendQueue["Service"] => {
  switch (bug) {
    case "queue-cancels-what-is-sent":
      return {
        ...queue,
        cancel: (id) => Effect.map(queue.cancel(id), (state) => (state === "sending" ? "cancelled" : state))
      }
    case "queue-ends-refused":
      return {
        ...queue,
        move: (move) =>
          queue.move(
            move.state === "deferred"
              ? {
                  ...move,
                  state: "failed",
                  frees: true,
                  result: { ...failedResult, sendId: LogRowId.make(move.id) }
                }
              : move
          )
      }
    case "queue-paces-each-process":
      return {
        ...queue,
        take: (asked) =>
          queue.take({
            ...asked,
            paces: asked.paces.map((pace) => ({ ...pace, ...fixedRate(pace.rate * PROCESSES) }))
          }),
        token: (pace) => queue.token({ ...pace, ...fixedRate(pace.rate * PROCESSES) })
      }
    case "queue-goes-by-insertion":
      return {
        ...queue,
        enqueue: (entries) =>
          queue.enqueue(
            entries.map((entry) => ({ ...entry, request: { ...entry.request, category: "transactional" } }))
          )
      }
    default:
      return queue
  }
}

/** The queue of a world: what its callers asked for, and the senders of its processes. */
export const makeQueueing = (options: QueueingOptions) => {
  const { bug, chance, chronicle, clock, database, databaseClock, isOn, longestIdle = 8 } = options
  const now = () => clock.currentTimeMillisUnsafe()
  const asked = new Map<QueueId, Asked>()
  const { queue: whole, queued } = makeSendQueue(database)
  const inner = broken(bug, whole)
  const inItsTime = Effect.provideService(Clock.Clock, databaseClock)
  const rate = chance.pick([0, 0, 2])
  const [first, second] = options.pair
  const paces: ReadonlyArray<PaceLimit> = [
    { provider: first, ...fixedRate(rate) },
    ...(second === first ? [] : [{ provider: second, ...fixedRate(0) }])
  ]

  const disorder: Array<string> = []
  /** Q4: of several that are taken for a provider at once, one goes by its age, the others before none that is due, and of a higher category. */
  const noteOrder = (taken: ReadonlyArray<QueueId>) => {
    const places = queued().flatMap(({ dueAt, id, provider, state }) => {
      const lane = asked.get(id)?.lane
      if (lane === undefined) return []
      const isDue =
        state === "queued" && dueAt !== undefined && dueAt <= databaseClock.currentTimeMillisUnsafe()
      return [{ lane, provider, isTaken: taken.includes(id), isDue }]
    })
    for (const { isDue, isTaken, lane, provider } of places) {
      if (isTaken || !isDue) continue
      const below = places.filter((one) => one.isTaken && one.provider === provider && one.lane > lane)
      if (below.length > 1)
        disorder.push(
          `Q4: lanes ${below.map((one) => one.lane).join()} are taken while one of lane ${lane} waits`
        )
    }
  }

  /** The queue as a process reaches it. */
  const queueOf = (process: SimProcess, { onGranted, onRecorded, road }: Road): SendQueue["Service"] => {
    const begun = <A>(operation: string, apply: Effect.Effect<A, StoreUnavailable>) =>
      noted(clock, apply, (applied) => road(operation, applied))
    return {
      ...inner,
      take: (entry) =>
        road(
          "take",
          Effect.tap(inner.take(entry), ({ mails }) =>
            Effect.sync(() => {
              noteOrder(mails.map(({ id }) => id))
              for (const { id, waitMs } of mails) {
                const request = asked.get(id)
                if (request === undefined) continue
                // Afterwards the database's clock may step back.
                request.isEarly ??= databaseClock.currentTimeMillisUnsafe() + waitMs < request.sendAt
              }
            })
          )
        ),
      renew: (held, leaseMs) => road("renew", inner.renew(held, leaseMs)),
      begin: (entry) =>
        begun(
          "begin",
          Effect.tap(inner.begin(entry), ({ decision, evidence }) =>
            Effect.map(CallTrace, ({ subject }) => {
              chronicle.saw(`queue begins ${decision._tag}`)
              if (
                decision._tag === "Claimed" &&
                subject !== undefined &&
                evidence === undefined &&
                continuation(decision) === "ask"
              )
                onGranted(subject, decision.sticky === undefined)
            })
          )
        ),
      beginRetry: (entry) => begun("beginRetry", inner.beginRetry(entry)),
      token: (pace) => road("token", inner.token(pace)),
      move: (move) =>
        road(
          "move",
          Effect.tap(inner.move(move), (moved) =>
            Effect.sync(() => {
              chronicle.saw(moved === undefined ? "queue passed on" : `queue moves to ${move.state}`)
              if (moved === undefined || move.record === undefined) return
              onRecorded(move.record, move.writesRow ? moved.sendId : undefined)
              const request = asked.get(move.id)
              if (move.result === null || request === undefined) return
              options.onReport({
                subject: request.subject,
                process: process.id,
                from: now(),
                at: now(),
                claimed: true,
                result: move.result
              })
            })
          )
        )
    }
  }

  const cancel = (id: QueueId) =>
    Effect.gen(function* () {
      const state = yield* Effect.orDie(inItsTime(inner.cancel(id)))
      chronicle.saw(`cancel finds ${state}`)
      const request = asked.get(id)
      if (state === "cancelled" && request !== undefined) request.cancelledAt ??= now()
    })

  return {
    isOn,
    asked,
    /** What the sender of a process is made of, beside what its mailer is. */
    connect: <R>(process: SimProcess, outside: Context.Context<R>, road: Road) =>
      outside.pipe(
        Context.add(SendQueue, queueOf(process, road)),
        Context.add(QueueConfig, { concurrency: 4, maxAgeMs: 24 * 3_600_000, paces })
      ),
    /** Takes and sends, until the process dies. */
    consume: (process: SimProcess, queue: SendQueue["Service"], sender: QueueSender["Service"]) => {
      const take = Effect.gen(function* () {
        const { mails } = yield* queue.take({ paces, primary: first, limit: 4, leaseMs: LEASE_MS })
        for (const mail of mails)
          yield* Effect.forkDetach(traced(sender.send(mail), asked.get(mail.id)?.subject))
      })
      let idle = 0
      return repeatedly(
        process,
        // Where nothing was due for a while it looks less often: most of a run is such looks.
        () => chance.int(200, 1_500) * Math.min(longestIdle, 1 + Math.floor((idle * longestIdle) / 64)),
        take,
        () => {
          const isDue = queued().some(
            ({ dueAt }) => dueAt !== undefined && dueAt <= databaseClock.currentTimeMillisUnsafe() + LEASE_MS
          )
          idle = isDue ? 0 : idle + 1
          return isDue
        }
      ).pipe(Effect.provideService(Clock.Clock, process.clock), Effect.forkDetach)
    },
    /** Queues a mail; a lost answer is asked for again. */
    enqueue: (key: string, subject: string, isAlone: boolean, delayMs: number, mail?: QueuedMail) =>
      Effect.gen(function* () {
        const sendAt = databaseClock.currentTimeMillisUnsafe() + delayMs
        const { category, to } = mail ?? {
          to: "a@x.test",
          category: chance.pick(["auth", "transactional", "marketing"] as const)
        }
        const request = {
          to,
          subject,
          text: "t",
          category,
          source: "api:simulation",
          idempotencyKey: key,
          ...(delayMs > 0 ? { sendAt: new Date(sendAt).toISOString() } : {})
        }
        const answer = yield* Effect.result(
          inItsTime(inner.enqueue([{ request, payloadHash: `${key} ${subject}` }]))
        )
        if (answer._tag === "Failure") return undefined
        const id = answer.success[0]?.id
        if (id === undefined) return undefined
        if (!asked.has(id))
          asked.set(id, {
            id,
            subject,
            to,
            lane: QUEUE_ORDER.indexOf(category),
            isUndone: false,
            isAlone,
            sendAt,
            isEarly: undefined,
            cancelledAt: undefined
          })
        return id
      }),
    /** The transaction of a request is rolled back. */
    undo: (id: QueueId) =>
      Effect.suspend(() => {
        const request = asked.get(id)
        if (request !== undefined) request.isUndone = true
        return Effect.orDie(inItsTime(inner.cancel(id)))
      }),
    sendsUncommitted: bug === "queue-sends-uncommitted",
    cancel,
    /** A person is erased: what waits for them is cancelled, as `erase_queued_person` does. */
    forget: (email: string) =>
      Effect.forEach(
        [...asked.values()].filter(({ to }) => to === email),
        ({ id }) => cancel(id),
        { discard: true }
      ),
    disorder,
    /** Q5: over any second the queue asks at most at its rate, and once more. */
    paceViolations: (attempts: ReadonlyArray<Attempt>): ReadonlyArray<string> => {
      if (rate === 0) return []
      const alone = new Set([...asked.values()].flatMap(({ isAlone, subject }) => (isAlone ? [subject] : [])))
      const times = attempts
        .filter(({ provider, subject }) => provider === first && alone.has(subject))
        .map(({ startedAt }) => startedAt)
        .toSorted((a, b) => a - b)
      const from = times.find(
        (at, index) => (times[index + rate + 1] ?? Number.POSITIVE_INFINITY) < at + 1000
      )
      return from === undefined
        ? []
        : [`Q5: more than ${rate + 1} requests to ${first} in the second after ${from}`]
    },
    /** Q1, Q2 and Q3: every request has an end that is true, what was cancelled is not sent, and nothing goes before its time. */
    violations: (attempts: ReadonlyArray<Attempt>): ReadonlyArray<string> =>
      queued().flatMap((row) => {
        const request = asked.get(row.id)
        if (request === undefined) return []
        const own = attempts.filter(({ subject }) => subject === request.subject)
        const found: Array<string> = []
        const { cancelledAt, isAlone, isEarly, isUndone, subject } = request
        if (row.endedAt === undefined) found.push(`Q1: ${subject} is ${row.state} for ever`)
        if (!isAlone) return found
        if (isUndone && own.length > 0) found.push(`Q1: ${subject} was rolled back, and a provider was asked`)
        const isDelivered = own.some(({ delivered }) => delivered)
        if (row.state === "sent" && !isDelivered)
          found.push(`Q1: ${subject} is sent, and no provider accepted it`)
        const isCertain =
          row.state === "failed" && row.result?.status === "failed" && row.result.kind !== "ambiguous"
        if (isCertain && isDelivered)
          found.push(`Q1: ${subject} ended as certainly not sent, and a provider has it`)
        const isSetAside = row.error?.includes(SET_ASIDE) === true
        if (row.endedAt !== undefined && row.state === "failed" && own.length === 0 && !isSetAside)
          found.push(`Q1: ${subject} ended failed unasked: ${row.error ?? ""}`)
        if (
          cancelledAt !== undefined &&
          own.some(({ delivered, startedAt }) => delivered || startedAt > cancelledAt)
        )
          found.push(`Q2: ${subject} was cancelled at ${cancelledAt}, and sent`)
        if (isEarly === true) found.push(`Q3: ${subject} was sent before its time`)
        return found
      })
  }
}
export type Queueing = ReturnType<typeof makeQueueing>

/** A caller that queues a mail, asks again as one whose answer was lost, and may cancel it. */
export const queueingClient = (
  {
    chance,
    isMixed,
    mail,
    queueing
  }: {
    readonly chance: Chance
    readonly isMixed: boolean
    readonly mail?: QueuedMail
    readonly queueing: Queueing
  },
  key: string,
  roughMs: number,
  mostWorkMs = 60_000
) =>
  Effect.gen(function* () {
    const subject = mail === undefined ? key : `${mail.category} ${key}`
    const enqueue = (waitMs: number) => queueing.enqueue(key, subject, !isMixed, waitMs, mail)
    yield* Effect.sleep(chance.int(0, roughMs / 2))
    const delayMs = chance.bool(0.3) ? chance.int(1_000, 600_000) : 0
    const isUndone = chance.bool(0.15)
    const workMs = chance.int(0, mostWorkMs)
    const early = queueing.sendsUncommitted ? yield* enqueue(delayMs) : undefined
    yield* Effect.sleep(workMs)
    if (isUndone && early !== undefined) yield* queueing.undo(early)
    if (isUndone) return
    const id = early ?? (yield* enqueue(delayMs))
    if (id === undefined) return
    if (chance.bool(0.3)) yield* enqueue(delayMs)
    if (!chance.bool(0.3)) return
    yield* Effect.sleep(chance.int(0, 120_000))
    yield* queueing.cancel(id)
  })
