import { Pool } from "pg"

import { attemptsJson, hashOf, resultJson } from "../senders/bare-statements.ts"
import { resendClient } from "../senders/peers.ts"
import { FROM, next } from "../senders/sender.ts"
import type { OpenContender } from "./contender.ts"
import { fillQueue } from "./postlane-queue.ts"
import type { QueuedMail } from "./queued-mail.ts"

/**
 * Works off the send queue's own table by three bare statements for many requests, without a single rule: they take, claim the keys and
 * look up suppressions, then write rows and ends. The rate that no sender can pass that keeps these tables, and asks a provider only
 * under a claim that is committed.
 */
const TAKE = `with due as materialized (
  select q.id from email_send_queue q where q.provider = '' and q.lane = 3 and q.due_at <= now()
  order by q.due_at limit $1 for update skip locked
)
update email_send_queue q set state = 'sending', lease = gen_random_uuid(), due_at = now() + interval '12 s', first_taken_at = now()
from due where q.id = due.id
returning q.id, q.lease, q.idempotency_key as key, q.key_hash as hash, q.request`

const CLAIM = `with claimed as (
  insert into email_send_claims (
    key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, tag
  )
  select x.hash, x.payload, 'held', 'provider_a', false, true, x.owner, now() + interval '27 s', now(), now() + interval '27 s', x.tag
  from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as x(hash, payload, owner, tag)
  on conflict (key_hash) do nothing returning key_hash
)
select c.key_hash, (select count(*) from email_suppressions s where s.email = any ($5)) from claimed c`

const END = `with x as materialized (
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[], $9::jsonb[])
    as x(id, key, hash, tag, recipient, subject, message_id, attempts, result)
), rows as (
  insert into email_log (
    id, category, source, from_address, to_addresses, other_addresses, dropped_addresses, recipient_count, subject, outcome, status,
    provider, provider_message_id, failed_over, cost_usd, idempotency_key, key_hash, key_tag, attempts
  )
  select
    x.id, 'transactional', 'bench', '${FROM}', array[x.recipient], '{}', '{}', 1, x.subject, 'sent', 'sent', 'provider_a', x.message_id,
    false, 0.0004, x.key, x.hash, x.tag, x.attempts
  from x
), ended as (
  update email_send_queue q set state = 'sent', due_at = null, ended_at = now(), lease = null, request = null, attempts = 1, result = x.result
  from x where q.id = x.id
)
update email_send_claims c set state = 'accepted', result = x.result, lease_until = null, updated_at = now()
from x where c.key_hash = x.hash`

/** So many takes are worked on at once, each as large as what others have under way altogether. */
const LOOPS = 2

interface Taken {
  readonly id: string
  readonly lease: string
  readonly key: string
  readonly hash: string
  readonly request: QueuedMail
}

const tagOf = ({ key }: Taken) => hashOf(`tag ${key}`)

export const bareQueue: OpenContender = async (targets, concurrency) => {
  const pool = new Pool({ connectionString: targets.databaseUrl, max: LOOPS, idleTimeoutMillis: 1_000 })
  const filling = await fillQueue(targets, "bare")
  const vendor = resendClient(targets.providerUrl)
  const workSome = async () => {
    const { rows: mails } = await pool.query<Taken>({ name: "take", text: TAKE, values: [concurrency] })
    if (mails.length === 0) return false
    const hashes = mails.map(({ hash }) => hash)
    await pool.query({
      name: "claim",
      text: CLAIM,
      values: [
        hashes,
        mails.map(({ request }) => hashOf(JSON.stringify(request))),
        mails.map(({ lease }) => lease),
        mails.map(tagOf),
        mails.map(({ request }) => request.to)
      ]
    })
    const ids = await Promise.all(
      mails.map(({ key, request }) => vendor.send({ ...request, n: next() }, key))
    )
    await pool.query({
      name: "end",
      text: END,
      values: [
        mails.map(({ id }) => id),
        mails.map(({ key }) => key),
        hashes,
        mails.map(tagOf),
        mails.map(({ request }) => request.to),
        mails.map(({ request }) => request.subject),
        ids,
        mails.map(attemptsJson),
        mails.map(({ id }, at) => resultJson(id, ids[at] ?? ""))
      ]
    })
    return true
  }
  const loop = async () => {
    while (await workSome());
  }
  return {
    fill: filling.fill,
    drain: async () => {
      await Promise.all(Array.from({ length: LOOPS }, loop))
    },
    close: async () => {
      await filling.close()
      await pool.end()
    }
  }
}
