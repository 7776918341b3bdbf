import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { layer } from "../../../../src/adapters/postgres/accounts/audit-log.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { AuditLog } from "../../../../src/ports/accounts/audit-log.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const clean = WriteSql.use((sql) => sql`delete from admin_audit_log`)

const insert = (row: Record<string, unknown>) =>
  WriteSql.use((sql) => sql`insert into admin_audit_log ${sql.insert({ actor: "ops", ...row })}`)

const EARLY = "2026-01-01T00:00:00.000001Z"
const LATE = "2026-01-01T00:00:00.000002Z"

suiteLayer(layer.pipe(Layer.provideMerge(layerPostgres)))("AuditLog on Postgres", (it) => {
  it.effect("gives rows with the columns' names as keys", () =>
    Effect.gen(function* () {
      yield* clean
      const log = yield* AuditLog
      const details = { reasons: ["manual"] }
      yield* insert({
        action: "email_unsuppress",
        target: "a@x.test",
        note: "asked",
        details: JSON.stringify(details),
        created_at: LATE
      })
      yield* insert({ action: "other", created_at: EARLY })
      const { nextCursor, rows } = yield* log.page({ limit: 2 })
      assert.isNull(nextCursor)
      assert.deepStrictEqual(
        rows.map(({ action, actor, created_at, details: more, note, target }) => ({
          action,
          actor,
          target,
          note,
          details: more,
          created_at
        })),
        [
          {
            action: "email_unsuppress",
            actor: "ops",
            target: "a@x.test",
            note: "asked",
            details,
            created_at: LATE
          },
          { action: "other", actor: "ops", target: null, note: null, details: {}, created_at: EARLY }
        ]
      )
    })
  )

  it.effect("pages newest first; ties in time neither repeat nor hide a row", () =>
    Effect.gen(function* () {
      yield* clean
      const log = yield* AuditLog
      const wanted = new Set(["late"])
      yield* insert({ action: "late", created_at: LATE })
      for (let index = 0; index < 4; index += 1) {
        wanted.add(`early ${index}`)
        yield* insert({ action: `early ${index}`, created_at: EARLY })
      }
      const seen: Array<string> = []
      let cursor: string | undefined
      do {
        const { nextCursor, rows } = yield* log.page({ limit: 2, cursor })
        for (const { action } of rows) seen.push(action)
        cursor = nextCursor ?? undefined
        yield* insert({ action: "meanwhile", created_at: "2026-02-01T00:00:00Z" })
      } while (cursor !== undefined)
      assert.strictEqual(seen[0], "late")
      assert.lengthOf(seen, wanted.size)
      assert.deepStrictEqual(new Set(seen), wanted)
      const forged = yield* Effect.flip(log.page({ limit: 1, cursor: "forged" }))
      assert.strictEqual(forged._tag, "InvalidCursor")
    })
  )

  it.effect("filters hold together; a target ignores case and means no pattern", () =>
    Effect.gen(function* () {
      yield* clean
      const log = yield* AuditLog
      yield* insert({ action: "email_unsuppress", target: "a@x.test" })
      yield* insert({ action: "email_unsuppress", target: "b@x.test" })
      yield* insert({ action: "person_erased", target: "a@x.test" })
      const actionsOf = (filter: { readonly action?: string; readonly target?: string }) =>
        Effect.map(log.page({ limit: 9, ...filter }), ({ rows }) =>
          rows.map(({ action, target }) => `${action} ${target}`).sort()
        )
      assert.deepStrictEqual(yield* actionsOf({ target: "A@X.test" }), [
        "email_unsuppress a@x.test",
        "person_erased a@x.test"
      ])
      assert.deepStrictEqual(yield* actionsOf({ action: "email_unsuppress", target: "a@x.test" }), [
        "email_unsuppress a@x.test"
      ])
      assert.deepStrictEqual(yield* actionsOf({ action: "Email_unsuppress" }), [])
      assert.deepStrictEqual(yield* actionsOf({ target: "%" }), [])
      assert.deepStrictEqual(yield* actionsOf({ target: "'; drop table admin_audit_log; --" }), [])
    })
  )
})
