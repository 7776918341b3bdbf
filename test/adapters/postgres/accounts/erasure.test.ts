import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"

const OTHER = "other@x.test"

/** The only trace of a person, `$1`, and what is left of it. `$2`: another customer. */
const TRACES = {
  "a suppression": [
    "insert into email_suppressions (email, reason) select $1, 'complaint' from customers where id = $2::uuid",
    "select from email_suppressions where email = $1 and $2 <> ''"
  ],
  "an admin": [
    "insert into admins (email, rights, invited_by) select $1, '{admin}', $2",
    "select from admins where email = $1 and $2 <> ''"
  ],
  "a share": [
    `with f as (insert into files (customer_id, name, kind, size_bytes, pages, object_key)
      values ($2::uuid, 'a.pdf', 'pdf', 1, 1, 'k') returning id)
      insert into file_shares (file_id, email, shared_at, expires_at) select id, upper($1), now(), now() from f`,
    "select from file_shares where lower(email) = $1 and $2 <> ''"
  ],
  "an invitation": [
    `insert into team_invites (customer_id, email, token_hash, expires_at)
      values ($2::uuid, $1, sha256(convert_to($1, 'utf8')), now() + interval '1 day')`,
    "select from team_invites where email = $1 and $2 <> ''"
  ],
  "a message": [
    "insert into contact_messages (kind, email, message) select 'contact', upper($1), $2",
    "select from contact_messages where lower(email) = $1 and $2 <> ''"
  ],
  "an account": [
    "insert into customers (email, name) select $1, 'Ann' where $2 <> ''",
    "select from customers where email = $1 and $2 <> ''"
  ]
} as const

layer(layerPostgres)("erasing a person (P3)", (it) => {
  const other = Effect.gen(function* () {
    const sql = yield* WriteSql
    yield* sql`insert into customers (email) values (${OTHER}) on conflict do nothing`
    const [row] = yield* sql<{ readonly id: string }>`select id from customers where email = ${OTHER}`
    return row!.id
  })

  const erase = (email: string) =>
    WriteSql.use((sql) =>
      Effect.map(
        sql<{ readonly found: boolean }>`select erase_person(${email}, 'admin') as found`,
        ([row]) => row!.found
      )
    )

  for (const [name, [leave, left]] of Object.entries(TRACES))
    it.effect(`takes ${name} away, though there is no other trace, and says so once`, () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const email = "ann@p3.test"
        const values = [email, yield* other]
        assert.isFalse(yield* erase(email))
        yield* sql.unsafe(leave, values)
        assert.lengthOf(yield* sql.unsafe(left, values), 1)
        assert.isTrue(yield* erase(email))
        assert.lengthOf(yield* sql.unsafe(left, values), 0)
        assert.isFalse(yield* erase(email))
      })
    )

  it.effect("waits for what is just being written of the person's mails, and takes that away, too", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const email = "eva@p3.test"
      const event = {
        provider: "provider_a",
        provider_message_id: "m-eva",
        event: "complained",
        recipients: [email]
      }
      const heard = sql`select from record_email_events(${JSON.stringify([event])}::jsonb)`
      assert.isTrue(yield* whileOpen(heard, erase(email)))
      const left = yield* sql`select email from email_suppressions where email = ${email}
        union all select ${email} from email_log where ${email} = any (to_addresses || other_addresses)`
      assert.deepStrictEqual(left, [])
    })
  )

  it.effect("closes the account, and takes away what lets anybody in, and the answers that are kept", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const [row] = yield* sql<{
        readonly id: string
      }>`insert into customers (email, name) values ('bob@p3.test', 'Bob') returning id`
      const id = row!.id
      yield* sql`insert into api_tokens (token_hash, name, rights, customer_id)
        values (sha256('bob'), 'cli', '{owner}', ${id}::uuid)`
      yield* sql`insert into sessions (token_hash, actor, rights, customer_id, expires_at)
        values (sha256('bob'), 'bob', '{owner}', ${id}::uuid, now() + interval '1 day')`
      yield* sql`insert into request_keys (customer_id, key_hash, request_hash, call_id, lease, held_until)
        values (${id}::uuid, 'k', 'r', gen_random_uuid(), gen_random_uuid(), now())`
      assert.isTrue(yield* erase("bob@p3.test"))
      assert.deepStrictEqual(
        yield* sql`select name, email like 'erased:%' as erased, deleted_at is not null as closed,
            (select count(*)::integer from api_tokens t where t.customer_id = c.id) as tokens,
            (select count(*)::integer from sessions s where s.customer_id = c.id) as sessions,
            (select count(*)::integer from request_keys k where k.customer_id = c.id) as keys
          from customers c where id = ${id}::uuid`,
        [{ name: null, erased: true, closed: true, tokens: 0, sessions: 0, keys: 0 }]
      )
    })
  )

  it.effect("takes the address out of the result that a key is answered with", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* sql`insert into email_log (status, to_addresses, key_hash) values ('suppressed', '{cy@p3.test}', 'cy')`
      const result = { ok: false, suppressedRecipients: ["cy@p3.test", OTHER] }
      yield* sql`insert into email_send_claims
          (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at, result)
        values ('cy', 'p', 'accepted', 'provider_a', false, 'o', now(), ${JSON.stringify(result)}::jsonb)`
      assert.isTrue(yield* erase("cy@p3.test"))
      const [row] = yield* sql<{ readonly masked: boolean; readonly other: string }>`select
          result -> 'suppressedRecipients' ->> 0 like 'erased:%' as masked, result -> 'suppressedRecipients' ->> 1 as other
        from email_send_claims where key_hash = 'cy'`
      assert.deepStrictEqual(row, { masked: true, other: OTHER })
    })
  )

  it.effect("takes alerts about nobody else away, and the words of a mail out of the others", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const email = "dora@p3.test"
      /** An alert about a mail to these, which names those. */
      const alert = Effect.fnUntraced(function* (
        to: ReadonlyArray<string>,
        recipients: ReadonlyArray<string>
      ) {
        const [row] = yield* sql<{ readonly id: string }>`insert into email_log (status, to_addresses)
          values ('bounced', ${to}::text[]) returning id`
        const details = { recipients, subject: "Hello Dora", reason: "Dora is unknown" }
        yield* sql`insert into email_alerts (send_id, due_at, details)
          values (${row!.id}::uuid, now(), ${JSON.stringify(details)}::jsonb)`
        return sql`select details from email_alerts where send_id = ${row!.id}::uuid`
      })
      const named = yield* alert([email, OTHER], [email])
      const alone = yield* alert([email], [])
      const others = yield* alert([email, OTHER], [OTHER])
      const strange = yield* alert([OTHER], [OTHER])
      assert.isTrue(yield* erase(email))
      const kept = (subject: string | null, reason: string | null) => [
        { details: { recipients: [OTHER], subject, reason } }
      ]
      assert.deepStrictEqual(
        [yield* named, yield* alone, yield* others, yield* strange],
        [[], [], kept(null, null), kept("Hello Dora", "Dora is unknown")]
      )
    })
  )

  it.effect(
    "takes the address out of subjects of others' mails, and out of the keys of the person's own",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const email = "eve_n@p3.test"
        yield* sql`insert into email_log (status, to_addresses, subject, idempotency_key, key_hash) values
        ('bounced', array[${email}], 'Welcome', 'welcome-Eve_N@p3.test', 'p3-1'),
        ('sent', array[${email}], 'Welcome', 'order-17', 'p3-2'),
        ('sent', array['ops@p3.test'], '[Postlane] A mail bounced: Eve_N@p3.test', 'alert', 'p3-3'),
        ('sent', array['ops@p3.test'], '[Postlane] A mail bounced: evexn@p3.test', 'alert', 'p3-4')`
        assert.isTrue(yield* erase(email))
        assert.deepStrictEqual(
          yield* sql`select subject, idempotency_key as key from email_log where key_hash like 'p3-%' order by key_hash`,
          [
            { subject: null, key: null },
            { subject: null, key: "order-17" },
            { subject: null, key: "alert" },
            { subject: "[Postlane] A mail bounced: evexn@p3.test", key: "alert" }
          ]
        )
      })
  )
})
