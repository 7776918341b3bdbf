import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { layerSqlClient, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { examineDatabase } from "../../../src/adapters/postgres/examination.ts"
import { MIGRATIONS } from "../../../src/runtime/process/package.ts"
import { layerPostgres } from "../../support/postgres/postgres.ts"

const parts = Layer.mergeAll(layerSqlClient, NodeServices.layer).pipe(Layer.provideMerge(layerPostgres))

describe("the examination of the database", () => {
  it.live("version, clock and migrations; a missing one is named, a changed one is reported", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const sound = yield* examineDatabase(MIGRATIONS)
      assert.strictEqual(sound._tag, "Reached")
      if (sound._tag !== "Reached") return
      assert.isAtLeast(sound.version, 150_000)
      assert.deepStrictEqual(sound.migrations, {
        _tag: "Pending",
        names: [],
        functions: [],
        newer: []
      })
      // One machine, one clock.
      assert.isBelow(Math.abs(sound.skewMs), sound.uncertaintyMs + 1_000)

      assert.deepStrictEqual(sound.waiting, [])
      for (const [queue, minutes, held] of [
        ["nobody", 3, null],
        ["nobody", 3, 20],
        ["nobody", 3, 1],
        ["nobody", 1, null],
        ["before", 60, null]
      ] as const)
        yield* sql`insert into email_defer_queue
            (id, queue_name, element, state, visible_at, created_at, updated_at, acquired_at)
            values (gen_random_uuid()::text, ${queue}, '{}', 'pending', now() - make_interval(mins => ${minutes}), now(), now(),
              now() - make_interval(mins => ${held}))`
      assert.deepInclude(yield* examineDatabase(MIGRATIONS), {
        waiting: [
          { queue: "before", due: 1 },
          { queue: "nobody", due: 2 }
        ]
      })

      const [newest] = yield* sql<{ readonly id: number; readonly name: string }>`
          delete from postlane_migrations where id = (select max(id) from postlane_migrations) returning id, name`
      const lacking = yield* examineDatabase(MIGRATIONS)
      const name = `${String(newest!.id).padStart(4, "0")}_${newest!.name}`
      assert.deepInclude(lacking, {
        migrations: { _tag: "Pending", names: [name], functions: [], newer: [] }
      })

      yield* sql`update postlane_migrations set checksum = 'other' where id = 1`
      const changed = yield* examineDatabase(MIGRATIONS)
      assert.strictEqual(changed._tag === "Reached" && changed.migrations._tag, "Broken")
    }).pipe(Effect.provide(parts))
  )
})
