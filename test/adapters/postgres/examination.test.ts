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

      assert.isUndefined(sound.unwritable)
      yield* sql`create function no_room() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`
      yield* sql`create trigger full_disk before insert on email_log for each row execute function no_room()`
      assert.deepInclude(yield* examineDatabase(MIGRATIONS), { unwritable: "could not extend file" })
      yield* sql`drop trigger full_disk on email_log`
      yield* sql`drop function no_room`
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

      const unsent = Effect.map(examineDatabase(MIGRATIONS), (facts) =>
        facts._tag === "Reached" ? facts.unsentMails : undefined
      )
      const request = { to: "a@x.test", subject: "s", text: "t", category: "auth", source: "api:test" }
      yield* sql`select enqueue_email(${JSON.stringify(request)}::jsonb) from generate_series(1, 3)`
      yield* sql`select enqueue_email(${JSON.stringify({ ...request, category: "marketing" })}::jsonb)`
      assert.strictEqual(yield* unsent, 0)
      yield* sql`update email_send_queue set due_at = due_at - interval '3 minutes'`
      assert.strictEqual(yield* unsent, 4)
      yield* sql`select pause_email_queue('auth', 'admin', true)`
      assert.strictEqual(yield* unsent, 1)
      yield* sql`insert into email_pace (provider, free_at, reserved_at, held_until)
        values ('provider_a', now(), now(), now() + interval '1 minute')`
      assert.strictEqual(yield* unsent, 0)
      yield* sql`delete from email_pace`
      const paces = JSON.stringify([{ provider: "provider_a", rate: 0, least: 0, most: 0, primary: true }])
      yield* sql`select * from take_queued_emails(${paces}::jsonb, 1, interval '12 seconds')`
      yield* sql`select pause_email_queue('auth', 'admin', false)`
      assert.strictEqual(yield* unsent, 0)

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
