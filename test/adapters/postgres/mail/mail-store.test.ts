import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Schedule } from "effect"

import { ReadSql, WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import { MailStore } from "../../../../src/ports/mail/mail-store.ts"
import { suite } from "../../../contracts/mail/mail-store/index.ts"
import { attempt, mail } from "../../../contracts/mail/mail-store/mails.ts"
import { anyId } from "../../../support/any-id.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { makePostgresWorld } from "../../../support/worlds/mail-world.ts"

const layerStore = layer.pipe(Layer.provideMerge(layerPostgres))

suite(
  "PostgreSQL",
  Effect.flatMap(Layer.build(layerStore), (context) => Effect.provide(makePostgresWorld, context))
)

/** Asks the database until it says so. */
const until = (ask: Effect.Effect<ReadonlyArray<object>, unknown>) =>
  ask.pipe(
    Effect.orDie,
    Effect.repeat({ until: (rows) => rows.length > 0, schedule: Schedule.spaced("20 millis") })
  )

describe("mail store: PostgreSQL, when things go wrong", () => {
  it.live("writes a row whose connection was cut and whose caller went away (S6)", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      // Not the transaction's connection, which sees one picture of the activity.
      const aside = yield* ReadSql
      const store = yield* MailStore
      const entry = attempt(mail(), "sent", { providerMessageId: "cut" })
      const waiting = aside`select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%record_email_sends%'`
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`lock table email_log in access exclusive mode`
          const caller = yield* Effect.forkDetach(store.record(entry), { startImmediately: true })
          yield* until(waiting)
          yield* Fiber.interrupt(caller)
          yield* aside`select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and query like '%record_email_sends%'`
        })
      )
      const rows = yield* until(sql`select id from email_log where provider_message_id = 'cut'`)
      assert.deepStrictEqual(rows, [{ id: entry.rowId }])
    }).pipe(Effect.provide(layerStore))
  )

  it.live("fails an entry that the database refuses, and none of its neighbours", () =>
    Effect.gen(function* () {
      const store = yield* MailStore
      const entries = Array.from({ length: 20 }, (_, index) => {
        const entry = attempt(mail(), "sent", { providerMessageId: `poison-${index}` })
        return index === 7 ? { ...entry, rowId: anyId("no uuid") } : entry
      })
      const exits = yield* Effect.forEach(entries, (entry) => Effect.exit(store.record(entry)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        exits.flatMap((exit, index) => (Exit.isFailure(exit) ? [index] : [])),
        [7]
      )
    }).pipe(Effect.provide(layerStore))
  )

  it.live("takes an answer that does not decode for a failure of that call alone", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const store = yield* MailStore
      yield* sql`insert into email_send_claims
        (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at, result)
        values ('strange', 'p', 'accepted', 'provider_a', false, 'o', now(), '{"status": "strange"}')`
      const ask = (keyHash: string) =>
        Effect.exit(
          store.begin({
            keyHash: anyId(keyHash),
            addresses: [],
            claim: {
              payloadHash: "p",
              provider: "provider_a",
              owner: `owner of ${keyHash}`,
              leaseMs: 1_000,
              tag: undefined,
              known: undefined
            }
          })
        )
      const [strange, plain] = yield* Effect.all([ask("strange"), ask("plain")], { concurrency: "unbounded" })
      assert.isTrue(Exit.isFailure(strange) && Exit.isSuccess(plain))
    }).pipe(Effect.provide(layerStore))
  )
})
