import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"

/** Rows of one transaction. */
const PART = 50_000

/** Connections that write at the same time. */
export const WRITERS = 4

/** What is filled. */
const TABLES = ["email_log", "email_events"]

const SECONDS_OF_A_YEAR = 31_536_000

/** What of the tables' indexes is dropped while they fill, and how each is made again: one sort instead of a search for each row. */
const INDEXES = `select format('alter table %s drop constraint %I', c.conrelid::regclass, c.conname) as drop,
  format('alter table %s add constraint %I %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) as make
from pg_constraint c
where c.conrelid = any ($1::regclass[]) and c.contype in ('p', 'u')
union all
select format('drop index %s', i.indexrelid::regclass), pg_get_indexdef(i.indexrelid)
from pg_index i
where i.indrelid = any ($1::regclass[])
  and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`

/**
 * Mails in the order in which they were sent, each with its events, over a year. `chance` and `taste` spread them: statuses in the
 * shares of an ordinary sender, categories each with subjects and sources of its own, half a million people at twenty hosts, every second
 * mail with a key, every thirtieth with a copy to somebody.
 */
const mails = (rows: number, from: number, to: number) => `with mail as (
  insert into email_log (category, source, from_address, to_addresses, other_addresses, recipient_count, subject, outcome, status,
    provider, provider_message_id, last_event, last_event_at, raw, error, error_kind, failed_over, cost_usd, idempotency_key, key_hash,
    created_at, updated_at)
  select m.category, 'api:' || m.category, 'noreply@postlane.test', array[m.person], m.others, 1 + cardinality(m.others),
    case m.category
      when 'transactional' then (array['Your order ', 'Receipt for order ', 'Invoice INV-'])[1 + n % 3] || n
        || (array[' has shipped', '', ' is ready'])[1 + n % 3]
      when 'notification' then 'Weekly summary ' || n % 52 || ' for team ' || taste % 9000
      when 'marketing' then 'Offers of week ' || n % 52
      when 'auth' then 'Your sign-in link'
      when 'alert' then 'Disk usage is ' || 80 + n % 20 || ' % on host db-' || taste % 300
    end,
    case when m.status in ('failed', 'suppressed') then m.status else 'sent' end, m.status,
    m.provider, case when m.status <> 'suppressed' then gen_random_uuid()::text end,
    'email.' || m.status, m.at + interval '20 seconds',
    ('{"type":"email.' || m.status || '","data":{"email_id":"' || md5(n::text) || '","to":["' || m.person || '"],"tags":{"postlane_key":"'
      || md5(m.person) || md5(m.category) || '"},"from":"noreply@postlane.test"}}')::jsonb,
    case when m.status = 'failed' then 'the address is not accepted' end, case when m.status = 'failed' then 'rejected' end,
    taste % 100 = 0, case m.provider when 'provider_a' then 0.0004 else 0.0001 end,
    m.key, encode(sha256(convert_to(m.key, 'UTF8')), 'hex'), m.at, m.at + interval '20 seconds'
  from generate_series(${from}, ${to}) as n
  cross join lateral (select abs(hashint4(n)::bigint) % 1000 as chance, abs(hashint4(-n)::bigint) as taste) as x
  cross join lateral (select
    case when chance < 3 then 'failed' when chance < 5 then 'suppressed' when chance < 20 then 'bounced' when chance < 21 then 'complained'
      when chance < 40 then 'sent' when chance < 300 then 'opened' when chance < 350 then 'clicked' else 'delivered' end as status,
    case when taste % 100 < 45 then 'transactional' when taste % 100 < 70 then 'notification' when taste % 100 < 90 then 'marketing'
      when taste % 100 < 98 then 'auth' when taste % 100 < 99 then 'alert' else 'unknown' end as category,
    case when chance % 10 = 7 then 'provider_b' else 'provider_a' end as provider,
    'person' || taste % 500000 || '@host' || taste % 20 || '.example' as person,
    case when taste % 30 = 0 then array['copy' || taste % 1000 || '@host1.example'] else '{}' end as others,
    case when n % 2 = 0 then 'order-' || n end as key,
    now() - make_interval(secs => ${rows} - n) * ${SECONDS_OF_A_YEAR / rows} as at) as m
  returning id, status, raw, created_at
)
insert into email_events (send_id, number, event, occurred_at, listed, raw, raw_bytes)
select mail.id, e.number, e.event, mail.created_at + e.number * interval '10 seconds', false, mail.raw, 250
from mail
cross join lateral (
  select 1, 'sent' where mail.status <> 'suppressed'
  union all select 2, mail.status where mail.status not in ('sent', 'suppressed', 'failed')
) as e(number, event)`

/** Keys stay bound for a day. */
const CLAIMS = `insert into email_send_claims (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at)
select key_hash, key_hash, 'accepted', provider, false, 'bench', created_at
from email_log where created_at > now() - interval '1 day' and key_hash is not null`

/** Runs statements in one transaction, as long as it takes: the role's own limits are for the product's statements. */
const inBulk = (sql: WriteSql["Service"], statements: ReadonlyArray<string>) =>
  sql.withTransaction(
    Effect.forEach(
      [
        "set local statement_timeout = 0",
        "set local lock_timeout = 0",
        "set local synchronous_commit = off",
        "set local maintenance_work_mem = '512MB'",
        // Compiling a plan takes a second of each part, and makes it no quicker.
        "set local jit = off",
        ...statements
      ],
      (statement) => sql.unsafe(statement).unprepared,
      { discard: true }
    )
  )

/**
 * A year of mail. The daily statistics stay empty: they are the product's own to make, by `close_email_stats_day`. The order of the rows
 * is, within two weeks, that in which they were sent, as in a log that grew.
 */
export const fillLog = (rows: number) =>
  Effect.gen(function* () {
    const sql = yield* WriteSql
    const indexes = yield* sql.unsafe<{ readonly drop: string; readonly make: string }>(INDEXES, [TABLES])
      .unprepared
    yield* inBulk(sql, [
      "alter table email_log disable trigger user",
      ...TABLES.map((table) => `alter table ${table} set (autovacuum_enabled = off)`),
      ...indexes.map((index) => index.drop)
    ])
    const parts = Array.from({ length: Math.ceil(rows / PART) }, (_, part) => part * PART)
    yield* Effect.forEach(
      parts,
      (from) => inBulk(sql, [mails(rows, from + 1, Math.min(rows, from + PART))]),
      { concurrency: WRITERS, discard: true }
    )
    yield* Effect.forEach(indexes, (index) => inBulk(sql, [index.make]), {
      concurrency: WRITERS,
      discard: true
    })
    yield* inBulk(sql, [
      "alter table email_log enable trigger user",
      ...TABLES.map((table) => `alter table ${table} reset (autovacuum_enabled)`),
      CLAIMS
    ])
  })

/** What the database's own upkeep does after a while. On one connection. */
export const vacuumLog = WriteSql.use((sql) =>
  Effect.forEach(
    [
      "set statement_timeout = 0",
      ...[...TABLES, "email_send_claims"].map((table) => `vacuum analyze ${table}`)
    ],
    (statement) => sql.unsafe(statement).unprepared,
    { discard: true }
  )
)
