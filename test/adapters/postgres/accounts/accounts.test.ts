import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"

import * as Access from "../../../../src/adapters/postgres/accounts/access.ts"
import * as Accounts from "../../../../src/adapters/postgres/accounts/accounts.ts"
import * as ContactMessages from "../../../../src/adapters/postgres/accounts/contact-messages.ts"
import * as TeamInvites from "../../../../src/adapters/postgres/accounts/team-invites.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import * as SuppressionList from "../../../../src/adapters/postgres/mail/suppression-list.ts"
import { Access as AccessPort } from "../../../../src/ports/accounts/access.ts"
import {
  Accounts as AccountsPort,
  ContactMessages as MessagesPort,
  TeamInvites as InvitesPort
} from "../../../../src/ports/accounts/accounts.ts"
import { SuppressionList as SuppressionsPort } from "../../../../src/ports/mail/suppression-list.ts"
import { anyId } from "../../../support/any-id.ts"
import { layerPostgres, layerWithoutIndexes } from "../../../support/postgres/postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"

const layer = Layer.mergeAll(
  Access.layer({ embedded: false }),
  Accounts.layer,
  ContactMessages.layer,
  SuppressionList.layer,
  TeamInvites.layer
).pipe(Layer.provide(NodeCrypto.layer), Layer.provideMerge(layerPostgres))

const customer = (email: string, name: string | null = null) =>
  WriteSql.use((sql) =>
    Effect.map(
      sql<{ readonly id: string }>`insert into customers (email, name, lifetime_free_pages_used)
        values (${email}, ${name}, 4) returning id`,
      (rows) => rows[0]!.id
    )
  )

const blocked = (email: string) =>
  WriteSql.use((sql) =>
    Effect.map(
      sql<{ readonly found: string }>`select email_suppressions_of(${[email]}::text[])::text as found`,
      (rows) => rows[0]!.found
    )
  )

const keepTwo = MessagesPort.use((messages) =>
  Effect.forEach(["one", "two"], (message) =>
    messages.keep({
      kind: "contact",
      name: undefined,
      email: "a@x.test",
      message,
      rating: undefined,
      page: undefined,
      spam: false
    })
  )
)

suiteLayer(layer)("messages, invitations and accounts on PostgreSQL", (it) => {
  it.effect("messages are kept as they came, but for what Postgres has no place for", () =>
    Effect.gen(function* () {
      const messages = yield* MessagesPort
      const sql = yield* WriteSql
      const kept = {
        name: "A\0nn",
        email: "Ann@Reader.test",
        message: "half \ud800 a pair; '); drop table contact_messages; --",
        rating: undefined,
        page: undefined,
        spam: false
      }
      const id = yield* messages.keep({ kind: "contact", ...kept })
      yield* messages.keep({
        kind: "feedback",
        ...kept,
        name: undefined,
        email: undefined,
        rating: 5,
        page: "/x"
      })
      yield* messages.notified(id)
      const rows =
        yield* sql`select kind, name, email, message, rating, page, spam, notified_at is not null as notified
        from contact_messages order by kind`
      const message = "half \ufffd a pair; '); drop table contact_messages; --"
      assert.deepStrictEqual(
        [...rows],
        [
          {
            kind: "contact",
            name: "A\ufffdnn",
            email: "Ann@Reader.test",
            message,
            rating: null,
            page: null,
            spam: false,
            notified: true
          },
          {
            kind: "feedback",
            name: null,
            email: null,
            message,
            rating: 5,
            page: "/x",
            spam: false,
            notified: false
          }
        ]
      )
      const refused = yield* Effect.flip(messages.keep({ kind: "feedback", ...kept, rating: 6 }))
      assert.strictEqual(refused._tag, "StoreUnavailable")
    })
  )

  it.effect("a message that waits for its mail goes to one of many that sweep, and later again", () =>
    Effect.gen(function* () {
      const messages = yield* MessagesPort
      const sql = yield* WriteSql
      yield* sql`delete from contact_messages`
      yield* keepTwo
      assert.isUndefined(yield* messages.claimWaiting)
      yield* sql`update contact_messages set notify_after = clock_timestamp() where message = 'one'`
      assert.isUndefined(yield* whileOpen(messages.claimWaiting, messages.claimWaiting))
      yield* sql`update contact_messages set notify_after = clock_timestamp(), notify_attempts = 0`
      const claimed = yield* Effect.all(
        Array.from({ length: 10 }, () => messages.claimWaiting),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(claimed.flatMap((one) => one?.message.message ?? []).sort(), ["one", "two"])
      const minutes = Effect.map(
        sql<{
          readonly minutes: number
        }>`select round(extract(epoch from notify_after - clock_timestamp()) / 60)::int as minutes
          from contact_messages where message = 'one'`,
        (rows) => rows[0]!.minutes
      )
      const waits: Array<number> = [yield* minutes]
      for (let attempt = 2; attempt <= 9; attempt++) {
        yield* sql`update contact_messages set notify_after = clock_timestamp() where message = 'one'`
        yield* messages.claimWaiting
        waits.push(yield* minutes)
      }
      assert.deepStrictEqual(waits, [5, 10, 20, 40, 80, 160, 320, 360, 360])
    })
  )

  it.effect("an invitation asked for many times at once is one, and one call sends its mail", () =>
    Effect.gen(function* () {
      const invites = yield* InvitesPort
      const sql = yield* WriteSql
      const customerId = yield* customer("ann@team.test", "Ann")
      const begin = invites.begin({ customerId: anyId(customerId), email: "bob@x.test" })
      const begun = yield* Effect.all(
        Array.from({ length: 20 }, () => begin),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(begun.map((one) => one?.inviteId)).size, 1)
      const sending = begun.filter((one) => one?.todo === "Send")
      assert.strictEqual(sending.length, 1)
      assert.strictEqual(begun.filter((one) => one?.todo === "Busy").length, 19)
      const first = sending[0]!
      if (first.todo !== "Send") return assert.fail("is to be sent")
      assert.strictEqual(first.inviter, "Ann")

      yield* invites.end(first.token, false)
      const second = yield* begin
      if (second?.todo !== "Send") return assert.fail("is to be sent again")
      assert.strictEqual(second.inviteId, first.inviteId)
      assert.notStrictEqual(Redacted.value(second.token), Redacted.value(first.token))
      // A sender that lost its claim changes nothing.
      yield* invites.end(first.token, true)
      assert.strictEqual((yield* begin)?.todo, "Busy")
      yield* invites.end(second.token, true)
      assert.deepStrictEqual(yield* begin, { todo: "Sent", inviteId: first.inviteId })

      const stored = yield* sql`select * from team_invites`
      assert.notInclude(JSON.stringify(stored), Redacted.value(second.token))
      yield* sql`update team_invites set expires_at = now()`
      const renewed = yield* begin
      assert.deepStrictEqual([renewed?.todo, renewed?.inviteId], ["Send", first.inviteId])
    })
  )

  it.effect("an invitation whose sender died is sent by the next", () =>
    Effect.gen(function* () {
      const invites = yield* InvitesPort
      const sql = yield* WriteSql
      const customerId = yield* customer("dead@team.test")
      const begin = invites.begin({ customerId: anyId(customerId), email: "bob@x.test" })
      assert.strictEqual((yield* begin)?.todo, "Send")
      yield* sql`update team_invites set sending_until = now() where customer_id = ${customerId}::uuid`
      assert.strictEqual((yield* begin)?.todo, "Send")
    })
  )

  it.effect("an invitation of a team that is being closed waits for its end, and is none", () =>
    Effect.gen(function* () {
      const invites = yield* InvitesPort
      const accounts = yield* AccountsPort
      const customerId = anyId(yield* customer("ending@team.test"))
      const begun = yield* whileOpen(
        accounts.close(customerId),
        invites.begin({ customerId, email: "bob@x.test" })
      )
      assert.isUndefined(begun)
      const sql = yield* WriteSql
      assert.lengthOf(yield* sql`select from team_invites where customer_id = ${customerId}::uuid`, 0)
    })
  )

  it.effect(
    "an invitation is accepted once, by the first; not when it is too old, forged or its team is gone",
    () =>
      Effect.gen(function* () {
        const invites = yield* InvitesPort
        const sql = yield* WriteSql
        const customerId = yield* customer("eve@team.test")
        const tokenFor = (email: string) =>
          Effect.map(invites.begin({ customerId: anyId(customerId), email }), (begun) =>
            begun?.todo === "Send" ? Redacted.value(begun.token) : assert.fail("is to be sent")
          )
        const token = yield* tokenFor("bob@x.test")
        const accepted = yield* Effect.all(
          Array.from({ length: 10 }, () => invites.accept(token)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          accepted.filter((one) => one !== undefined).map(({ inviter }) => inviter),
          ["eve@team.test"]
        )
        // Accepted is accepted: the same address can be invited anew.
        const again = yield* tokenFor("bob@x.test")
        yield* sql`update team_invites set expires_at = now() where accepted_at is null`
        assert.isUndefined(yield* invites.accept(again))
        for (const forged of ["", "x", "\0", "a".repeat(43), "a".repeat(5000)]) {
          assert.isUndefined(yield* invites.accept(forged))
        }
        const last = yield* tokenFor("carl@x.test")
        yield* sql`update customers set deleted_at = now() where id = ${customerId}::uuid`
        assert.isUndefined(yield* invites.accept(last))
        assert.isUndefined(yield* invites.begin({ customerId: anyId(customerId), email: "dora@x.test" }))
      })
  )

  it.effect("an account is closed once, and everything that lets somebody in ends with it", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountsPort
      const access = yield* AccessPort
      const invites = yield* InvitesPort
      const sql = yield* WriteSql
      const customerId = yield* customer("closing@x.test", "Clo Sing")
      const { token } = yield* access.createToken({
        name: "cli",
        rights: ["owner"],
        customerId: anyId(customerId)
      })
      const session = yield* access.beginSession(Redacted.value(token))
      yield* sql`insert into magic_links (token_hash, customer_id, expires_at)
        values (sha256('x'::bytea), ${customerId}::uuid, now() + interval '1 hour')`
      yield* invites.begin({ customerId: anyId(customerId), email: "bob@x.test" })
      const other = yield* customer("other@x.test", "Other")
      const { token: others } = yield* access.createToken({
        name: "o",
        rights: ["owner"],
        customerId: anyId(other)
      })

      const closed = yield* Effect.all(
        Array.from({ length: 8 }, () => accounts.close(anyId(customerId))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        closed.filter((one) => one !== undefined).map(({ email }) => email),
        ["closing@x.test"]
      )
      assert.isUndefined(yield* access.byToken(Redacted.value(token)))
      assert.isUndefined(yield* access.bySession(Redacted.value(session!.cookie)))
      const rows =
        yield* sql`select name, deleted_at is not null as deleted, lifetime_free_pages_used as pages,
          (select count(*)::int from sessions where customer_id = c.id) as sessions,
          (select count(*)::int from magic_links where customer_id = c.id) as links,
          (select count(*)::int from team_invites where customer_id = c.id) as invites
        from customers c where id = ${customerId}::uuid`
      assert.deepStrictEqual(
        [...rows],
        [{ name: null, deleted: true, pages: 4, sessions: 0, links: 0, invites: 0 }]
      )
      assert.isDefined(yield* access.byToken(Redacted.value(others)))
      // Who opens the account again by a magic link does not bring its old tokens back.
      yield* sql`update customers set deleted_at = null where id = ${customerId}::uuid`
      assert.isUndefined(yield* access.byToken(Redacted.value(token)))
    })
  )

  it.effect("P3: an erased person's address is gone, and still blocks", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountsPort
      const suppressions = yield* SuppressionsPort
      const messages = yield* MessagesPort
      const sql = yield* WriteSql
      const email = "gone@x.test"
      yield* customer(email, "Gone")
      yield* sql`insert into email_suppressions (email, reason) values (${email}, 'complaint'), (${email}, 'hard_bounce')`
      yield* sql`insert into email_log (status, provider, provider_message_id, to_addresses, subject, raw, suppression_marks)
        values ('bounced', 'provider_a', 'm-erase', ${[email, "b@x.test"]}, 'Hello Gone', '{"to":"gone@x.test"}',
          ${[`hard_bounce:${email}`]})`
      yield* messages.keep({
        kind: "contact",
        name: "Gone",
        email: "Gone@X.test",
        message: "m",
        rating: undefined,
        page: undefined,
        spam: false
      })
      const before = yield* blocked(email)
      assert.include(before, "complaint")
      assert.include(before, "hard_bounce")

      const erased = yield* Effect.all(
        Array.from({ length: 4 }, () => accounts.erase({ email, actor: "admin" })),
        { concurrency: "unbounded" }
      )
      assert.isTrue(erased.includes(true))
      assert.deepStrictEqual(
        JSON.parse(yield* blocked(email)).toSorted((a: { reason: string }, b: { reason: string }) =>
          a.reason < b.reason ? -1 : 1
        ),
        [
          { email, reason: "complaint" },
          { email, reason: "hard_bounce" }
        ]
      )
      assert.strictEqual(yield* blocked("b@x.test"), "[]")

      const tables = yield* sql<{
        readonly name: string
      }>`select table_name as name from information_schema.tables
        where table_schema = 'public' and table_type = 'BASE TABLE'`
      for (const { name } of tables) {
        const held = yield* sql.unsafe(`select x::text from ${name} x where x::text ilike '%gone@x.test%'`)
        assert.deepStrictEqual([name, [...held]], [name, []])
      }
      const log =
        yield* sql`select status, to_addresses[2] as other from email_log where provider_message_id = 'm-erase'`
      assert.deepStrictEqual([...log], [{ status: "bounced", other: "b@x.test" }])

      // A bounce that comes late is kept by the hash that the row names, not as a strange address of the list.
      const late = `select * from record_email_event('provider_a', 'm-late', 'bounced', p_bounce_type => 'Permanent')`
      yield* sql`insert into email_log (status, outcome, recipient_count, provider, provider_message_id, to_addresses)
        values ('sent', 'sent', 1, 'provider_a', 'm-late', array['late@x.test'])`
      yield* accounts.erase({ email: "late@x.test", actor: "admin" })
      yield* sql.unsafe(late)
      assert.deepStrictEqual(JSON.parse(yield* blocked("late@x.test")), [
        { email: "late@x.test", reason: "hard_bounce" }
      ])
      assert.lengthOf(yield* sql`select from email_suppressions where email like 'erased:%'`, 0)

      // Who comes back has used the free pages, and does not get mail until an admin says so.
      yield* sql`insert into customers (email) values (${email})`
      const back = yield* sql`select lifetime_free_pages_used as pages from customers where email = ${email}`
      assert.deepStrictEqual([...back], [{ pages: 4 }])
      assert.strictEqual(yield* suppressions.remove({ email, actor: "admin", note: "asked" }), 2)
      assert.strictEqual(yield* blocked(email), "[]")
      const audit = yield* sql`select action, details -> 'reasons' as reasons from admin_audit_log
        where action = 'email_unsuppress' and target = ${email}`
      assert.deepStrictEqual(
        [...audit],
        [{ action: "email_unsuppress", reasons: ["complaint", "hard_bounce"] }]
      )
      assert.isTrue(yield* accounts.erase({ email, actor: "admin" }))
      assert.isFalse(yield* accounts.erase({ email: "nobody@x.test", actor: "admin" }))
    })
  )
})

suiteLayer(ContactMessages.layer.pipe(Layer.provideMerge(layerWithoutIndexes)))(
  "messages on PostgreSQL without indexes, which have an order of their own",
  (it) => {
    it.effect("the message that has waited for longest is the next", () =>
      Effect.gen(function* () {
        const messages = yield* MessagesPort
        const sql = yield* WriteSql
        yield* sql`delete from contact_messages`
        yield* keepTwo
        const due = (message: string, minutes: number) =>
          sql`update contact_messages set notify_after = clock_timestamp() - make_interval(mins => ${minutes})
          where message = ${message}`
        for (const [one, two] of [
          [1, 2],
          [2, 1]
        ] as const) {
          yield* Effect.andThen(due("one", one), due("two", two))
          const longest = yield* messages.claimWaiting
          assert.strictEqual(longest?.message.message, one > two ? "one" : "two", "the longest wait first")
        }
      })
    )
  }
)
