import { createHmac } from "node:crypto"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Redacted, Schedule } from "effect"

import { ReadSql, WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import { FIRST_USE, makeUseTag } from "../../../../src/application/mail/use-tag.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../../src/domain/mail/failover.ts"
import { MailStore } from "../../../../src/ports/mail/mail-store.ts"
import { suite } from "../../../contracts/mail/mail-store/index.ts"
import { asking, attempt, fresh, mail, retrying, settling } from "../../../contracts/mail/mail-store/mails.ts"
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

describe("mail store: PostgreSQL, the tag of a use", () => {
  it.live("is an HMAC under the database's secret, made there as it is made here (MAIL-12)", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const store = yield* MailStore
      assert.isUndefined(yield* store.tagSecret)
      const one = mail()
      const ask = asking(one, { tag: undefined })
      const { decision } = yield* store.begin(ask)
      const secret = yield* store.tagSecret
      assert.isTrue(decision._tag === "Claimed" && secret !== undefined)
      if (decision._tag !== "Claimed" || secret === undefined) return
      const { keyHash } = one.details
      const useTag = yield* makeUseTag.pipe(Effect.provide(NodeCrypto.layer))
      const tag = yield* useTag(secret, keyHash, FIRST_USE)
      assert.strictEqual(decision.tag, tag)
      const hmacOf = (use: string) =>
        anyId(createHmac("sha256", Redacted.value(secret)).update(`${keyHash} ${use}`).digest("hex"))
      assert.strictEqual(tag, hmacOf(FIRST_USE))
      const stored = yield* sql`select tag from email_send_claims where key_hash = ${keyHash}`
      assert.deepStrictEqual(stored, [{ tag }])
      const world = yield* makePostgresWorld
      yield* world.store.record(
        attempt({ details: { ...one.details, keyTag: tag } }, "sent", {
          providerMessageId: fresh("m"),
          settle: settling(ask, one, "accepted", "sent")
        })
      )
      yield* world.advance(IDEMPOTENCY_WINDOW_MS)
      // Of the next use, whether or not its expired claim has been dropped.
      const next = asking(one, { tag })
      const again = yield* store.begin(next)
      assert.strictEqual(again.decision._tag === "Claimed" && again.decision.tag, hmacOf(next.claim.owner))
      yield* sql`delete from email_send_claims`
      const third = asking(one, { tag })
      const later = yield* store.begin(third)
      assert.strictEqual(later.decision._tag === "Claimed" && later.decision.tag, hmacOf(third.claim.owner))
    }).pipe(Effect.provide(layerStore))
  )

  it.live(
    "outlives a change of the secret: what is under way is settled, and the next use has another one",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const world = yield* makePostgresWorld
        const one = mail()
        const ask = asking(one, { tag: undefined })
        const { decision } = yield* world.store.begin(ask)
        assert.strictEqual(decision._tag, "Claimed")
        if (decision._tag !== "Claimed") return
        const details = { ...one.details, keyTag: decision.tag ?? null }
        yield* world.store.record(
          attempt({ details }, "deferred", { settle: settling(ask, one, "deferred", "deferred") })
        )
        yield* sql`update email_tag_secrets set secret = decode(repeat('ab', 32), 'hex')`
        const event = { provider: "provider_a", event: "delivered", keyTag: decision.tag } as const
        yield* world.recordEvent({ ...event, providerMessageId: "before the change" })
        assert.strictEqual((yield* world.store.beginRetry(retrying({ details })))._tag, "Settled")
        const next = yield* world.store.begin(asking(mail(), { tag: undefined }))
        assert.isTrue(next.decision._tag === "Claimed" && next.decision.tag !== decision.tag)
        const tags = yield* sql`select email_use_tag('key', 'use') as tag`
        const expected = createHmac("sha256", Buffer.from("ab".repeat(32), "hex"))
          .update("key use")
          .digest("hex")
        assert.deepStrictEqual(tags, [{ tag: expected }])
      }).pipe(Effect.provide(layerStore))
  )

  it.live(
    "of a message that an earlier version queued is the hash of its key, and still settled by its events",
    () =>
      Effect.gen(function* () {
        const world = yield* makePostgresWorld
        const { keyTag: _, ...details } = mail().details
        yield* world.store.record(attempt({ details }, "deferred"))
        const keyTag = anyId(details.keyHash)
        yield* world.recordEvent({
          provider: "provider_b",
          providerMessageId: fresh("m"),
          event: "delivered",
          keyTag
        })
        assert.strictEqual((yield* world.store.beginRetry(retrying({ details })))._tag, "Settled")
      }).pipe(Effect.provide(layerStore))
  )
})

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
