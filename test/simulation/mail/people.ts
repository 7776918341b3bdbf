import { Clock, Deferred, Effect, Result } from "effect"

import { pickAlive } from "../process.ts"
import type { MailProcess } from "./installation.ts"
import type { World } from "./setting.ts"

/** One send that a client wants. */
export interface Order {
  readonly key: string
  /** Whether the client chose the key, so that it can call again. */
  readonly explicit: boolean
}

/** One call. */
const ask = (world: World, { explicit, key }: Order, process: MailProcess) =>
  Effect.gen(function* () {
    const { chronicle } = world
    const answer = yield* Effect.raceFirst(
      Effect.result(
        process.mailer.send({
          to: "a@x.test",
          subject: key,
          text: "t",
          category: "transactional",
          source: "api:simulation",
          ...(explicit ? { idempotencyKey: key } : {})
        })
      ),
      Effect.as(Deferred.await(process.died), undefined)
    )
    if (answer === undefined) chronicle.saw("client lost its process")
    else if (Result.isSuccess(answer)) {
      const { status } = answer.success
      chronicle.saw(`result ${status}`)
      chronicle.note(() => `the client of ${key} hears from ${process.id}: ${status}`)
    }
  })

/** A client that repeats its call with the same key, sooner or later, at any process (MAIL-41). */
export const client = (world: World, order: Order, roughMs: number) =>
  Effect.gen(function* () {
    const { chance, processes } = world
    yield* Effect.sleep(chance.int(0, roughMs / 2))
    const calls = order.explicit ? chance.int(1, 6) : 1
    for (let n = 0; n < calls; n++) {
      yield* ask(world, order, pickAlive(chance, processes))
      yield* Effect.sleep(chance.bool(0.5) ? chance.int(0, 100) : chance.int(0, 240_000))
    }
  })

/** A client that calls one after another while the store goes away or comes back, mostly at one process. */
export const clientAroundOutage = (world: World, order: Order, at: number) =>
  Effect.gen(function* () {
    const { chance, processes } = world
    const now = yield* Clock.currentTimeMillis
    yield* Effect.sleep(Math.max(0, at - now - chance.int(0, 6_000)))
    let process = pickAlive(chance, processes)
    for (let n = chance.int(2, 8); n > 0; n--) {
      if (process.dead || chance.bool(0.2)) process = pickAlive(chance, processes)
      yield* ask(world, order, process)
      yield* Effect.sleep(chance.int(0, 2_000))
    }
  })

/** A client that uses its key again a day after the first call. */
export const clientNextDay = (world: World, order: Order) =>
  Effect.gen(function* () {
    const { chance, chronicle, processes } = world
    const calls = chance.int(1, 4)
    for (let n = 0; n < calls; n++) {
      chronicle.saw("key used a day later")
      yield* ask(world, order, pickAlive(chance, processes))
      yield* Effect.sleep(chance.int(0, 600_000))
    }
  })

/** Somebody else, whose installation sends through the same accounts, under the same keys: the same mails, or others. */
export const stranger = (world: World, orders: ReadonlyArray<Order>, roughMs: number) =>
  Effect.gen(function* () {
    const { chance, chronicle, elsewhere } = world
    yield* elsewhere.spawn
    const [process] = elsewhere.processes
    for (const { explicit, key } of orders) {
      yield* Effect.sleep(chance.int(0, roughMs / orders.length))
      if (!explicit || chance.bool(0.6) || process === undefined) continue
      chronicle.saw("another installation sends the key")
      const order = { explicit, key: chance.bool(0.5) ? key : `${key}, otherwise` }
      yield* Effect.ignore(
        process.mailer.send({
          to: "a@x.test",
          subject: order.key,
          text: "t",
          category: "transactional",
          source: "api:elsewhere",
          idempotencyKey: key
        })
      )
    }
  })

/** Housekeeping drops claims that have expired, at any moment. */
export const housekeeping = ({ chance, chronicle, database, weather }: World, forMs: number) =>
  Effect.gen(function* () {
    for (let passed = 0; passed < forMs;) {
      const wait = chance.int(1_000, 1_200_000)
      passed += wait
      yield* Effect.sleep(wait)
      const gone = yield* Effect.provideService(database.purgeClaims, Clock.Clock, weather.databaseClock)
      for (let n = 0; n < gone; n++) chronicle.saw("housekeeping drops a claim")
    }
  })

/** Kills, freezes and starts processes, steps their clocks and cuts their connections, while the weather is rough. */
export const nemesis = (world: World, roughMs: number, rounds: number) =>
  Effect.gen(function* () {
    const { chance, chronicle, happens, processes, weather } = world
    const { note, saw } = chronicle
    for (let n = 0; n < rounds; n++) {
      yield* Effect.sleep(chance.int(1_000, Math.ceil((1.5 * roughMs) / rounds)))
      const process = pickAlive(chance, processes)
      if (chance.bool(0.5)) {
        if (!happens("kill")) continue
        saw("SIGKILL")
        note(() => `${process.id} is killed`)
        yield* world.spawn
        process.dead = true
        yield* Deferred.succeed(process.died, undefined)
        process.diedAt = yield* Clock.currentTimeMillis
      } else if (happens("freeze")) {
        saw("SIGSTOP")
        const millis = chance.int(1_000, 180_000)
        note(() => `${process.id} freezes for ${Math.round(millis / 1000)} s`)
        const from = yield* Clock.currentTimeMillis
        process.frozenUntil = from + millis
        process.freezes.push({ from, until: from + millis })
      }
      if (chance.bool(0.15)) weather.halfOpen(pickAlive(chance, processes))
      if (chance.bool(0.1) && happens("clocks step")) {
        const stepped = pickAlive(chance, processes)
        stepped.skewMs = chance.pick([-86_400_000, -3_600_000, -90_000, 90_000, 3_600_000, 86_400_000])
        saw("process's clock steps")
        note(() => `the clock of ${stepped.id} steps by ${stepped.skewMs / 1000} s`)
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
