import { Clock, Context, Deferred, Effect, Exit, Layer, Scope } from "effect"

import * as MailTemplates from "../../../src/adapters/mail-templates/mail-templates.ts"
import {
  makeAlarmBoard,
  NOTHING,
  type MemoryMeasures
} from "../../../src/adapters/memory/delivery/alarm-board.ts"
import * as MemoryPreferences from "../../../src/adapters/memory/delivery/alert-preferences.ts"
import * as MemoryDeliveryLog from "../../../src/adapters/memory/delivery/delivery-log.ts"
import * as MemoryPoll from "../../../src/adapters/memory/delivery/event-poll.ts"
import { type DeferBroker, makeDeferBroker } from "../../../src/adapters/memory/mail/defer-queue.ts"
import { makeDeferrals } from "../../../src/adapters/memory/mail/deferrals.ts"
import { type MailDatabase, makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import type { EventEntry } from "../../../src/adapters/memory/mail/tables.ts"
import { layer as layerAlarms, watchAlarms } from "../../../src/application/delivery/alarms.ts"
import { AlertConfig } from "../../../src/application/delivery/alert-ways.ts"
import { Alerts, layer as layerAlerts, sweepAlerts } from "../../../src/application/delivery/alerts.ts"
import { EventRecording, layer as layerRecording } from "../../../src/application/delivery/event-recording.ts"
import { EventPoll, layer as layerPoll } from "../../../src/application/delivery/poll.ts"
import { layer as layerMailer, Mailer } from "../../../src/application/mail/mailer.ts"
import { RetryWatch } from "../../../src/application/mail/retry-watch.ts"
import { layer as layerRetry, RetryHandler } from "../../../src/application/mail/retry.ts"
import { MailerConfig } from "../../../src/application/mail/sending.ts"
import { layer as layerSender, QueueSender } from "../../../src/application/send-queue/sender.ts"
import { CALM_MS } from "../../../src/domain/delivery/alarm-rules.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import { AlarmBoard } from "../../../src/ports/delivery/alarm-board.ts"
import { AlertPreferences, ChatFailure, Chats } from "../../../src/ports/delivery/alert-channels.ts"
import { DeliveryLog } from "../../../src/ports/delivery/delivery-log.ts"
import { ListFailure, PollLog, SentMails } from "../../../src/ports/delivery/event-poll.ts"
import { DeferQueue } from "../../../src/ports/mail/defer-queue.ts"
import { Deferrals } from "../../../src/ports/mail/deferrals.ts"
import { MailProviders } from "../../../src/ports/mail/mail-provider.ts"
import { MailStore } from "../../../src/ports/mail/mail-store.ts"
import { SendQueue } from "../../../src/ports/mail/send-queue.ts"
import { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { mailerConfig } from "../../support/mailer-config.ts"
import { type Chance, makeChance, type SimClock } from "../kernel.ts"
import { type Attempt, makeProviderModel, type Mood, type ProviderModel } from "../mail/provider-model.ts"
import { makeQueueing, type Queueing } from "../mail/queue.ts"
import {
  alive,
  call,
  makeProcess,
  noted,
  orNowAndThen,
  repeatedly,
  type Road,
  type SimProcess,
  traced
} from "../process.ts"
import { isSimulated, type SimProvider } from "../providers.ts"
import { simCrypto } from "../sim-crypto.ts"
import { type Chronicle, makeChronicle, type RunOptions } from "../world.ts"
import {
  breakAlerts,
  breakBoard,
  breakDatabase,
  breakDeferrals,
  breakDeliveryLog,
  breakEvent,
  breakQueue,
  type Bug,
  BUGS
} from "./bugs.ts"
import { type Hooks, makeHooks } from "./hooks.ts"
import { BASE_URL, hasNews, type Ledger, makeLedger, watched } from "./ledger.ts"
import { listOf, liveOn, notificationOf, type VendorEvent, type VendorMail } from "./vendor.ts"

/** Faults of this world; each draws its chances whether or not it happens. */
export const FAULTS = [
  "kill",
  "freeze",
  "database loses requests",
  "database loses answers",
  "database is slow",
  "provider breaks",
  "notifications are lost on the way",
  "notifications are late",
  "notifications come twice",
  "notifications never come",
  "list does not answer",
  "chat refuses",
  "chat loses answers",
  "event hooks",
  "send queue"
] as const
type Fault = (typeof FAULTS)[number]

export const ALERT_INBOX = "alerts@postlane.test"

/** What a provider waits before it notifies again, milliseconds; after the last time it gives up. */
const NOTIFY_AGAIN_MS = [5_000, 300_000, 1_800_000, 7_200_000]
/** How long it waits for an answer. */
const ANSWER_WITHIN_MS = 15_000

/** A process of this world: it sends, retries, takes notifications, polls, sweeps and watches. */
export interface DeliveryProcess extends SimProcess {
  readonly mailer: Mailer["Service"]
  readonly deferrals: Deferrals["Service"]
  readonly notify: (mail: VendorMail, event: VendorEvent) => Effect.Effect<boolean>
}

/** Everything that lives outside the simulated processes, and survives them. */
export interface DeliveryWorld {
  readonly chance: Chance
  readonly happens: (fault: Fault) => boolean
  readonly chronicle: Chronicle
  readonly database: MailDatabase
  /** Lets the ledger see what people did to the database. */
  readonly look: Effect.Effect<void>
  readonly broker: DeferBroker
  readonly ledger: Ledger
  readonly hooks: Hooks
  readonly queueing: Queueing
  readonly mails: Array<VendorMail>
  readonly processes: Array<DeliveryProcess>
  readonly providers: Readonly<Record<SimProvider, ProviderModel>>
  readonly measures: MemoryMeasures["Service"]
  readonly calm: { now: boolean }
  readonly spawn: Effect.Effect<void>
  /** A mail that somebody sends by hand, past the library. */
  readonly sendByHand: Effect.Effect<void>
}

const CALM: Road = { requestLost: 0, responseLost: 0, slow: 0, slowMs: 2, lostAfterMs: 100 }

const lost = (operation: string) =>
  new StoreUnavailable({ operation, reason: "connection lost", isRetryable: true, cause: undefined })

/** The world of a seed. `bug`: one of {@link Bug}, planted. */
export const makeWorld = (
  seed: number,
  { bug, limits, story }: RunOptions,
  kernelClock: SimClock
): DeliveryWorld => {
  const chance = makeChance(seed + 2_000_003)
  const faults: ReadonlySet<string> = new Set(limits.faults)
  const happens = (fault: Fault) => faults.has(fault)
  const share = (fault: Fault, often: number) => (happens(fault) ? often : 0)
  const planted = BUGS.find((name): name is Bug => name === bug)
  const chronicle = makeChronicle(story === true, kernelClock)
  const { note, saw } = chronicle
  const calm = { now: false }
  const ledger = makeLedger()
  const hooks = makeHooks({
    seed,
    bug: planted,
    clock: kernelClock,
    chronicle,
    isOn: happens("event hooks"),
    calm,
    roadToStore: () => roadToStore(),
    lost: () => lost("event hooks")
  })
  const { database, look } = watched(hooks.telling(breakDatabase(planted, makeMailDatabase())), ledger)
  const broker = makeDeferBroker({ visibilitySeconds: 60 })
  const measures = { now: NOTHING }
  const board = breakBoard(planted, makeAlarmBoard(measures))
  const mails: Array<VendorMail> = []
  const processes: Array<DeliveryProcess> = []
  /** Small pages leave gaps; large ones show every mail at each poll. */
  const pageSize = chance.pick([4, 50])
  let serial = 0

  const roadToStore = (): Road =>
    calm.now
      ? CALM
      : {
          requestLost: share("database loses requests", 0.05),
          responseLost: share("database loses answers", 0.05),
          slow: share("database is slow", 0.05),
          slowMs: 6_000,
          lostAfterMs: chance.bool(0.5) ? 100 : 9_000
        }
  const mood = (): Mood =>
    calm.now
      ? { rejects: 0, unavailable: 0, breaksBefore: 0, breaksAfter: 0 }
      : {
          rejects: share("provider breaks", 0.03),
          unavailable: share("provider breaks", 0.1),
          breaksBefore: share("provider breaks", 0.2),
          breaksAfter: share("provider breaks", 0.1)
        }

  /** One notification, until a process answers it with success or the provider gives up. */
  const notifyUntilAcknowledged = (mail: VendorMail, event: VendorEvent) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const late = chance.bool(0.3) && happens("notifications are late") ? chance.int(0, 900_000) : 0
      yield* Effect.sleep(Math.max(1, event.at - now) + late)
      for (const again of [...NOTIFY_AGAIN_MS, 0]) {
        const process = chance.pick(processes.filter(({ dead }) => !dead))
        const onWay = !calm.now && chance.bool(share("notifications are lost on the way", 0.1))
        const answered = yield* onWay
          ? Effect.as(Effect.sleep(ANSWER_WITHIN_MS), false)
          : Effect.raceFirst(
              process.notify(mail, event),
              Effect.raceFirst(
                Effect.as(Deferred.await(process.died), false),
                Effect.as(Effect.sleep(ANSWER_WITHIN_MS), false)
              )
            )
        if (onWay) saw("notification lost on the way")
        if (answered) return
        if (again === 0) return saw("provider gave up notifying")
        yield* Effect.sleep(again)
      }
    })

  const accept = (mail: Omit<VendorMail, "events">) =>
    Effect.gen(function* () {
      const lived = liveOn(chance, mail, {
        lateMs: 600_000,
        silent: mail.provider === "provider_a" ? share("notifications never come", 0.1) : 0
      })
      mails.push(lived)
      for (const event of lived.events) {
        saw(`fate ${event.name}`)
        if (event.silent) {
          saw("notification never comes")
          continue
        }
        const copies = chance.bool(share("notifications come twice", 0.2)) ? 2 : 1
        for (let copy = 0; copy < copies; copy++)
          yield* Effect.forkDetach(notifyUntilAcknowledged(lived, event))
      }
    })

  const provider = (name: Provider) =>
    makeProviderModel({
      provider: name,
      chance,
      clock: kernelClock,
      mood,
      road: () => ({ ...CALM, slow: 0.05, slowMs: 2_000 }),
      onAttempt: (attempt) => ledger.attempted(attempt, attempt.askedAt),
      onAccepted: (attempt: Attempt, messageId) =>
        Effect.gen(function* () {
          ledger.accepted(attempt)
          note(
            () => `${name} accepts ${attempt.subject} for ${attempt.recipients.join(", ")} as ${messageId}`
          )
          yield* accept({
            provider: name,
            messageId,
            keyTag: attempt.keyTag ?? undefined,
            to: attempt.to,
            recipients: attempt.recipients,
            subject: attempt.subject,
            sentAt: yield* Clock.currentTimeMillis
          })
        })
    })
  const providers = { provider_a: provider("provider_a"), provider_b: provider("provider_b") }

  const sendByHand = Effect.gen(function* () {
    const user = `u${chance.int(0, 4)}@x.test`
    const messageId = `by-hand-${serial++}`
    saw("mail sent by hand")
    yield* accept({
      provider: "provider_a",
      messageId,
      keyTag: undefined,
      to: [user],
      recipients: [user],
      subject: "by hand",
      sentAt: yield* Clock.currentTimeMillis
    })
  })

  const settings = { ...mailerConfig, primary: chance.pick<Provider>(["provider_a", "provider_b"]) }
  const queueing = makeQueueing({
    clock: kernelClock,
    database,
    databaseClock: kernelClock,
    chronicle,
    chance: makeChance(seed + 11_000_003),
    isOn: happens("send queue"),
    pair: [settings.primary, settings.primary],
    bug: planted === "queue-cancel-loses" ? "queue-cancels-what-is-sent" : undefined,
    onReport: () => undefined,
    longestIdle: 60
  })
  const broken = {
    ...database,
    recordEvent: (entry: EventEntry) => database.recordEvent(breakEvent(planted, entry))
  }
  const shared = Effect.runSync(
    Effect.scoped(
      Layer.build(
        Layer.mergeAll(MemoryDeliveryLog.layer(broken), MemoryPoll.layer(database), MemoryPreferences.layer)
      )
    )
  )
  const [deliveryLog, pollLog] = [Context.get(shared, DeliveryLog), Context.get(shared, PollLog)]
  const deferrals = breakDeferrals(planted, makeDeferrals(database))

  const roadOf =
    (process: SimProcess) =>
    <A, E>(operation: string, apply: Effect.Effect<A, E>) =>
      // Each try finds the road as it is then.
      Effect.suspend(() =>
        call(process, chance, roadToStore(), apply, () => {
          saw(`${operation} lost`)
          return lost(operation)
        })
      )

  /** What a process sees of the outside, each on a road of its own. */
  const outsideOf = (process: SimProcess, queue: DeferQueue["Service"]) => {
    const road = roadOf(process)
    /** Notes when the database answered this call's look-up: what was blocked by then must not be sent. */
    const asked = <A, E>(operation: string, apply: Effect.Effect<A, E>) =>
      noted(kernelClock, apply, (applied) => road(operation, applied))
    const { store } = database
    const connected = {
      provider_a: providers.provider_a.connect(process),
      provider_b: providers.provider_b.connect(process)
    }
    const log = breakDeliveryLog(planted, deliveryLog)
    return simCrypto(chance).pipe(
      Context.add(MailerConfig, settings),
      Context.add(AlertConfig, { email: ALERT_INBOX, baseUrl: BASE_URL }),
      Context.add(
        MailStore,
        MailStore.of({
          configured: true,
          begin: (entry) => asked("begin", store.begin(entry)),
          moveClaim: (entry) => road("moveClaim", store.moveClaim(entry)),
          findEvidence: (entry) => road("findEvidence", store.findEvidence(entry)),
          deferralEnd: (entry) => road("deferralEnd", store.deferralEnd(entry)),
          beginRetry: (entry) => asked("beginRetry", store.beginRetry(entry)),
          record: (entry) => road("record", store.record(entry)),
          tagSecret: store.tagSecret,
          noteUnclaimed: (count) => road("noteUnclaimed", store.noteUnclaimed(count)),
          noteSign: (...sign) => road("noteSign", store.noteSign(...sign))
        })
      ),
      Context.add(
        DeliveryLog,
        DeliveryLog.of({
          record: (event, options) => road("record event", log.record(event, options)),
          heard: () => Effect.void,
          mailOfReport: (mail, addresses) => road("report's mail", log.mailOfReport(mail, addresses)),
          traceparent: (sendId) => log.traceparent(sendId),
          releaseAlert: (sendId, taken) => road("release alert", log.releaseAlert(sendId, taken)),
          confirmAlert: (sendId) => road("confirm alert", log.confirmAlert(sendId)),
          claimDueAlert: road("claim alert", log.claimDueAlert)
        })
      ),
      Context.add(
        PollLog,
        PollLog.of({
          known: (ids, of) => road("poll's look-up", pollLog.known(ids, of)),
          position: road("poll's position", pollLog.position),
          savePosition: (position, version) =>
            road("poll's position", pollLog.savePosition(position, version))
        })
      ),
      Context.add(SentMails, {
        page: (after) =>
          call(
            process,
            chance,
            { ...CALM, requestLost: calm.now ? 0 : share("list does not answer", 0.1) },
            listOf(mails, pageSize)(after),
            () => new ListFailure({ kind: "unavailable", message: "connection lost" })
          )
      }),
      Context.add(Chats, {
        chat: {
          configured: true,
          post: (text) =>
            call(
              process,
              chance,
              {
                ...CALM,
                requestLost: calm.now ? 0 : share("chat refuses", 0.3),
                responseLost: calm.now ? 0 : share("chat loses answers", 0.1)
              },
              Effect.sync(() => {
                ledger.posted(text)
                note(
                  () =>
                    `the chat takes from ${process.id}: ${text.split("\n\n")[1]} ${/Send id: .*/.exec(text)?.[0] ?? ""}`
                )
              }),
              () => {
                saw("chat lost")
                return new ChatFailure({ message: "connection lost" })
              }
            )
        }
      }),
      Context.add(
        AlarmBoard,
        AlarmBoard.of({
          measure: road("measure", board.measure),
          read: road("read alarms", board.read),
          clock: road("read the clock", board.clock),
          noteClock: (entry) => road("note a clock", board.noteClock(entry)),
          change: (change) =>
            road(
              "change alarm",
              Effect.tap(board.change(change), (moved) =>
                Effect.sync(() => ledger.alarmChanged(change, moved))
              )
            ),
          claimNotice: road("claim notice", board.claimNotice),
          confirmNotice: (notice) =>
            road(
              "confirm notice",
              Effect.tap(board.confirmNotice(notice), () => Effect.sync(() => ledger.noticeConfirmed(notice)))
            ),
          releaseNotice: (notice, taken) => road("release notice", board.releaseNotice(notice, taken))
        })
      ),
      Context.add(DeferQueue, {
        ...queue,
        enqueue: (message, delay) => road("enqueue", queue.enqueue(message, delay)),
        putBack: (message, delay) => road("put back", queue.putBack(message, delay))
      }),
      Context.add(MailProviders, { get: (name) => (isSimulated(name) ? connected[name] : undefined) }),
      Context.add(RetryWatch, { lookedAt: Number.NEGATIVE_INFINITY, warned: false }),
      Context.add(AlertPreferences, Context.get(shared, AlertPreferences)),
      Context.add(Deferrals, deferrals)
    )
  }

  const alerts = Layer.effect(
    Alerts,
    Effect.map(Alerts, (one) => breakAlerts(planted, one))
  ).pipe(Layer.provide(layerAlerts))
  const programs = Layer.mergeAll(layerRetry, layerAlarms, layerPoll({ pause: "600 millis" })).pipe(
    Layer.provideMerge(layerRecording),
    Layer.provideMerge(alerts),
    Layer.provideMerge(layerMailer)
  )

  /** Whether what is measured may begin or end an alarm. */
  const mayMoveAlarms = () => {
    const isBad = measures.now !== NOTHING
    const calmBefore = kernelClock.currentTimeMillisUnsafe() - CALM_MS
    return ledger.firing.size === 0
      ? isBad
      : [...ledger.firing.values()].some((calmSince) =>
          isBad ? calmSince !== undefined : calmSince === undefined || calmSince <= calmBefore
        )
  }

  const spawn = Effect.gen(function* () {
    const process = makeProcess(`P${serial++}`, kernelClock)
    const attached = broker.attach()
    yield* Deferred.await(process.died).pipe(Effect.andThen(attached.kill), Effect.forkDetach)
    const scope = yield* Scope.make()
    const outside = outsideOf(process, attached.queue)
    const context = yield* Layer.buildWithScope(
      programs.pipe(Layer.provide(MailTemplates.layer), Layer.provideMerge(Layer.succeedContext(outside))),
      scope
    )
    if (queueing.isOn) {
      const withQueue = queueing.connect(process, outside, {
        road: roadOf(process),
        settings,
        onRecorded: (entry, row) => {
          if (row !== undefined) hooks.recorded(database, `email.${entry.outcome}`, row)
          Effect.runSync(Effect.provideService(look, Clock.Clock, kernelClock))
        },
        onGranted: () => undefined
      })
      const sender = yield* Layer.buildWithScope(
        layerSender.pipe(
          Layer.provide(
            Layer.succeedContext(
              Context.add(withQueue, SendQueue, breakQueue(planted, Context.get(withQueue, SendQueue)))
            )
          )
        ),
        scope
      ).pipe(Effect.provideService(Clock.Clock, process.clock))
      yield* queueing.consume(process, Context.get(withQueue, SendQueue), Context.get(sender, QueueSender))
    }
    const here = <A, E>(work: Effect.Effect<A, E>) =>
      Effect.andThen(alive(process), Effect.provideService(traced(work), Clock.Clock, process.clock))
    /** Once nothing fails any more, ten times less often: it only has to happen. */
    const every = <A, E>(millis: number, work: Effect.Effect<A, E>, isDue: () => boolean) =>
      repeatedly(process, () => (calm.now ? 10 : 1) * millis + chance.int(0, 5_000), work, isDue).pipe(
        Effect.provideService(Clock.Clock, process.clock),
        Effect.forkDetach
      )
    yield* every(60_000, Effect.provide(sweepAlerts, context), orNowAndThen(ledger.hasOpenAlerts))
    yield* every(
      60_000,
      Effect.provide(watchAlarms, context),
      orNowAndThen(() => ledger.hasOpenNotices() || mayMoveAlarms())
    )
    yield* every(
      120_000,
      Context.get(context, EventPoll).run,
      orNowAndThen(() => hasNews(database, mails, kernelClock.currentTimeMillisUnsafe()))
    )
    yield* attached.queue
      .consume((message) => here(Context.get(context, RetryHandler).handle(message)), { concurrency: 3 })
      .pipe(Effect.exit, Effect.provideService(Clock.Clock, process.clock), Effect.forkDetach)
    yield* hooks.dispatch(process)
    const recording = Context.get(context, EventRecording)
    processes.push(
      Object.assign(process, {
        deferrals,
        mailer: Mailer.of({ send: (request) => here(Context.get(context, Mailer).send(request)) }),
        notify: (mail: VendorMail, event: VendorEvent) =>
          Effect.gen(function* () {
            const early = !database
              .rows()
              .some(({ providerMessageId }) => providerMessageId === mail.messageId)
            if (early) saw("notification before its row")
            const work = here(recording.record(notificationOf(mail, event)))
            const done = Deferred.makeUnsafe<boolean>()
            // A provider that hangs up stops nothing: the work goes on.
            const recorded: Effect.Effect<Exit.Exit<unknown, unknown>> =
              planted === "acknowledged-before-recorded"
                ? Effect.andThen(Effect.forkDetach(work), Effect.succeed(Exit.void))
                : Effect.exit(work)
            yield* recorded.pipe(
              Effect.tap((exit) =>
                Effect.sync(() => {
                  if (Exit.isSuccess(exit)) event.acknowledged = true
                })
              ),
              Effect.tap((exit) =>
                Effect.sync(() =>
                  note(
                    () =>
                      `${process.id} ${Exit.isSuccess(exit) ? "acknowledges" : "does not take"} ${event.name} of ${mail.messageId}`
                  )
                )
              ),
              Effect.flatMap((exit) => Deferred.succeed(done, Exit.isSuccess(exit))),
              Effect.forkDetach
            )
            return yield* Deferred.await(done)
          })
      })
    )
  })

  return {
    chance,
    happens,
    chronicle,
    database,
    look,
    broker,
    ledger,
    hooks,
    queueing,
    mails,
    processes,
    providers,
    measures,
    calm,
    spawn,
    sendByHand
  }
}
