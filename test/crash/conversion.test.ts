import { randomInt } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"

import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"

import { makeChance } from "../simulation/kernel.ts"
import { layerDatabase, TestDatabase } from "../support/postgres/postgres.ts"
import { type Child, makeFolder } from "../support/processes/child.ts"
import { until } from "../support/until.ts"
import {
  addJobs,
  chunkUnderWay,
  HEARTBEAT_MS,
  isBooked,
  judge,
  liveJobs,
  objectsIn,
  objectsNamed,
  rowsOf,
  startWorker
} from "./conversion-world.ts"

/** Kills and freezes of one run. More by hand: `CHUNK_CRASH_ROUNDS=200`; again: `CHUNK_CRASH_SEED=…`. */
const ROUNDS = Number(process.env["CHUNK_CRASH_ROUNDS"] ?? 6)
const SEED = Number(process.env["CHUNK_CRASH_SEED"] ?? randomInt(1, 1_000_000))
const WORKERS = 3
const LEASE_MS = HEARTBEAT_MS * 5

/** A folder, and workers that are gone with it. */
const surroundings: Effect.Effect<
  { readonly path: string; readonly start: (name: string, pageMs?: number) => Promise<Child> },
  never,
  TestDatabase | Scope.Scope
> = Effect.gen(function* () {
  const { url } = yield* TestDatabase
  const { path, remove } = yield* Effect.promise(makeFolder)
  const all: Array<Child> = []
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      await Promise.all(all.map(({ destroy }) => destroy()))
      await remove()
    })
  )
  return {
    path,
    start: async (name, pageMs = 40) => {
      const child = await startWorker(url, path, name, pageMs)
      all.push(child)
      return child
    }
  }
})

describe.concurrent("workers that die over chunks", () => {
  it.live(
    "C1 C2 C4 F1 F2 K1: killed and frozen at random moments, every job ends with each page once, charged once",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const { path, start } = yield* surroundings
        const chance = makeChance(SEED)
        const kills = yield* Effect.promise(async () => {
          await addJobs(url, 2 + Math.ceil(ROUNDS / 3))
          const slots = await Promise.all(
            Array.from({ length: WORKERS }, (_, slot) => start(`worker-${slot}`))
          )
          let killed = 0
          const thaws: Array<Promise<void>> = []
          const frozen = new Set<number>()
          for (let round = 0; round < ROUNDS; round++) {
            await sleep(chance.int(50, 900))
            const slot = chance.int(0, WORKERS)
            const victim = slots[slot]
            if (victim === undefined || frozen.has(slot)) continue
            if (chance.bool(0.4)) {
              frozen.add(slot)
              victim.signal("SIGSTOP")
              const thaw = async () => {
                await sleep(chance.int(LEASE_MS / 4, LEASE_MS * 3))
                victim.signal("SIGCONT")
                frozen.delete(slot)
              }
              thaws.push(thaw())
            } else {
              killed += 1
              await victim.destroy()
              slots[slot] = await start(`worker-${slot}-${round}`)
            }
          }
          await Promise.all(thaws)
          await until("every job has ended", async () => (await liveJobs(url)) === 0)
          return killed
        })
        const violations = yield* Effect.promise(() => judge(url, path))
        assert.deepStrictEqual(violations, [], `CHUNK_CRASH_SEED=${SEED}`)
        console.log(`${kills} kills, ${ROUNDS - kills} freezes (CHUNK_CRASH_SEED=${SEED})`)
      }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )

  it.live(
    "C2 X1: a worker that wakes when its chunk is another's writes nothing but what its model cost",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const { path, start } = yield* surroundings
        yield* Effect.promise(async () => {
          await addJobs(url, 1)
          const slept = await start("slept", 400)
          let lease: string | undefined
          await until("it is in the middle of a chunk", async () => {
            if ((await chunkUnderWay(url, "slept")) === undefined) return false
            slept.signal("SIGSTOP")
            // What it has sent is done by then.
            await sleep(500)
            lease = await chunkUnderWay(url, "slept")
            if (lease === undefined) slept.signal("SIGCONT")
            return lease !== undefined
          })
          await start("awake")
          await until("the job has ended", async () => (await liveJobs(url)) === 0)
          const rows = await rowsOf(url)
          slept.signal("SIGCONT")
          await until("the model's cost is booked", () => isBooked(url, lease ?? ""))
          const named = (await objectsNamed(url)).join()
          await until("it leaves no object", async () => (await objectsIn(path)).join() === named)
          assert.deepStrictEqual(await rowsOf(url), rows)
        })
        assert.deepStrictEqual(yield* Effect.promise(() => judge(url, path)), [])
      }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )
})
