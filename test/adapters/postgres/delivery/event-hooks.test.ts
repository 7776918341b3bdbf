import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/delivery/event-hooks.ts"
import { EventHooks, type HookAnswer } from "../../../../src/ports/delivery/event-hooks.ts"
import { suite } from "../../../contracts/delivery/event-hooks.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const layerHooks = Layer.fresh(layer.pipe(Layer.provideMerge(layerPostgres)))

const RECEIVED: HookAnswer = { status: 200, answer: "", error: undefined }
const REFUSED: HookAnswer = { status: 500, answer: "", error: undefined }

suite("PostgreSQL", layerHooks, {
  tell: (type, subject) =>
    WriteSql.use((sql) => sql`select tell_hooks(${type}, ${subject}, now(), '{}')`).pipe(Effect.orDie),
  advance: (time) =>
    WriteSql.use((sql) => {
      const by = sql.literal(`interval '${Duration.toMillis(Duration.fromInputUnsafe(time))} milliseconds'`)
      return Effect.andThen(
        sql`update event_hook_deliveries set next_at = next_at - ${by}, created_at = created_at - ${by}, ended_at = ended_at - ${by}`,
        sql`update event_hooks set failing_since = failing_since - ${by}, failed_at = failed_at - ${by},
          received_at = received_at - ${by}, old_secret_until = old_secret_until - ${by}`
      )
    }).pipe(Effect.orDie)
})

/** Draws from a seed, so that a failure can be played again. */
const drawing = (seed: number) => {
  let state = seed
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

it.live(
  "of several processes each event goes to one at a time, in the order of its subject, while others are written (O1)",
  () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const hooks = yield* EventHooks
      yield* hooks.add({ url: "https://shop.test/", types: ["*"], enabled: true })
      const draw = drawing(17)
      const underWay = new Set<string>()
      const first: Array<string> = []
      let left = 60
      const write = Effect.forEach(
        Array.from({ length: 60 }, (_, index) => index),
        (index) => sql`select tell_hooks(${`s${index % 3}.${index}`}, ${`key:${index % 3}`}, now(), '{}')`,
        { concurrency: 1 }
      )
      const work = (process: number) =>
        Effect.gen(function* () {
          while (left > 0) {
            const lease = `00000000-0000-7000-8000-00000000000${process}`
            for (const one of yield* hooks.claim({
              lease,
              leaseMs: 60_000,
              limit: 2,
              each: 9,
              busy: new Map()
            })) {
              assert.isFalse(underWay.has(one.id))
              underWay.add(one.id)
              const { type } = JSON.parse(one.body) as { readonly type: string }
              if (!first.includes(type)) first.push(type)
              yield* Effect.yieldNow
              underWay.delete(one.id)
              // The tenth failed try is the last one.
              const answer = one.tries < 10 && draw(3) === 0 ? REFUSED : draw(8) === 0 ? REFUSED : RECEIVED
              yield* hooks.end(one.id, lease, answer)
            }
            yield* sql`update event_hook_deliveries set next_at = now() where id in (
              select id from event_hook_deliveries where state = 'pending' and lease is null for update skip locked)`
            const [row] = yield* sql<{
              readonly n: number
            }>`select 60 - count(*)::int as n from event_hook_deliveries where state <> 'pending'`
            left = row!.n
          }
        })
      yield* Effect.all([write, ...[1, 2, 3, 4].map(work)], { concurrency: "unbounded" })
      for (const subject of [0, 1, 2]) {
        const numbers = first
          .filter((type) => type.startsWith(`s${subject}.`))
          .map((type) => Number(type.slice(3)))
        assert.deepStrictEqual(
          numbers,
          Array.from({ length: 20 }, (_, index) => index * 3 + subject)
        )
      }
    }).pipe(Effect.provide(layerHooks))
)
