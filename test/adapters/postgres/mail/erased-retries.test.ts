import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import * as Queue from "../../../../src/adapters/postgres/mail/defer-queue.ts"
import * as Store from "../../../../src/adapters/postgres/mail/mail-store.ts"
import type { DeferredSend } from "../../../../src/domain/mail/deferred-send.ts"
import { DeferQueue } from "../../../../src/ports/mail/defer-queue.ts"
import { MailStore } from "../../../../src/ports/mail/mail-store.ts"
import { attempt, fresh, mail, retrying, rowId } from "../../../contracts/mail/mail-store/mails.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const name = Queue.QueueName.make("erased")

/** The message of a deferral, whose row is written unless the log was away. */
const waiting = Effect.fnUntraced(function* (to: ReadonlyArray<string>, logged = true) {
  const { enqueue } = yield* DeferQueue
  const store = yield* MailStore
  const one = mail({ to })
  if (logged) yield* store.record(attempt(one, "deferred"))
  const message: DeferredSend = {
    version: 1,
    rowId: rowId(),
    attempt: 1,
    request: {
      provider: "provider_a",
      key: one.details.idempotencyKey,
      body: { to, html: "<p>Dear you</p>" }
    },
    details: one.details,
    firstAttemptAt: Date.now(),
    failedOver: false
  }
  yield* enqueue(message, 3600)
  return { one, message }
})

const erase = (email: string) =>
  Effect.flatMap(
    WriteSql,
    (sql) => sql<{ readonly found: boolean }>`select erase_person(${email}, 'admin') as found`
  ).pipe(Effect.map(([row]) => row?.found))

/** All that the database keeps of an address, its queue and its log. */
const kept = (email: string) =>
  Effect.flatMap(
    WriteSql,
    (sql) => sql<{ readonly text: string }>`
      select coalesce(string_agg(x.text, ' '), '') as text from (
        select q::text as text from email_defer_queue q union all
        select l::text from email_log l union all
        select c::text from email_send_claims c
      ) as x where position(${email} in x.text) > 0`
  ).pipe(Effect.map(([row]) => row?.text))

const rowsOf = (keyHash: string) =>
  Effect.flatMap(
    WriteSql,
    (sql) => sql<{
      readonly status: string
      readonly error: string | null
      readonly to: ReadonlyArray<string>
    }>`
      select status, error, to_addresses as to from email_log where key_hash = ${keyHash} order by created_at, id`
  )

const dead = (id: string) =>
  Effect.flatMap(
    WriteSql,
    (sql) =>
      sql`update email_defer_queue set state = 'failed', attempts = 3, last_failure = 'crashed' where id = ${id}`
  )

const person = () => `${fresh("ann")}@x.test`

layer(
  Layer.mergeAll(Queue.layer({ name, visibilitySeconds: 30 }), Store.layer).pipe(
    Layer.provideMerge(layerPostgres)
  )
)("an erased person's retries (MAIL-66, P3)", (it) => {
  it.effect("one that waits ends suppressed at once, and nothing of it stays", () =>
    Effect.gen(function* () {
      const email = person()
      const { one } = yield* waiting([email])
      const unlogged = yield* waiting([email], false)
      assert.isTrue(yield* erase(email))
      const alone = /^erased:[0-9a-f]{64}$/
      for (const { keyHash } of [one.details, unlogged.one.details]) {
        const last = (yield* rowsOf(keyHash)).at(-1)
        assert.deepInclude(last, {
          status: "suppressed",
          error: "Recipient suppressed: erased; an earlier attempt may have been accepted"
        })
        assert.match(last?.to[0] ?? "", alone)
      }
      assert.strictEqual(yield* kept(email), "")
    })
  )

  it.effect("a dead letter ends, suppressed or failed, and nothing of it stays", () =>
    Effect.gen(function* () {
      const email = person()
      const [single, shared] = [yield* waiting([email]), yield* waiting([email, person()])]
      yield* dead(single.message.rowId)
      yield* dead(shared.message.rowId)
      yield* erase(email)
      const ends = yield* Effect.forEach([single, shared], ({ one }) => rowsOf(one.details.keyHash))
      assert.deepStrictEqual(
        ends.map((rows) => rows.map(({ status }) => status)),
        [
          ["deferred", "suppressed"],
          ["deferred", "failed"]
        ]
      )
      assert.strictEqual(yield* kept(email), "")
    })
  )

  it.effect("one with other recipients waits on, and leaves the person out when it comes", () =>
    Effect.gen(function* () {
      const store = yield* MailStore
      const [email, other] = [person(), person()]
      const { message, one } = yield* waiting([email, other])
      yield* erase(email)
      const began = yield* store.beginRetry({
        ...retrying(one),
        rowId: message.rowId,
        addresses: [email, other]
      })
      assert.deepInclude(began, { _tag: "Go", suppressions: [{ email, reason: "erased" }] })
      assert.lengthOf(yield* rowsOf(one.details.keyHash), 1)
    })
  )

  it.effect("one whose key has no row is known by the audit log, elsewhere than in this queue too", () =>
    Effect.gen(function* () {
      const store = yield* MailStore
      const email = person()
      const one = mail({ to: [email] })
      yield* (yield* WriteSql)`insert into customers (email) values (${email})`
      yield* erase(email)
      const began = yield* store.beginRetry({ ...retrying(one), addresses: [email] })
      assert.deepInclude(began, { _tag: "Go", suppressions: [{ email, reason: "erased" }] })
    })
  )

  it.effect("an element that is no message is deleted where it names the person, and nothing fails", () =>
    Effect.gen(function* () {
      const email = person()
      const sql = yield* WriteSql
      yield* sql`insert into email_defer_queue (id, queue_name, element, state, visible_at, created_at, updated_at)
          values (gen_random_uuid()::text, 'erased', ${`{"broken": ${email}`}, 'failed', now(), now(), now())`
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(erase(email))))
      assert.strictEqual(yield* kept(email), "")
    })
  )
})
