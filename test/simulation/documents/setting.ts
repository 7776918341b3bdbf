import {
  Cause,
  Clock,
  Context,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Option,
  References
} from "effect"

import { addCustomer } from "../../../src/adapters/memory/accounts/accounts.ts"
import { layer as layerCustomers } from "../../../src/adapters/memory/accounts/customers.ts"
import { layer as layerIdentities } from "../../../src/adapters/memory/conversion/store-identities.ts"
import type { ChunkRow } from "../../../src/adapters/memory/documents/rows.ts"
import { type Documents, makeDocuments, micros } from "../../../src/adapters/memory/documents/state.ts"
import { makeLeases } from "../../../src/adapters/memory/leadership.ts"
import { layer as layerCalls, RepeatableCalls } from "../../../src/application/accounts/repeatable-calls.ts"
import { BatchControls } from "../../../src/application/batch/controls.ts"
import { pollTick, prepareTick, purgeBatches, releaseTick } from "../../../src/application/batch/driver.ts"
import { BatchReplay } from "../../../src/application/batch/replay.ts"
import { Conversions, createQueuedJobs } from "../../../src/application/conversion/conversions.ts"
import { purgeFiles, Uploads } from "../../../src/application/conversion/uploads.ts"
import type { WorkSettings } from "../../../src/application/conversion/work/attempt.ts"
import { workOnce } from "../../../src/application/conversion/work/worker.ts"
import {
  ConvertByEmail,
  layer as layerConvertByEmail
} from "../../../src/application/inbound/convert-by-email.ts"
import { staleAfter } from "../../../src/application/leased-work.ts"
import { onOwnStores, OwnStores } from "../../../src/application/own-stores.ts"
import { HOLD_WINDOW, isTerminal, MAX_CHUNK_ATTEMPTS } from "../../../src/domain/conversion/job.ts"
import { CustomerId } from "../../../src/domain/ids.ts"
import { Customers } from "../../../src/ports/accounts/customers.ts"
import { RequestKeys } from "../../../src/ports/accounts/request-keys.ts"
import { BatchService, BatchServiceError } from "../../../src/ports/batch/batch-service.ts"
import { BatchStore } from "../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { PageSources } from "../../../src/ports/conversion/page-sources.ts"
import { VisionModel } from "../../../src/ports/conversion/vision-model.ts"
import { IntakeStore } from "../../../src/ports/inbound/intake-store.ts"
import { BatchObjects, FileObjects, MailObjects, ObjectStoreError } from "../../../src/ports/object-store.ts"
import { StoreIdentities } from "../../../src/ports/store-identities.ts"
import { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { type Chance, makeChance, type SimClock } from "../kernel.ts"
import { alive, call, makeProcess, orNowAndThen, repeatedly, type Road, type SimProcess } from "../process.ts"
import { simCrypto } from "../sim-crypto.ts"
import { type Chronicle, makeChronicle, type RunOptions } from "../world.ts"
import { makeVendor, type VendorJob } from "./batch-vendor.ts"
import {
  breakBatches,
  breakChannel,
  breakConversions,
  breakCustomers,
  breakIntake,
  breakKeys,
  breakRequests,
  breakService,
  type Bug,
  BUGS
} from "./bugs.ts"
import {
  type Ledger,
  makeLedger,
  overRoads,
  watchedBatches,
  watchedConversions,
  watchedCustomers
} from "./ledger.ts"
import { makeMailSurroundings, type SentMail, watchedIntake } from "./mails.ts"
import { makeModel, type ReportedTokens } from "./model.ts"
import { objectsOver } from "./objects.ts"
import { builtOn, ownBatchStore, watchedReplay } from "./own-stores.ts"
import { pageSourcesOver, readersOf } from "./papers.ts"
import { makeTurns } from "./turns.ts"

/** Faults of this world; each draws its chances whether or not it happens. */
export const FAULTS = [
  "kill",
  "freeze",
  "stop",
  "database loses requests",
  "database loses answers",
  "database is slow",
  "objects lose requests",
  "objects lose answers",
  "model throttles",
  "model refuses",
  "model spoils answers",
  "model is slow",
  "batch service throttles",
  "batch service refuses",
  "batch service loses answers",
  "batch service forgets",
  "batch jobs end badly",
  "batch jobs hang",
  "batch records are spoilt",
  "batch output is late",
  "budget is spent",
  "pipeline is away",
  "replies are refused",
  "replies are deferred",
  "replies lose answers",
  "a worker lacks the batch store",
  "no model answers",
  "admins give and take credits",
  "admins retry",
  "readers crash",
  "pipeline is slow"
] as const
export type Fault = (typeof FAULTS)[number]

type OwnStoresService = (typeof OwnStores)["Service"]

type Role = "api" | "worker" | "leader" | "intake"

/** What a process of the front does for owners. */
interface Front {
  readonly uploads: Uploads["Service"]
  readonly conversions: Conversions["Service"]
  readonly controls: BatchControls["Service"]
  readonly deleteFile: ConversionStore["Service"]["deleteFile"]
  readonly customers: Customers["Service"]
  readonly calls: RepeatableCalls["Service"]
}

/** A process of this world. */
export interface DocumentsProcess extends SimProcess {
  readonly role: Role
  /** Undefined: owners do not reach this process. */
  readonly front: Front | undefined
  /** Takes a mail in; undefined: this process takes none. */
  readonly accept: ConvertByEmail["Service"]["accept"] | undefined
  /** Runs work as this process does it, until it dies. */
  readonly here: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A | undefined, E>
  /** SIGTERM: its work is interrupted, and may release what it holds. */
  readonly stop: Effect.Effect<void>
}

/** A call that its caller repeats under one key: the ids that its attempts had, and what they were answered. */
export interface RepeatedCall {
  readonly name: string
  readonly ids: Set<string>
  readonly answers: Set<string>
}

/** Everything that lives outside the simulated processes, and survives them. */
export interface DocumentsWorld {
  readonly chance: Chance
  readonly happens: (fault: Fault) => boolean
  readonly chronicle: Chronicle
  readonly db: Documents
  readonly objects: Map<string, Uint8Array>
  readonly ledger: Ledger
  readonly processes: Array<DocumentsProcess>
  readonly owners: ReadonlyArray<CustomerId>
  /** Mails that were sent, and the ids of the deliveries that were accepted. */
  readonly sentMails: Array<SentMail>
  readonly accepted: Set<string>
  /** Keys of the replies that went out. */
  readonly delivered: () => ReadonlyArray<string>
  readonly batchJobs: ReadonlyArray<VendorJob>
  /** Each answer that a model reported to a process. */
  readonly reported: ReadonlyArray<ReportedTokens>
  /** Processes that may not have booked all that they heard. */
  readonly forgetful: Set<string>
  readonly calm: { now: boolean }
  readonly budget: { usd: number | undefined }
  /** What every call of a model is answered, as long as that is so. */
  readonly models: { all: "answer" | "refuse" | "throttle" }
  /** What was asked for under keys. */
  readonly repeats: Array<RepeatedCall>
  /** Jobs that an admin had tried again, of which the first was free of charge. */
  readonly retriedFree: Set<string>
  readonly spawn: (role: Role) => Effect.Effect<DocumentsProcess>
  /** SIGKILL; another process takes its place. */
  readonly kill: (process: SimProcess) => Effect.Effect<void>
}

const CALM: Road = { requestLost: 0, responseLost: 0, slow: 0, slowMs: 2, lostAfterMs: 100 }
const CALM_OBJECTS: Road = { ...CALM, lostAfterMs: 4_000 }
export const HEARTBEAT = Duration.seconds(12)
const STALE = staleAfter(HEARTBEAT)
export const PRICE = { inputUsdPerMtok: 1000, outputUsdPerMtok: 10_000 }
const MODEL = "m"
/** Small chunks make large documents of small ones. */
const CHUNK_PAGES = 2
const LANE = { on: true, minPages: 3, minRecords: 1 }
const DRIVER = {
  model: MODEL,
  price: PRICE,
  limits: { minRecords: 2, maxRecords: 50, maxShardBytes: 150, maxBytes: 1_000_000 },
  timeoutHours: 1,
  pollEvery: Duration.minutes(1)
}
/** How long an election holds. */
const TERM_MS = 80_000

const lost = (operation: string) =>
  new StoreUnavailable({ operation, reason: "connection lost", isRetryable: true })

/** Lines of the log that show which branch was taken. */
const BRANCHES: ReadonlyArray<readonly [RegExp, string]> = [
  [/was stranded/, "a job was stranded"],
  [/belongs to no row any more/, "an orphaned batch job is stopped"],
  [/was submitted by another driver/, "two drivers submitted one row"],
  [/another driver prepares it now/, "two drivers prepared one row"],
  [/has waited for the batch too long/, "a job waited for the batch too long"],
  [/was not done in time/, "a batch job was not done in time"],
  [/cannot be read in full/, "a batch job could not be billed in full"],
  [/the bill is too low/, "a bill is too low"],
  [/could not be collected/, "a collect failed"],
  [/falling back to the layout tier/, "no model answered a page"],
  [/a chunk has no batch results/, "batch results are not there"],
  [/batch results cannot be read/, "batch results cannot be read"]
]

const branchLogger = (saw: Chronicle["saw"]) =>
  Layer.merge(
    Layer.succeed(References.MinimumLogLevel, "Info"),
    Logger.layer([
      Logger.make(({ message }) => {
        const text = String(Array.isArray(message) ? message[0] : message)
        for (const [pattern, branch] of BRANCHES) if (pattern.test(text)) saw(branch)
      })
    ])
  )

/**
 * Whether there is anything for a kind of work. Where there is nothing it is not asked for: the answer would change nothing, and
 * most of a run would be such answers.
 */
const somethingFor = (db: Documents, clock: SimClock) => {
  const now = () => clock.currentTimeMillisUnsafe() * 1000
  const stale = micros(STALE)
  const window = micros(HOLD_WINDOW)
  /** Nobody holds it, or somebody who went silent. */
  const isFree = ({
    heartbeatAt,
    lease
  }: {
    readonly heartbeatAt: number | null
    readonly lease: string | null
  }) => lease === null || (heartbeatAt ?? 0) < now() - stale
  const isSilent = (chunk: ChunkRow) => chunk.status === "processing" && isFree(chunk)
  const isOver = (jobId: string | null) => {
    const job = db.jobs.get(jobId)
    return job !== undefined && isTerminal(job.status)
  }
  const isToWork = (chunk: ChunkRow) =>
    (chunk.status === "pending" && chunk.notBefore <= now()) || isSilent(chunk)
  return {
    workers: () =>
      db.jobs.find((job) => job.status === "assembling" && isFree(job)) !== undefined ||
      db.chunks.find(isToWork) !== undefined ||
      db.files.find((file) => file.status === "processing" && file.deletedAt === null && isFree(file)) !==
        undefined ||
      db.flyers.find(
        (flyer) => (flyer.status === "pending" || flyer.status === "processing") && isFree(flyer)
      ) !== undefined,
    upkeep: () =>
      db.chunks.find(isSilent) !== undefined ||
      db.jobs.find(({ status }) => status === "paused_budget") !== undefined ||
      db.files.find(
        ({ deletedAt, jobId, purgedAt, status }) =>
          (deletedAt !== null && purgedAt === null) || (status === "chunked_processing" && isOver(jobId))
      ) !== undefined ||
      db.holds.find(
        ({ expiresAt, jobId, state }) => state === "held" && (isOver(jobId) || expiresAt < now() + window / 2)
      ) !== undefined,
    mails: (at: "received" | "converting") => () =>
      db.mails.find((mail) => mail.step === at && mail.notBefore <= now() && isFree(mail)) !== undefined,
    replies: () =>
      db.replies.find(({ notBefore, status }) => status === "queued" && notBefore <= now()) !== undefined,
    executor: () => db.queue.find(() => true) !== undefined,
    lane: () =>
      db.jobs.find(({ status }) => status === "waiting_batch") !== undefined ||
      db.batches.find(({ state }) => state !== "closed") !== undefined
  }
}

/** A world that is measured, and not searched for faults. */
interface Measured {
  /** How often a worker without work looks for some. */
  readonly lookMs: number
  /** How long a call of the model takes, at least and at most. */
  readonly modelMs: readonly [least: number, most: number]
}

/** The world of a seed. `bug`: one of {@link Bug}, planted. */
export const makeWorld = (
  seed: number,
  { bug, limits, story }: RunOptions,
  kernelClock: SimClock,
  measured?: Measured
): DocumentsWorld => {
  const chance = makeChance(seed + 4_000_037)
  const faults: ReadonlySet<string> = new Set(limits.faults)
  const happens = (fault: Fault) => faults.has(fault)
  const calm = { now: false }
  const share = (fault: Fault, often: number) => (happens(fault) && !calm.now ? often : 0)
  const planted = BUGS.find((name): name is Bug => name === bug)
  const chronicle = makeChronicle(story === true, kernelClock)
  const { note, saw } = chronicle
  const db = makeDocuments()
  const objects = new Map<string, Uint8Array>()
  const ledger = makeLedger(db, objects, chronicle)
  const processes: Array<DocumentsProcess> = []
  const forgetful = new Set<string>()
  /** Pieces of work that each process is at. */
  const working = new Map<string, number>()
  const budget: { usd: number | undefined } = { usd: undefined }
  const models: DocumentsWorld["models"] = { all: "answer" }
  const owners = ["rich", "poor", "free"].map((id) => CustomerId.make(id))
  for (const [name, plan, credits] of [
    ["rich", "paid", 500],
    ["poor", "paid", 20],
    ["free", "free", 0]
  ] as const) {
    const id = CustomerId.make(name)
    addCustomer(db, { id, email: `${id}@x.test`, plan, credits })
    ledger.grant(id, credits)
  }
  /** Workers whose settings name no batch store. */
  const lacking = new Set<string>()
  let serial = 0

  const due = somethingFor(db, kernelClock)
  /** Once nothing fails any more, everything is done less often: it only has to happen. */
  const pace = () => (calm.now ? 5 : 1)
  const lostSoon: Road = {
    requestLost: share("database loses requests", 0.04),
    responseLost: share("database loses answers", 0.04),
    slow: share("database is slow", 0.04),
    slowMs: 8_000,
    lostAfterMs: 100
  }
  const lostLate: Road = { ...lostSoon, lostAfterMs: 9_000 }
  const roadToDatabase = (): Road => (calm.now ? CALM : chance.bool(0.5) ? lostSoon : lostLate)
  const roughObjects: Road = {
    ...CALM,
    requestLost: share("objects lose requests", 0.03),
    responseLost: share("objects lose answers", 0.03),
    lostAfterMs: 4_000
  }
  const roadToObjects = (): Road => (calm.now ? CALM_OBJECTS : roughObjects)
  const model = makeModel({
    chance,
    chronicle,
    takesMs: measured?.modelMs ?? [1_000, 15_000],
    mood: () => ({
      throttled: models.all === "throttle" ? share("no model answers", 1) : share("model throttles", 0.1),
      unavailable: share("model throttles", 0.05),
      refuses: models.all === "refuse" ? share("no model answers", 1) : share("model refuses", 0.05),
      truncates: share("model spoils answers", 0.05),
      skips: share("model spoils answers", 0.08),
      slow: share("model is slow", 0.1)
    })
  })
  const vendor = makeVendor({
    chance,
    chronicle,
    objects,
    mood: () => ({
      throttles: share("batch service throttles", 0.15),
      refuses: share("batch service refuses", 0.05),
      forgets: share("batch service forgets", 0.05),
      endsBadly: share("batch jobs end badly", 0.4),
      hangs: share("batch jobs hang", 0.15),
      spoils: share("batch records are spoilt", 0.2),
      lateOutput: share("batch output is late", 0.15)
    })
  })
  const mails = makeMailSurroundings({
    chance,
    chronicle,
    mood: () => ({
      pipelineAway: share("pipeline is away", 0.1),
      pipelineCrashes: share("pipeline is away", 0.03),
      pipelineSlow: share("pipeline is slow", 0.3),
      replyRefused: share("replies are refused", 0.1),
      replyDeferred: share("replies are deferred", 0.1),
      replyLost: share("replies lose answers", 0.15)
    }),
    broken: (channel) => breakChannel(planted, channel, () => String(serial++))
  })
  const logger = Effect.runSync(Effect.scoped(Layer.build(branchLogger(saw))))
  const readers = readersOf(objects)
  const leases = makeLeases()
  const turns = makeTurns(db, ledger.violations)
  const conversions = watchedConversions(
    turns.ofConversions(breakConversions(planted, db)),
    db,
    ledger,
    objects
  )
  const conversionStore = overRoads({
    ...conversions,
    createJob: (jobId, job) => conversions.createJob(jobId, { ...job, chunkPages: CHUNK_PAGES })
  } satisfies typeof conversions)
  const intakeStore = overRoads(
    watchedIntake(turns.ofMails(breakIntake(planted, db)), db, objects, ledger.violations)
  )
  const customerStore = overRoads(
    watchedCustomers(breakCustomers(planted, db, builtOn(db, Customers, layerCustomers)), ledger)
  )
  const requestKeys = overRoads(breakKeys(planted, db))
  const identities = overRoads(builtOn(db, StoreIdentities, layerIdentities))
  const batchStore = overRoads(watchedBatches(breakBatches(planted, db), ledger))
  const batchService = overRoads(breakService(planted, vendor.service, () => String(serial++)))
  /** Every write of the database is followed by a look at all that is there. */
  const seen = <A>(answer: A): A => {
    if (measured === undefined) ledger.look()
    return answer
  }

  /** What a process sees of the outside, each on a road of its own. */
  const outsideOf = (process: SimProcess, role: Role) => {
    const often = role === "api" ? 0.001 : 0.006
    /** Death or a freeze at this very moment. */
    const strike = () => {
      if (chance.bool(share("freeze", often))) {
        saw("SIGSTOP at a call")
        process.frozenUntil = kernelClock.currentTimeMillisUnsafe() + chance.int(1_000, 600_000)
      }
      if (!chance.bool(share("kill", often / 4)) || process.dead) return undefined
      saw("SIGKILL at a call")
      note(() => `${process.id} is killed at a call`)
      return world.kill(process)
    }
    const toDatabase = <A, E, R>(operation: string, apply: Effect.Effect<A, E, R>) => {
      const gone = () => {
        saw("database lost")
        turns.kindLost(process.id, operation)
        return lost(operation)
      }
      const watched = Effect.map(apply as Effect.Effect<A, E>, (answer) => {
        turns.kindAnswered(process.id, operation, answer, !lacking.has(process.id))
        return seen(answer)
      })
      const asked = call(process, chance, roadToDatabase(), watched, gone, strike)
      return asked as Effect.Effect<A, E, R>
    }
    const over = (store: Map<string, Uint8Array>) =>
      objectsOver(store, (operation, key, apply) => {
        const gone = () => {
          saw(`objects lost a ${operation}`)
          return new ObjectStoreError({ reason: "unavailable", key })
        }
        return call(process, chance, roadToObjects(), apply, gone, strike)
      })
    const files = over(objects)
    /** Where no setting names the batch store, a folder of the process's own is taken for it. */
    const batchFiles = lacking.has(process.id) ? over(new Map()) : files
    const early =
      planted === "charged-before-stored"
        ? {
            ...files,
            put: ((key, body, options) =>
              key.includes("result-")
                ? Effect.as(Effect.forkDetach(Effect.exit(files.put(key, body, options))), 1)
                : files.put(key, body, options)) as typeof files.put
          }
        : files
    const service = batchService(
      <A, E, R>(_: string, apply: Effect.Effect<A, E, R>) =>
        call(
          process,
          chance,
          {
            ...CALM,
            requestLost: share("batch service loses answers", 0.05),
            responseLost: share("batch service loses answers", 0.1),
            lostAfterMs: 5_000
          },
          apply as Effect.Effect<A, E>,
          () => {
            saw("batch service lost")
            return new BatchServiceError({ reason: "unavailable", message: "connection lost" })
          }
        ) as Effect.Effect<A, E, R>
    )
    const readerCrashes = () => {
      const crashes = share("readers crash", 1) > 0
      if (crashes) saw("a reader crashed")
      return crashes
    }
    const surroundings = mails.servicesOf(process, files, HEARTBEAT)
    return Context.mergeAll(simCrypto(chance), logger, readers, surroundings).pipe(
      Context.add(PageSources, pageSourcesOver(early, readerCrashes)),
      Context.add(ConversionStore, conversionStore(toDatabase)),
      Context.add(BatchStore, batchStore(toDatabase)),
      Context.add(FileObjects, early),
      Context.add(BatchObjects, batchFiles),
      Context.add(StoreIdentities, identities(toDatabase)),
      Context.add(Customers, customerStore(toDatabase)),
      Context.add(RequestKeys, requestKeys(toDatabase)),
      Context.add(MailObjects, files),
      Context.add(IntakeStore, intakeStore(toDatabase)),
      Context.add(BatchService, service),
      Context.add(VisionModel, model.connect(process))
    )
  }

  /** What a process leads with: its lease is asked for and renewed at each beat. */
  const leadership = (process: SimProcess) => {
    const claim = { name: "leader", holder: process.id }
    const held = { term: 0, until: 0 }
    const ask = <A>(apply: Effect.Effect<A, StoreUnavailable>) =>
      call(process, chance, roadToDatabase(), apply, () => lost("lease"))
    const now = () => process.clock.currentTimeMillisUnsafe()
    // One call in six is a beat: no generator.
    const beat = Effect.suspend(() => {
      const lasts = TERM_MS * pace()
      const until = now() + lasts * 0.75
      const take = () =>
        Effect.map(ask(leases.take(claim, lasts)), (term) => {
          held.until = term === undefined ? 0 : until
          if (term === undefined || term === held.term) return
          saw("a process leads")
          held.term = term
        })
      if (held.until === 0) return take()
      return Effect.flatMap(ask(leases.renew(claim, held.term, lasts)), (renewed) => {
        if (!renewed) return take()
        held.until = until
        return Effect.void
      })
    })
    const term = Effect.sync(() => (now() < held.until ? held.term : undefined))
    return { beat, term }
  }

  const spawn = (role: Role): Effect.Effect<DocumentsProcess> =>
    Effect.gen(function* () {
      const process = makeProcess(`${role}-${serial++}`, kernelClock)
      // There is always a worker that has the store: nothing else converts what has batch results.
      const isSpare = processes.some((one) => one.role === "worker" && !one.dead && !lacking.has(one.id))
      if (role === "worker" && isSpare && chance.bool(share("a worker lacks the batch store", 0.4))) {
        saw("a worker lacks the batch store")
        lacking.add(process.id)
      }
      const context = outsideOf(process, role)
      type Outside = typeof context extends Context.Context<infer Services> ? Services : never
      const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
      const run = <A, E>(work: Effect.Effect<A, E, Outside>) =>
        Effect.provideContext(Effect.provideService(work, Clock.Clock, process.clock), context)
      /** A program of this process: each is built only where it runs. */
      const started = <I, S>(key: Context.Key<I, S>, layer: Layer.Layer<I, never, Outside>) =>
        run(Effect.map(Effect.scoped(Layer.build(layer)), Context.get(key)))
      const every = <A, E>(millis: number, work: Effect.Effect<A, E, Outside>, isDue?: () => boolean) =>
        repeatedly(
          process,
          () =>
            measured === undefined || isDue === undefined
              ? pace() * millis + chance.int(0, millis / 2)
              : measured.lookMs,
          work,
          isDue
        ).pipe(
          run,
          Effect.forkDetach,
          Effect.tap((fiber) => Effect.sync(() => fibers.push(fiber)))
        )
      const leads = leadership(process)
      const leading = <A, E, R>(work: (term: number) => Effect.Effect<A, E, R>) =>
        Effect.flatMap(leads.term, (term) => (term === undefined ? Effect.void : Effect.asVoid(work(term))))
      const driver = { ...DRIVER, preparer: process.id }
      const upkeep = Effect.gen(function* () {
        const store = yield* ConversionStore
        while ((yield* store.recoverOrphan(STALE, MAX_CHUNK_ATTEMPTS)) > 0);
        yield* store.sweep(HOLD_WINDOW, STALE)
        while ((yield* store.deleteFileOfClosedAccount) > 0);
        yield* store.applyBudget(budget.usd)
        yield* purgeFiles
      })
      const settings: WorkSettings = {
        heartbeat: HEARTBEAT,
        modelId: MODEL,
        price: PRICE,
        withoutModel: planted === "unanswered-charged" ? "standard" : "fail"
      }
      const busy = (
        replay: BatchReplay["Service"],
        stores: OwnStoresService,
        work = workOnce(process.id, settings)
      ) =>
        Effect.gen(function* () {
          working.set(process.id, (working.get(process.id) ?? 0) + 1)
          const exit = yield* Effect.exit(
            Effect.gen(function* () {
              while (yield* work);
            }).pipe(Effect.provideService(BatchReplay, replay), Effect.provideService(OwnStores, stores))
          )
          working.set(process.id, (working.get(process.id) ?? 0) - 1)
          // The end of some work may not have been recorded; a claim without an answer has cost nothing.
          const failure = Exit.isFailure(exit)
            ? Option.getOrUndefined(Cause.findErrorOption(exit.cause))
            : undefined
          if (Exit.isFailure(exit) && failure?.operation.startsWith("claim") !== true)
            forgetful.add(process.id)
        })
      const withBatchStore = <A, E, R>(stores: OwnStoresService, work: Effect.Effect<A, E, R>) =>
        Effect.provideService(onOwnStores(Effect.asVoid(work), undefined), OwnStores, stores)
      /** What runs once the process has looked at its stores, which may take long, and which it may not survive. */
      const onceStarted = (begin: (stores: OwnStoresService) => Effect.Effect<void>) =>
        started(
          OwnStores,
          ownBatchStore(!lacking.has(process.id) || planted === "batch-store-not-compared")
        ).pipe(
          Effect.flatMap(begin),
          Effect.forkDetach,
          Effect.tap((fiber) => Effect.sync(() => fibers.push(fiber)))
        )
      let front: Front | undefined
      let accept: DocumentsProcess["accept"]
      switch (role) {
        case "worker": {
          const asItIs = yield* started(BatchReplay, BatchReplay.layer)
          const replay = watchedReplay(asItIs, objects, ledger.violations)
          yield* onceStarted(
            Effect.fnUntraced(function* (stores) {
              yield* every(30_000, stores.examine)
              yield* every(25_000, busy(replay, stores), due.workers)
              yield* every(25_000, busy(replay, stores), due.workers)
            })
          )
          break
        }
        case "leader":
          yield* onceStarted(
            Effect.fnUntraced(function* (stores) {
              yield* every(30_000, stores.examine)
              yield* every(30_000, leads.beat)
              yield* every(20_000, createQueuedJobs(LANE), due.executor)
              yield* every(
                40_000,
                leading(() => upkeep),
                orNowAndThen(() => budget.usd !== undefined || due.upkeep())
              )
              yield* every(
                60_000,
                withBatchStore(
                  stores,
                  leading(() => pollTick(driver))
                ),
                due.lane
              )
              yield* every(
                90_000,
                leading(() => releaseTick(driver)),
                due.lane
              )
              yield* every(
                45_000,
                withBatchStore(
                  stores,
                  leading((term) => prepareTick(driver, term))
                ),
                due.lane
              )
              yield* every(
                600_000,
                leading(() => purgeBatches)
              )
            })
          )
          break
        case "intake": {
          const intake = yield* started(ConvertByEmail, layerConvertByEmail)
          accept = intake.accept
          const all = <E>(step: Effect.Effect<boolean, E>) =>
            Effect.repeat(step, { while: (worked) => worked })
          yield* every(20_000, all(intake.admitNext), due.mails("received"))
          yield* every(20_000, all(intake.convertNext), due.mails("converting"))
          yield* every(20_000, all(intake.convertNextOfIdle), due.mails("converting"))
          yield* every(20_000, all(intake.replyNext), due.replies)
          yield* every(900_000, intake.clean)
          break
        }
        case "api":
          front = {
            uploads: yield* started(Uploads, Uploads.layer),
            conversions: breakRequests(planted, yield* started(Conversions, Conversions.layer)),
            controls: yield* started(BatchControls, BatchControls.layer),
            deleteFile: Context.get(context, ConversionStore).deleteFile,
            customers: Context.get(context, Customers),
            calls: yield* started(RepeatableCalls, layerCalls)
          }
      }
      const here: DocumentsProcess["here"] = (work) =>
        Effect.raceFirst(
          Effect.andThen(alive(process), Effect.provideService(work, Clock.Clock, process.clock)),
          Effect.as(Deferred.await(process.died), undefined)
        )
      const made: DocumentsProcess = Object.assign(process, {
        role,
        front,
        accept,
        here,
        stop: Effect.gen(function* () {
          note(() => `${process.id} is asked to stop`)
          if ((working.get(process.id) ?? 0) > 0) forgetful.add(process.id)
          yield* Effect.forEach(fibers, (fiber) => Effect.forkDetach(Fiber.interrupt(fiber)))
          yield* Effect.sleep("10 seconds")
          process.dead = true
          yield* Deferred.succeed(process.died, undefined)
        })
      })
      processes.push(made)
      return made
    }).pipe(Effect.provideService(Clock.Clock, kernelClock))

  const world: DocumentsWorld = {
    chance,
    happens,
    chronicle,
    db,
    objects,
    ledger,
    processes,
    owners,
    sentMails: [],
    accepted: new Set(),
    delivered: mails.delivered,
    batchJobs: vendor.jobs,
    reported: model.reported,
    forgetful,
    calm,
    budget,
    models,
    repeats: [],
    retriedFree: new Set(),
    spawn,
    kill: (process) =>
      Effect.gen(function* () {
        if ((working.get(process.id) ?? 0) > 0) forgetful.add(process.id)
        process.dead = true
        yield* Deferred.succeed(process.died, undefined)
        // The fiber that died here may be interrupted for it.
        yield* Effect.forkDetach(spawn(processes.find(({ id }) => id === process.id)?.role ?? "worker"))
      }).pipe(Effect.uninterruptible)
  }
  return world
}
