import { Clock, Deferred, Effect, Result } from "effect"

import { MAX_RECEIVES } from "../../../src/domain/mail/deferred-send.ts"
import { dedupes, type Provider } from "../../../src/domain/mail/failover.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import { runSeeded, type SimClock } from "../kernel.ts"
import type { Run, RunOptions, SimulatedWorld } from "../world.ts"
import { BUGS } from "./bugs.ts"
import { FAULTS, makeWorld, type World } from "./setting.ts"

/** A copy beyond the first, where a provider does not dedupe. */
const EXTRA_COPY = "extra copy from provider_b (documented)"

/** Long enough for every schedule, lease, visibility time and late event to run out once the weather is calm. */
const CALM_MS = 3 * 60 * 60_000

/** What a client was answered, and when. */
interface Report {
  readonly result: SendResult
  readonly at: number
}

/** One client's view of one send. */
interface Order {
  readonly key: string
  readonly explicit: boolean
  readonly reports: Array<Report>
}

/** A client that repeats its call with the same key until the answer is final (MAIL-41). */
const client = (world: World, order: Order, roughMs: number) =>
  Effect.gen(function* () {
    const { chance, chronicle, processes } = world
    yield* Effect.sleep(chance.int(0, roughMs / 2))
    const calls = order.explicit ? chance.int(1, 6) : 1
    for (let n = 0; n < calls; n++) {
      const process = chance.pick(processes.filter((each) => !each.dead))
      const answer = yield* Effect.raceFirst(
        Effect.result(
          process.mailer.send({
            to: "a@x.test",
            subject: order.key,
            text: "t",
            category: "transactional",
            source: "api:simulation",
            ...(order.explicit ? { idempotencyKey: order.key } : {})
          })
        ),
        Effect.as(Deferred.await(process.died), undefined)
      )
      if (answer === undefined) chronicle.saw("client lost its process")
      else if (Result.isSuccess(answer)) {
        const result = answer.success
        order.reports.push({ result, at: yield* Clock.currentTimeMillis })
        chronicle.note(() => `the client of ${order.key} hears from ${process.id}: ${result.status}`)
      }
      yield* Effect.sleep(chance.bool(0.5) ? chance.int(0, 100) : chance.int(0, 240_000))
    }
  })

/** Kills, freezes and starts processes while the weather is rough. */
const nemesis = (world: World, roughMs: number) =>
  Effect.gen(function* () {
    const { chance, chronicle, happens, processes } = world
    const { note, saw } = chronicle
    for (let n = 0; n < 12; n++) {
      yield* Effect.sleep(chance.int(1_000, roughMs / 8))
      const process = chance.pick(processes.filter((each) => !each.dead))
      if (chance.bool(0.5)) {
        if (!happens("kill")) continue
        saw("SIGKILL")
        note(() => `${process.id} is killed`)
        yield* world.spawn
        process.dead = true
        yield* Deferred.succeed(process.died, undefined)
      } else if (happens("freeze")) {
        saw("SIGSTOP")
        const millis = chance.int(1_000, 180_000)
        note(() => `${process.id} freezes for ${Math.round(millis / 1000)} s`)
        process.frozenUntil = (yield* Clock.currentTimeMillis) + millis
      }
      if (chance.bool(0.3) && happens("queue duplicates")) {
        for (const { body } of yield* world.broker.pending) {
          saw("queue duplicates a message")
          yield* world.broker.duplicate(JSON.parse(body).rowId)
          break
        }
      }
    }
  })

/** Everything that must hold once the dust has settled (invariants S, D, L). */
const check = (world: World, orders: ReadonlyArray<Order>, storeFails: boolean) =>
  Effect.gen(function* () {
    const violations = [...world.violations]
    const attempts = [...world.providers.provider_a.attempts, ...world.providers.provider_b.attempts].sort(
      (a, b) => a.startedAt - b.startedAt
    )
    const rows = world.database.rows()
    const hashes = new Set(attempts.map((attempt) => attempt.keyHash))

    for (const keyHash of hashes) {
      const ofKey = attempts.filter((attempt) => attempt.keyHash === keyHash)
      const copies = (provider: Provider) =>
        ofKey.filter((attempt) => attempt.provider === provider && attempt.delivered).length
      if (copies("provider_a") > 1)
        violations.push(`S1: ${copies("provider_a")} copies of one key left provider_a`)

      if (storeFails) continue
      const doubtful = ofKey.find((attempt) => attempt.outcome === "ambiguous" || attempt.outcome === "none")
      const stranger =
        doubtful === undefined
          ? undefined
          : ofKey.find(
              (attempt) => attempt.startedAt > doubtful.startedAt && attempt.provider !== doubtful.provider
            )
      if (stranger !== undefined)
        violations.push(`S2: ${stranger.provider} saw a key that was ambiguous on ${doubtful?.provider}`)
      if (copies("provider_a") > 0 && copies("provider_b") > 0)
        violations.push("S2: one key left both providers")
    }

    for (const order of orders) {
      for (const { at, result } of order.reports) {
        if (result.ok !== (result.status === "sent" || result.status === "deferred"))
          violations.push(`S5: ok ${result.ok} on ${result.status}`)
        const ofKey = attempts.filter((attempt) => attempt.key === result.idempotencyKey)
        if (result.status === "sent" && !ofKey.some((attempt) => attempt.delivered))
          violations.push("S5: sent, and no provider accepted it")
        // A refusal that was reported stays true when the key, free again, meets doubt in a later call.
        const doubtful = ofKey.some(
          ({ outcome, startedAt }) => startedAt < at && (outcome === "ambiguous" || outcome === "none")
        )
        const certain = result.status === "failed" && result.kind !== "ambiguous"
        if (!storeFails && certain && doubtful) {
          violations.push(`S2: reported as certainly not delivered (${result.kind}), and nobody can know`)
        }
      }
      const results = order.reports.map(({ result }) => result)
      const sent = results.filter((result) => result.status === "sent")
      if (!storeFails && new Set(sent.map((result) => result.providerMessageId)).size > 1)
        violations.push("S9: two calls on one key, two mails")
    }

    const byKey = Map.groupBy(
      rows.filter((row) => row.keyHash !== null),
      (row) => row.keyHash
    )
    const dead = yield* world.broker.attach().queue.deadLetters({ limit: 100 })
    const deadKeys = new Set(dead.flatMap((letter) => letter.message?.details.keyHash ?? []))
    // Where the log can lose a write, an acceptance that was answered ends a send without a row (D3).
    const settled = new Set(
      attempts
        .filter((attempt) => storeFails && attempt.outcome === "accepted")
        .map((attempt) => attempt.keyHash)
    )
    for (const [keyHash, ofKey] of byKey) {
      if (keyHash === null || deadKeys.has(keyHash) || settled.has(keyHash)) continue
      if (ofKey.every((row) => row.status === "deferred")) {
        violations.push("D1: deferred for ever")
      }
    }
    for (const letter of dead) {
      if (letter.receives < MAX_RECEIVES)
        violations.push(`D3: a dead letter after ${letter.receives} receives`)
    }
    if ((yield* world.broker.pending).length > 0) violations.push("D1: the queue is not empty")
    for (const order of orders) {
      const results = order.reports.map(({ result }) => result)
      const deferred = results.some((result) => result.status === "deferred")
      const mine = new Set(
        attempts
          .filter((attempt) => results.some((result) => result.idempotencyKey === attempt.key))
          .map((attempt) => attempt.keyHash)
      )
      const keyed = rows.filter((row) => row.keyHash !== null && mine.has(row.keyHash))
      const ended =
        keyed.some((row) => row.status !== "deferred") ||
        dead.length > 0 ||
        [...mine].some((keyHash) => settled.has(keyHash))
      if (deferred && !ended) violations.push("D1: a deferred send has no end")
    }
    return violations
  })

/** One run of the mailer under faults, from a seed. */
const simulate = (seed: number, options: RunOptions): Promise<Run> =>
  runSeeded(
    seed,
    Effect.fnUntraced(function* (clock: SimClock) {
      const world = makeWorld(seed, options, clock)
      const { chance, chronicle } = world
      const roughMs = options.limits.roughMinutes * 60_000
      yield* world.spawn
      yield* world.spawn
      const orders: ReadonlyArray<Order> = Array.from({ length: options.limits.size }, (_, n) => ({
        key: `order-${n}`,
        explicit: chance.bool(0.7),
        reports: []
      }))
      let busy = orders.length + 1
      const done = Effect.sync(() => void busy--)
      for (const order of orders)
        yield* client(world, order, roughMs).pipe(Effect.andThen(done), Effect.forkDetach)
      yield* nemesis(world, roughMs).pipe(Effect.andThen(done), Effect.forkDetach)
      yield* Effect.sleep(roughMs)
      world.calm.now = true
      yield* world.spawn
      yield* Effect.sleep(CALM_MS)
      const violations = [...(yield* check(world, orders, seed % 2 === 0))]
      if (busy > 0) violations.push(`liveness: ${busy} clients never ended`)
      const all = [...world.providers.provider_a.attempts, ...world.providers.provider_b.attempts]
      for (const { key, outcome, process, provider, startedAt } of all) {
        chronicle.saw(`attempt ${outcome}`)
        chronicle.noteAt(startedAt, () => `${process} asks ${provider} to send ${key}: ${outcome}`)
      }
      for (const order of orders)
        for (const { result } of order.reports) chronicle.saw(`result ${result.status}`)
      const copies = Map.groupBy(
        all.filter((attempt) => attempt.delivered && !dedupes(attempt.provider)),
        (attempt) => attempt.keyHash
      )
      // `provider_b` knows no idempotency key: its second copies are the documented window.
      for (const list of copies.values()) {
        for (let copy = 1; copy < list.length; copy++) chronicle.saw(EXTRA_COPY)
        if (list.length > 1) chronicle.saw(`${list.length} copies of one key from provider_b`)
      }
      return {
        seed,
        violations,
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
      "Extra copies from provider_b break no promise: Amazon SES knows no idempotency key, so that an ambiguous send can arrive\nagain there with each retry that no delivery event beats: four copies by the schedule, one more for each consumer that dies\nor stalls at its retry, and for each call in another process while the database is away (README.md, What is promised)."
  },
  mustHappen: [
    "SIGKILL",
    "SIGSTOP",
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
    "event recorded",
    "event never comes",
    "queue duplicates a message",
    "result deferred",
    "result failed",
    "result sent",
    "retry Busy",
    "retry Go",
    "retry Recorded",
    "retry Settled",
    "store begin lost",
    "store record lost"
  ],
  simulate
}
