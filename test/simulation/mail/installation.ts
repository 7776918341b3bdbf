import { Clock, Context, Deferred, Effect, Exit, Layer, Schedule, Scope } from "effect"

import type { DeferBroker } from "../../../src/adapters/memory/mail/defer-queue.ts"
import type { MailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { layer as layerMailer, Mailer } from "../../../src/application/mail/mailer.ts"
import { RetryWatch } from "../../../src/application/mail/retry-watch.ts"
import { layer as layerRetry, RetryHandler } from "../../../src/application/mail/retry.ts"
import { MailerConfig } from "../../../src/application/mail/sending.ts"
import { layer as layerSender, QueueSender } from "../../../src/application/send-queue/sender.ts"
import { continuation } from "../../../src/domain/mail/claim.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import { DeferQueue } from "../../../src/ports/mail/defer-queue.ts"
import { MailProviders } from "../../../src/ports/mail/mail-provider.ts"
import { MailStore, type RecordSend } from "../../../src/ports/mail/mail-store.ts"
import { SendQueue } from "../../../src/ports/mail/send-queue.ts"
import type { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { storeDown } from "../../support/worlds/store-down.ts"
import type { Chance, SimClock } from "../kernel.ts"
import { alive, call, CallTrace, makeProcess, noted, type Road, type SimProcess, traced } from "../process.ts"
import { simCrypto } from "../sim-crypto.ts"
import type { Chronicle } from "../world.ts"
import { breakHandler, breakMailer, breakProvider, breakStore, type Bug, HANDLED_AT_ONCE } from "./bugs.ts"
import type { Receive, Report } from "./oracle.ts"
import type { ProviderModel } from "./provider-model.ts"
import { type Queueing } from "./queue.ts"

/** A process of an installation: it sends, and works on retries. */
export interface MailProcess extends SimProcess {
  readonly mailer: Mailer["Service"]
}

/** One installation: processes that share a database and a retry queue. */
interface Installation {
  readonly processes: Array<MailProcess>
  /** Starts a process. Nothing of it is ever closed: it can only die. */
  readonly spawn: Effect.Effect<void>
}

export interface InstallationOptions {
  /** The first letter of its processes' names. */
  readonly name: string
  readonly chance: Chance
  readonly clock: SimClock
  readonly bug: Bug | undefined
  readonly settings: MailerConfig["Service"]
  readonly database: MailDatabase
  /** The time of day of the database, and of a queue that is in it. */
  readonly databaseClock: SimClock
  readonly queueClock: SimClock
  readonly broker: DeferBroker
  readonly hasQueue: boolean
  readonly providers: ReadonlyMap<Provider, ProviderModel>
  readonly roadToStore: (process: SimProcess, writes: boolean) => Road
  readonly roadToQueue: (process: SimProcess) => Road
  readonly chronicle: Pick<Chronicle, "saw" | "note">
  readonly onRecorded: (entry: RecordSend) => void
  readonly onSilence: (subject: string) => void
  readonly onGranted: (subject: string, isNew: boolean) => void
  readonly onReport: (report: Report) => void
  readonly receives: Array<Receive>
  /** Of an installation that queues mail. */
  readonly queueing: Queueing | undefined
}

const programs = Layer.mergeAll(layerMailer, layerRetry)
const programsWithQueue = Layer.mergeAll(programs, layerSender)

/** How soon a consumer whose queue failed begins anew. */
const CONSUME_AGAIN = "5 seconds"

/** The store as a process sees it. A call that does not answer is noted for its send. */
const storeOf = (options: InstallationOptions, process: SimProcess): MailStore["Service"] => {
  const { bug, chance, chronicle, clock, database, databaseClock, onRecorded, onSilence } = options
  const { saw } = chronicle
  const inner = breakStore(bug, database.store)
  const road = <A>(operation: string, apply: Effect.Effect<A, StoreUnavailable>, writes = true) =>
    Effect.flatMap(CallTrace, ({ subject }) => {
      const taken = options.roadToStore(process, writes)
      const silent = () => subject !== undefined && onSilence(subject)
      if (taken.lateMs !== undefined) silent()
      const counted = taken.requestLost + taken.responseLost > 0 ? { ...taken, onLost: silent } : taken
      return call(
        process,
        chance,
        counted,
        Effect.provideService(apply, Clock.Clock, databaseClock),
        () => {
          saw(`store ${operation} lost`)
          return storeDown("connection lost")
        }
        // Its caller did not wait for it.
      ).pipe(Effect.onInterrupt(() => Effect.sync(silent)))
    })
  /** Notes when the database let this process send a key: proof that was there before must have stopped it (S4). */
  const asked = <A>(operation: string, apply: Effect.Effect<A, StoreUnavailable>) =>
    noted(clock, apply, (applied) => road(operation, applied))
  /** What evidence settles, or the process repeats, or is too old, asks nobody. */
  const granted = (apply: ReturnType<typeof inner.begin>, isRepeated: boolean) =>
    Effect.tap(apply, ({ decision, evidence }) =>
      Effect.map(
        CallTrace,
        ({ subject }) =>
          decision._tag === "Claimed" &&
          subject !== undefined &&
          !(isRepeated || evidence !== undefined) &&
          continuation(decision) === "ask" &&
          options.onGranted(subject, decision.sticky === undefined)
      )
    )
  return MailStore.of({
    ...inner,
    noteUnclaimed: (count) => road("noteUnclaimed", inner.noteUnclaimed(count)),
    noteSign: (provider, sign) => road("noteSign", inner.noteSign(provider, sign)),
    begin: (entry) =>
      Effect.tap(
        asked("begin", granted(inner.begin(entry), entry.claim?.known?.isSettled === true)),
        ({ decision }) =>
          Effect.sync(() => {
            const what = `${decision._tag}${decision._tag === "Claimed" && decision.takeover ? " takeover" : ""}`
            saw(`claim ${what}`)
            if (entry.claim !== undefined)
              chronicle.note(() => `${process.id} learns of ${entry.keyHash.slice(0, 6)}: ${what}`)
          })
      ),
    moveClaim: (entry) =>
      Effect.flatMap(CallTrace, (trace) => {
        let at = -Infinity
        const moved = Effect.tap(inner.moveClaim(entry), () =>
          Effect.sync(() => void (at = clock.currentTimeMillisUnsafe()))
        )
        return Effect.tap(road("moveClaim", moved), (isStored) =>
          Effect.sync(() => isStored && (trace.askedAt = at))
        )
      }),
    findEvidence: (entry) => road("findEvidence", inner.findEvidence(entry), false),
    beginRetry: (entry) =>
      Effect.tap(asked("beginRetry", inner.beginRetry(entry)), (began) =>
        Effect.sync(() => {
          saw(`retry ${began._tag}`)
          chronicle.note(
            () => `the retry at ${process.id} of ${entry.keyHash.slice(0, 6)} begins: ${began._tag}`
          )
        })
      ),
    record: (entry) =>
      road(
        "record",
        Effect.tap(inner.record(entry), () => Effect.sync(() => onRecorded(entry)))
      )
  })
}

const queueOf = (
  { chance, chronicle, hasQueue, queueClock, roadToQueue }: InstallationOptions,
  process: SimProcess,
  inner: DeferQueue["Service"]
): DeferQueue["Service"] => {
  const road = (what: string, apply: Effect.Effect<void, StoreUnavailable>) =>
    // Each try finds the road as it is then.
    Effect.suspend(() =>
      call(
        process,
        chance,
        roadToQueue(process),
        Effect.provideService(apply, Clock.Clock, queueClock),
        () => {
          chronicle.saw(`${what} lost`)
          return storeDown("connection lost")
        }
      )
    )
  return {
    ...inner,
    configured: hasQueue,
    enqueue: (message, delay) => road("enqueue", inner.enqueue(message, delay)),
    putBack: (message, delay) => {
      chronicle.saw("retry is put back")
      return road("put back", inner.putBack(message, delay))
    }
  }
}

/** Works on retries until the process dies, on the queue's time of day and the process's timers. */
const consume = (
  { chronicle, clock, queueClock, receives }: InstallationOptions,
  process: SimProcess,
  queue: DeferQueue["Service"],
  handler: RetryHandler["Service"]
) => {
  const now = () => clock.currentTimeMillisUnsafe()
  const waiting: SimClock = {
    ...process.clock,
    currentTimeMillisUnsafe: () => queueClock.currentTimeMillisUnsafe(),
    currentTimeMillis: queueClock.currentTimeMillis
  }
  return queue
    .consume(
      (message) =>
        Effect.suspend(() => {
          const receive: Receive = {
            rowId: message.rowId,
            process: process.id,
            from: now(),
            until: undefined,
            succeeded: false
          }
          receives.push(receive)
          return Effect.andThen(
            alive(process),
            traced(handler.handle(message), message.details.subject)
          ).pipe(
            Effect.provideService(Clock.Clock, process.clock),
            Effect.onExit((exit) =>
              Effect.sync(() => {
                receive.until = now()
                receive.succeeded = Exit.isSuccess(exit)
              })
            )
          )
        }),
      { concurrency: HANDLED_AT_ONCE }
    )
    .pipe(
      Effect.tapError(() => Effect.sync(() => process.dead || chronicle.saw("consumer ended"))),
      Effect.retry(Schedule.spaced(CONSUME_AGAIN)),
      Effect.exit,
      Effect.provideService(Clock.Clock, waiting),
      Effect.forkDetach
    )
}

/** The mailer as its clients reach it: each answer is noted, with whether the store had answered the call. */
const mailerOf = (
  { bug, clock, onReport }: InstallationOptions,
  process: SimProcess,
  mailer: Mailer["Service"]
): Mailer["Service"] => {
  const inner = breakMailer(bug, mailer)
  const now = () => clock.currentTimeMillisUnsafe()
  return Mailer.of({
    send: (request) =>
      Effect.suspend(() => {
        const [from, subject] = [now(), request.subject]
        const trace = { askedAt: -Infinity, claimed: false, subject }
        return Effect.andThen(alive(process), inner.send(request)).pipe(
          Effect.tap((result) =>
            Effect.sync(() =>
              onReport({ subject, process: process.id, from, at: now(), claimed: trace.claimed, result })
            )
          ),
          Effect.provideService(CallTrace, trace),
          Effect.provideService(Clock.Clock, process.clock)
        )
      })
  })
}

export const makeInstallation = (options: InstallationOptions): Installation => {
  const { broker, bug, chance, clock, name, providers, settings } = options
  const processes: Array<MailProcess> = []
  const spawn = Effect.gen(function* () {
    const process = makeProcess(`${name}${processes.length}`, clock)
    const attached = broker.attach()
    yield* Deferred.await(process.died).pipe(Effect.andThen(attached.kill), Effect.forkDetach)
    const connected = new Map(
      [...providers].map(([provider, model]) => [provider, breakProvider(bug, model.connect(process))])
    )
    const outside = simCrypto(chance).pipe(
      Context.add(MailerConfig, settings),
      Context.add(MailStore, storeOf(options, process)),
      Context.add(DeferQueue, queueOf(options, process, attached.queue)),
      Context.add(MailProviders, { get: (provider) => connected.get(provider) }),
      Context.add(RetryWatch, { lookedAt: Number.NEGATIVE_INFINITY, warned: false })
    )
    const scope = yield* Scope.make()
    const { queueing } = options
    const road = <A>(operation: string, apply: Effect.Effect<A, StoreUnavailable>) =>
      // Each try finds the road as it is then.
      Effect.suspend(() =>
        call(
          process,
          chance,
          options.roadToStore(process, true),
          Effect.provideService(apply, Clock.Clock, options.databaseClock),
          () => {
            options.chronicle.saw(`queue ${operation} lost`)
            return storeDown("connection lost")
          }
        )
      )
    if (queueing?.isOn === true) {
      const withQueue = queueing.connect(process, outside, {
        road,
        settings,
        onRecorded: options.onRecorded,
        onGranted: options.onGranted
      })
      const sender = yield* Layer.buildWithScope(
        programsWithQueue.pipe(Layer.provide(Layer.succeedContext(withQueue))),
        scope
      ).pipe(Effect.provideService(Clock.Clock, process.clock))
      yield* queueing.consume(process, Context.get(withQueue, SendQueue), Context.get(sender, QueueSender))
      yield* consume(options, process, attached.queue, breakHandler(bug, Context.get(sender, RetryHandler)))
      processes.push(
        Object.assign(process, { mailer: mailerOf(options, process, Context.get(sender, Mailer)) })
      )
      return
    }
    const context: Context.Context<Mailer | RetryHandler> = yield* Layer.buildWithScope(
      programs.pipe(Layer.provide(Layer.succeedContext(outside))),
      scope
    )
    yield* consume(options, process, attached.queue, breakHandler(bug, Context.get(context, RetryHandler)))
    processes.push(
      Object.assign(process, { mailer: mailerOf(options, process, Context.get(context, Mailer)) })
    )
  })
  return { processes, spawn }
}
