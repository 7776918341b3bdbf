import { Clock, Effect } from "effect"

import { dedupes } from "../../../src/domain/mail/provider.ts"
import { makeChance, runSeeded, type SimClock } from "../kernel.ts"
import type { Run, RunOptions, SimulatedWorld } from "../world.ts"
import { BUGS } from "./bugs.ts"
import { brokenBySending, copiesOfUses, type Observed, unexcusedDead } from "./oracle.ts"
import {
  client,
  clientAroundOutage,
  clientNextDay,
  housekeeping,
  nemesis,
  type Order,
  stranger
} from "./people.ts"
import { queueingClient } from "./queue.ts"
import { FAULTS, makeWorld, type World } from "./setting.ts"

/** A copy beyond the first, where a provider does not dedupe. */
const EXTRA_COPY = "extra copy from a provider that does not dedupe (documented)"

/** Long enough for every schedule, lease, visibility time and late event to run out once the weather is calm. */
const CALM_MS = 3 * 60 * 60_000
/** How long things go wrong again around the moment when the keys are a day old. */
const NEXT_DAY_ROUGH_MS = 80 * 60_000
const DAY_MS = 24 * 60 * 60_000

/** What an operator does whom the alarm of dead letters tells of them: puts them back (D3). */
const redriveAll = ({ broker, chronicle }: World) =>
  Effect.gen(function* () {
    const { queue } = broker.attach()
    for (const { id } of yield* queue.deadLetters({ limit: 100 })) {
      chronicle.saw("dead letter is put back")
      yield* queue.redrive(id)
    }
  })

/** D1, D2 and D3: what became of deferrals; a dead letter is no end, and only a crash or a stall makes one. */
const brokenByDeferrals = (world: World, { attempts, silent }: Observed) =>
  Effect.gen(function* () {
    const violations: Array<string> = []
    const { broker, database, receives } = world
    const dead = (yield* broker.attach().queue.deadLetters({ limit: 100 })).flatMap(
      ({ message, receives: count }) => (message === null ? [] : [{ rowId: message.rowId, receives: count }])
    )
    const stoodStill = (id: string, from: number, until: number) =>
      world.processes.some(
        ({ diedAt, freezes, id: other }) =>
          other === id &&
          (diedAt <= until || freezes.some((freeze) => freeze.from <= until && freeze.until >= from))
      )
    violations.push(...unexcusedDead(dead, receives, stoodStill))
    for (const { body, held } of yield* broker.pending)
      violations.push(
        `D1: the queue is not empty: ${held ? "held" : "waiting"} ${JSON.parse(body).details.subject} ${JSON.parse(body).rowId}`
      )

    const subjectOf = new Map<string | null, string>()
    for (const row of database.rows()) if (row.subject !== null) subjectOf.set(row.keyHash, row.subject)
    const rows = Map.groupBy(database.rows(), (row) => row.subject ?? subjectOf.get(row.keyHash))
    for (const [subject, ofSend] of rows) {
      if (subject === undefined || ofSend.some(({ status }) => status !== "deferred")) continue
      // An acceptance that was answered ends a send without a row, where the store would not take it (D3).
      const isReported = attempts.some(
        (attempt) => attempt.subject === subject && attempt.outcome === "accepted" && silent.has(subject)
      )
      if (!isReported) violations.push(`D1: ${subject} is deferred for ever`)
    }
    return { violations, letters: dead.length }
  })

const rough = (world: World, orders: ReadonlyArray<Order>, roughMs: number) =>
  Effect.gen(function* () {
    const { calm, happens, weather } = world
    let busy = 0
    const begin = (work: Effect.Effect<void>) => {
      busy++
      return work.pipe(Effect.andThen(Effect.sync(() => void busy--)), Effect.forkDetach)
    }
    yield* weather.run
    for (const order of orders) yield* begin(client(world, order, roughMs))
    const explicit = orders.filter((order) => order.explicit)
    for (const [n, { from, until }] of weather.outages.entries())
      for (const at of [from, until]) {
        const order = explicit[(2 * n + (at === from ? 0 : 1)) % Math.max(1, explicit.length)]
        if (order !== undefined) yield* begin(clientAroundOutage(world, order, at))
      }
    if (happens("send queue")) {
      const { queueing } = world
      const people = makeChance(world.seed + 13_000_003)
      for (let n = 0; n < orders.length / 2; n++) {
        const mixed = n % 4 === 3 ? explicit[n % Math.max(1, explicit.length)] : undefined
        const key = mixed?.key ?? `queued-${n}`
        yield* begin(queueingClient({ chance: people, isMixed: mixed !== undefined, queueing }, key, roughMs))
      }
      const burst = people.bool(0.3) ? 12 : 0
      const at = people.int(0, roughMs / 2)
      for (let n = 0; n < burst; n++) {
        const one = queueingClient({ chance: people, isMixed: false, queueing }, `burst-${n}`, 0, 500)
        yield* begin(Effect.andThen(Effect.sleep(at), one))
      }
    }
    if (happens("housekeeping")) yield* begin(housekeeping(world, roughMs))
    if (happens("another installation")) yield* begin(stranger(world, orders, roughMs))
    yield* begin(nemesis(world, roughMs, 12))
    yield* Effect.sleep(roughMs)
    calm.now = true
    yield* world.spawn
    yield* Effect.sleep(CALM_MS / 3)
    yield* redriveAll(world)
    yield* Effect.sleep((2 * CALM_MS) / 3)
    return busy
  })

/** The keys are used again when they are a day old, while things go wrong once more. */
const nextDay = (world: World, orders: ReadonlyArray<Order>, firstAt: ReadonlyMap<string, number>) =>
  Effect.gen(function* () {
    const { calm, chance } = world
    const now = yield* Clock.currentTimeMillis
    const beginAt = Math.min(...firstAt.values()) + DAY_MS - 600_000
    yield* Effect.sleep(Math.max(0, beginAt - now))
    calm.now = false
    for (const order of orders) {
      const at = firstAt.get(order.key)
      if (at === undefined || !order.explicit) continue
      const wait = Math.max(0, at + DAY_MS - beginAt + chance.int(-300_000, 2_400_000))
      yield* Effect.forkDetach(Effect.andThen(Effect.sleep(wait), clientNextDay(world, order)))
    }
    yield* Effect.forkDetach(nemesis(world, NEXT_DAY_ROUGH_MS, 4))
    if (world.happens("housekeeping")) yield* Effect.forkDetach(housekeeping(world, NEXT_DAY_ROUGH_MS))
    yield* Effect.sleep(NEXT_DAY_ROUGH_MS)
    calm.now = true
    yield* world.spawn
    yield* Effect.sleep(CALM_MS / 3)
    yield* redriveAll(world)
    yield* Effect.sleep((2 * CALM_MS) / 3)
  })

/** One run of the mailer under faults, from a seed. */
const simulate = (seed: number, options: RunOptions): Promise<Run> =>
  runSeeded(
    seed,
    Effect.fnUntraced(function* (clock: SimClock) {
      const world = makeWorld(seed, options, clock)
      const { chance, chronicle, happens } = world
      const roughMs = options.limits.roughMinutes * 60_000
      yield* world.spawn
      yield* world.spawn
      const orders: ReadonlyArray<Order> = Array.from({ length: options.limits.size }, (_, n) => ({
        key: `order-${n}`,
        explicit: chance.bool(0.7)
      }))
      const busy = yield* rough(world, orders, roughMs)
      const first = yield* brokenByDeferrals(world, world.observed())
      const goesOn = chance.bool(0.4) && happens("a day passes") && world.weather.databaseSkewMs() === 0
      if (goesOn) {
        const firstAt = new Map<string, number>()
        for (const { startedAt, subject } of world.observed().attempts)
          firstAt.set(subject, Math.min(startedAt, firstAt.get(subject) ?? Infinity))
        if (firstAt.size > 0) yield* nextDay(world, orders, firstAt)
      }
      const observed = world.observed()
      const violations = [
        ...brokenBySending(observed),
        ...first.violations,
        ...world.queueing.violations(observed.attempts),
        ...world.queueing.paceViolations(observed.attempts),
        ...world.queueing.disorder,
        ...(goesOn ? (yield* brokenByDeferrals(world, observed)).violations : [])
      ]
      if (busy > 0) violations.push(`liveness: ${busy} clients never ended`)
      const all = observed.attempts
      for (const { askedAt, key, keyHash, keyTag, outcome, process, provider, startedAt } of all) {
        chronicle.saw(`attempt ${outcome}`)
        chronicle.noteAt(
          startedAt,
          () =>
            `${process} asks ${provider} to send ${key} (${keyHash.slice(0, 6)}, tag ${keyTag?.slice(0, 4)}, ${askedAt > -Infinity ? "with" : "without"} a claim): ${outcome}`
        )
      }
      // A provider that knows no idempotency key: its second copies are the documented window.
      for (const provider of world.providers.keys()) {
        if (dedupes(provider)) continue
        for (const copies of copiesOfUses(all, provider)) {
          if (copies > 1) chronicle.saw(`${copies} copies from ${provider}`)
          for (let copy = 1; copy < copies; copy++) chronicle.saw(EXTRA_COPY)
        }
      }
      return {
        seed,
        violations: [...new Set(violations)],
        seen: chronicle.seen,
        story: chronicle.story(),
        trace: all
          .map(
            (attempt) =>
              `${attempt.startedAt} ${attempt.process} ${attempt.provider} ${attempt.key} ${attempt.outcome}`
          )
          .join("\n")
      }
    })
  )

/** The mailer: clients, processes with a retry consumer each, two providers, a database and a queue. Invariants S, D, L. */
export const mailWorld: SimulatedWorld = {
  name: "mail",
  full: { size: 10, roughMinutes: 40, faults: FAULTS },
  bugs: BUGS,
  notes: {
    [EXTRA_COPY]:
      "These extra copies break no promise: Amazon SES, Postmark and a relay know no idempotency key, so that an ambiguous send can arrive\nagain there with each retry that no delivery event beats: four copies by the schedule, one more for each consumer that dies\nor stalls at its retry, and for each call in another process while the database is away (README.md, What is promised)."
  },
  mustHappen: [
    "SIGKILL",
    "SIGSTOP",
    "another installation sends the key",
    "attempt accepted",
    "attempt ambiguous",
    "attempt none",
    "attempt rejected",
    "attempt unavailable",
    "claim Claimed",
    "claim Claimed takeover",
    "claim InProgress",
    "claim Replay",
    "client lost its process",
    "connection is half open",
    "database's clock steps",
    "disk is full",
    "event comes a day later",
    "event never comes",
    "event recorded",
    "housekeeping drops a claim",
    "key used a day later",
    "process's clock steps",
    "provider answers late",
    "provider's rate refuses",
    "queue begins Claimed",
    "queue duplicates a message",
    "queue moves to deferred",
    "queue moves to queued",
    "queue moves to sent",
    "queue passed on",
    "cancel finds cancelled",
    "cancel finds sending",
    "result deferred",
    "result failed",
    "result sent",
    "retry Busy",
    "retry Go",
    "retry Recorded",
    "retry Settled",
    "store begin lost",
    "store is away",
    "store is late",
    "store record lost"
  ],
  simulate
}
