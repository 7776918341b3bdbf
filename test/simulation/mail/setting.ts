import type { Effect } from "effect"

import { type DeferBroker, makeDeferBroker } from "../../../src/adapters/memory/mail/defer-queue.ts"
import { type MailDatabase, makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import type { RecordSend } from "../../../src/ports/mail/mail-store.ts"
import { mailerConfig } from "../../support/mailer-config.ts"
import { type Chance, makeChance, type SimClock } from "../kernel.ts"
import type { Road, SimProcess } from "../process.ts"
import { type Chronicle, makeChronicle, type RunOptions } from "../world.ts"
import { type Bug, BUGS } from "./bugs.ts"
import { makeInstallation, type MailProcess } from "./installation.ts"
import type { Observed, Receive, Report } from "./oracle.ts"
import { type Attempt, makeProviderModel, type Mood, type ProviderModel } from "./provider-model.ts"
import { makeQueueing, type Queueing } from "./queue.ts"
import { announce } from "./vendor-events.ts"
import { makeWeather, type Weather } from "./weather.ts"

const VISIBILITY_SECONDS = 60
const DAY_MS = 24 * 60 * 60_000

/** Faults of this world; each draws its chances whether or not it happens, so that leaving one out moves little else. */
export const FAULTS = [
  "kill",
  "freeze",
  "provider loses requests",
  "provider loses answers",
  "provider is slow",
  "provider is unavailable",
  "provider rejects",
  "provider breaks before it accepts",
  "provider breaks after it accepted",
  "provider answers later than a lease",
  "provider has a rate",
  "database and queue lose requests",
  "database and queue lose answers",
  "database is slow",
  "store is away",
  "store is late",
  "disk is full",
  "connections are half open",
  "clocks step",
  "queue duplicates",
  "events are late",
  "events come twice",
  "events never come",
  "another installation",
  "housekeeping",
  "a day passes",
  /** No fault: what the queue does beside everything else. Seeds of before it have their stories without. */
  "send queue",
  /** No fault: two out of the four providers, of which `smtp` neither dedupes nor reports. */
  "other providers"
] as const
export type Fault = (typeof FAULTS)[number]

/** Everything that lives outside the simulated processes, and survives them. */
export interface World {
  readonly seed: number
  readonly chance: Chance
  readonly happens: (fault: Fault) => boolean
  readonly chronicle: Chronicle
  readonly database: MailDatabase
  readonly broker: DeferBroker
  readonly providers: ReadonlyMap<Provider, ProviderModel>
  readonly processes: ReadonlyArray<MailProcess>
  readonly calm: { now: boolean }
  readonly weather: Weather
  readonly spawn: Effect.Effect<void>
  /** What became of queued requests, as its callers and its providers saw it. */
  readonly queueing: Queueing
  /** What the oracle goes by. */
  readonly observed: () => Observed
  readonly receives: ReadonlyArray<Receive>
  /** Somebody else's installation: it sends through the same accounts at the providers, under the same keys. */
  readonly elsewhere: { readonly processes: ReadonlyArray<MailProcess>; readonly spawn: Effect.Effect<void> }
}

/** Chosen so that the seeds of mended faults (`REGRESSIONS`) keep their providers, and so their stories. */
const PAIR_SEED = 17_011_065

const CALM: Road = { requestLost: 0, responseLost: 0, slow: 0, slowMs: 2, lostAfterMs: 100 }
const CALM_MOOD: Mood = { rejects: 0, unavailable: 0, breaksBefore: 0, breaksAfter: 0 }

/** Pairs that stand for `provider_a` and `provider_b` in a world of other providers. */
const PAIRS: ReadonlyArray<readonly [Provider, Provider]> = [
  ["provider_a", "smtp"],
  ["provider_a", "postmark"],
  ["postmark", "smtp"],
  ["smtp", "provider_b"],
  ["smtp", "smtp"]
]

const pairOf = (chance: Chance, isOn: boolean): readonly [Provider, Provider] =>
  chance.bool(0.4) && isOn ? chance.pick(PAIRS) : ["provider_a", "provider_b"]

const config = (chance: Chance, pair: readonly [Provider, Provider]) => ({
  ...mailerConfig,
  primary: chance.pick<Provider>(pair),
  fallback: chance.pick<Provider | undefined>([...pair, undefined])
})

/** How long an account's rate looks back, milliseconds, and how many requests it allows in that; none: no rate. */
const RATES = [undefined, undefined, { perMs: 1_000, allowed: 2 }, { perMs: 20_000, allowed: 1 }] as const

/** Counts requests against an account's rate. */
const makeRate = (chance: Chance, clock: SimClock, isOn: () => boolean, saw: (what: string) => void) => {
  const rate = chance.pick(RATES)
  const taken: Array<number> = []
  return (): boolean => {
    if (rate === undefined || !isOn()) return false
    const now = clock.currentTimeMillisUnsafe()
    while (taken.length > 0 && taken[0]! <= now - rate.perMs) taken.shift()
    if (taken.length < rate.allowed) {
      taken.push(now)
      return false
    }
    saw("provider's rate refuses")
    return true
  }
}

/** What an observer notes while a run goes on. */
const makeObserver = (clock: SimClock) => {
  const now = () => clock.currentTimeMillisUnsafe()
  const reports: Array<Report> = []
  const attempts: Array<Attempt> = []
  const proofs: Array<{ readonly attempt: Attempt; readonly at: number }> = []
  const doubts: Array<{ readonly subject: string; readonly provider: Provider | null; readonly at: number }> =
    []
  const silent = new Set<string>()
  const written: Array<{ readonly subject: string; readonly at: number }> = []
  const grants: Array<{ readonly subject: string; readonly at: number; readonly isNew: boolean }> = []
  /** The attempt that made a message leave, by the message's id. */
  const accepted = new Map<string, Attempt>()
  const prove = (messageId: string | null) => {
    const attempt = messageId === null ? undefined : accepted.get(messageId)
    if (attempt !== undefined) proofs.push({ attempt, at: now() })
  }
  return {
    attempts,
    attempted: (subject: string) => attempts.filter((attempt) => attempt.subject === subject),
    reports,
    proofs,
    doubts,
    silent,
    grants,
    written,
    granted: (subject: string, isNew: boolean) => void grants.push({ subject, at: now(), isNew }),
    accepted,
    prove,
    recorded: ({ details, errorKind, outcome, provider, providerMessageId }: RecordSend) => {
      written.push({ subject: details.subject, at: now() })
      if (outcome === "sent") prove(providerMessageId)
      if (outcome === "deferred" || errorKind === "ambiguous")
        doubts.push({ subject: details.subject, provider, at: now() })
    }
  }
}

/** The world of a seed. `bug`: one of {@link Bug}, planted. */
export const makeWorld = (seed: number, { bug, limits, story }: RunOptions, clock: SimClock): World => {
  const chance = makeChance(seed + 1_000_003)
  const faults: ReadonlySet<string> = new Set(limits.faults)
  const happens = (fault: Fault) => faults.has(fault)
  const share = (fault: Fault, often: number) => (happens(fault) ? often : 0)
  const planted = BUGS.find((name): name is Bug => name === bug)
  const chronicle = makeChronicle(story === true, clock)
  const { note, saw } = chronicle
  const broker = makeDeferBroker({ visibilitySeconds: VISIBILITY_SECONDS })
  const calm = { now: false }
  const pair = pairOf(makeChance(seed + PAIR_SEED), happens("other providers"))
  const settings = config(chance, pair)
  /** Some worlds have no queue: there an ambiguous send ends failed. Half of the queues are in the database. */
  const hasQueue = chance.bool(0.8)
  const isInDatabase = chance.bool(0.5)
  const weather = makeWeather({
    chance: makeChance(seed + 7_000_003),
    clock,
    happens,
    isCalm: () => calm.now,
    saw,
    note,
    roughMs: limits.roughMinutes * 60_000,
    queue: isInDatabase ? broker : undefined
  })
  const observer = makeObserver(clock)
  const database = makeMailDatabase()
  const databases = [database, makeMailDatabase(new Uint8Array(32).fill(9))] as const

  /** Half of the worlds have a database and a queue that lose requests and answers, too. */
  const storeFails = seed % 2 === 0

  const roadToProvider = (): Road => {
    if (calm.now) return CALM
    const isLate = chance.bool(0.03) && happens("provider answers later than a lease")
    if (isLate) saw("provider answers late")
    return {
      requestLost: share("provider loses requests", 0.08),
      responseLost: share("provider loses answers", 0.12),
      slow: share("provider is slow", 0.1),
      slowMs: 20_000,
      lostAfterMs: chance.bool(0.5) ? 200 : Infinity,
      ...(isLate ? { lateMs: chance.int(5_000, 900_000) } : {})
    }
  }
  const roadToQueue = (): Road =>
    calm.now
      ? CALM
      : {
          requestLost: storeFails ? share("database and queue lose requests", 0.06) : 0,
          responseLost: storeFails ? share("database and queue lose answers", 0.06) : 0,
          slow: share("database is slow", 0.05),
          slowMs: storeFails ? 6_000 : 800,
          lostAfterMs: chance.bool(0.5) ? 100 : Infinity
        }
  const mood = (): Mood =>
    calm.now
      ? CALM_MOOD
      : {
          rejects: share("provider rejects", 0.03),
          unavailable: share("provider is unavailable", 0.15),
          breaksBefore: share("provider breaks before it accepts", 0.08),
          breaksAfter: share("provider breaks after it accepted", 0.1)
        }

  const account = (name: Provider) => ({
    isOverRate: makeRate(chance, clock, () => !calm.now && happens("provider has a rate"), saw),
    memory: new Map(),
    provider: name
  })
  const accounts = pair.map(account)
  /** An account at a provider, as one installation uses it: what it accepts, everybody hears of. */
  const provider = (name: Provider, place: number, isOurs: boolean): ProviderModel =>
    makeProviderModel({
      ...accounts[place]!,
      chance,
      clock,
      mood: isOurs ? mood : () => CALM_MOOD,
      road: isOurs ? roadToProvider : () => CALM,
      onAttempt: (attempt) => isOurs && observer.attempts.push(attempt),
      onAccepted: (attempt, messageId) => {
        note(() => `${name} accepts ${attempt.key} of ${attempt.process} as ${messageId}`)
        if (isOurs) observer.accepted.set(messageId, attempt)
        const onRecorded = (id: string) => {
          // Without a claim a later use carries the first one's tag: which day's mail an event tells of, the store cannot know.
          const isOfLaterUse =
            attempt.askedAt === -Infinity &&
            observer
              .attempted(attempt.subject)
              .some(({ startedAt }) => attempt.startedAt - startedAt > DAY_MS / 2)
          if (!isOfLaterUse) observer.prove(id)
        }
        return announce({ chance, chronicle, databases, happens, weather, onRecorded }, attempt, messageId)
      }
    })
  const modelsOf = (isOurs: boolean): ReadonlyMap<Provider, ProviderModel> =>
    new Map(pair.map((name, place) => [name, provider(name, place, isOurs)]))
  const providers = modelsOf(true)
  const strangers = modelsOf(false)
  const receives: Array<Receive> = []
  const queueing = makeQueueing({
    clock,
    database,
    databaseClock: weather.databaseClock,
    chronicle,
    chance: makeChance(seed + 11_000_003),
    isOn: happens("send queue"),
    pair,
    bug: planted,
    onReport: (report) => observer.reports.push(report)
  })
  const shared = { chance, clock, settings, databaseClock: weather.databaseClock }
  const ours = makeInstallation({
    ...shared,
    name: "P",
    bug: planted,
    database,
    queueClock: isInDatabase ? weather.databaseClock : clock,
    broker,
    hasQueue,
    providers,
    roadToStore: (process: SimProcess, writes: boolean) =>
      weather.roadToStore(process, roadToQueue(), writes),
    roadToQueue: (process) =>
      isInDatabase ? weather.roadToStore(process, roadToQueue(), true) : roadToQueue(),
    chronicle,
    onRecorded: observer.recorded,
    onSilence: (subject) => observer.silent.add(subject),
    onGranted: observer.granted,
    onReport: (report) => observer.reports.push(report),
    receives,
    queueing
  })
  const elsewhere = makeInstallation({
    ...shared,
    name: "X",
    bug: undefined,
    database: databases[1],
    queueClock: clock,
    broker: makeDeferBroker({ visibilitySeconds: VISIBILITY_SECONDS }),
    hasQueue: true,
    providers: strangers,
    roadToStore: () => CALM,
    roadToQueue: () => CALM,
    chronicle: { saw: () => undefined, note: () => undefined },
    onRecorded: () => undefined,
    onSilence: () => undefined,
    onGranted: () => undefined,
    onReport: () => undefined,
    receives: [],
    queueing: undefined
  })

  return {
    seed,
    chance,
    happens,
    chronicle,
    database,
    broker,
    providers,
    processes: ours.processes,
    calm,
    weather,
    spawn: ours.spawn,
    queueing,
    observed: () => observer,
    receives,
    elsewhere
  }
}
