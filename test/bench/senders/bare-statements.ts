import { createHash, randomUUID } from "node:crypto"

import { Pool } from "pg"

import { resendClient } from "./peers.ts"
import { FROM, HTML, next, type OpenSender, recipient, SUBJECT } from "./sender.ts"

/**
 * A keyed send that writes what Postlane's tables hold of an ordinary mail by two bare statements, without a single rule: no replay, no
 * lease that anybody looks at, no evidence, no event that came first. The rate that no send with such a claim and such a row can pass.
 */
const CLAIM = `with claimed as (
  insert into email_send_claims (
    key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, tag
  ) values ($1, $2, 'held', 'provider_a', false, true, $3, now() + interval '27 s', now(), now() + interval '27 s', $4)
  on conflict (key_hash) do nothing returning key_hash
)
select c.key_hash, (select s.reason from email_suppressions s where s.email = $5) from claimed c`

const END = `with row as (
  insert into email_log (
    id, category, source, from_address, to_addresses, other_addresses, dropped_addresses, recipient_count, subject, outcome, status,
    provider, provider_message_id, failed_over, cost_usd, idempotency_key, key_hash, key_tag, attempts
  ) values (
    $1, 'transactional', 'bench', $2, array[$3], '{}', '{}', 1, $4, 'sent', 'sent', 'provider_a', $5, false, 0.0004, $6, $7, $8, $9::jsonb
  )
)
update email_send_claims c set state = 'accepted', result = $10::jsonb, lease_until = null, updated_at = now(), last_attempt_at = now()
where c.key_hash = $7 and c.owner = $11`

export const hashOf = (text: string) => createHash("sha256").update(text).digest("hex")

/** The attempts of a row, as JSON. */
export const attemptsJson = () =>
  JSON.stringify([
    {
      provider: "provider_a",
      outcome: "accepted",
      reason: null,
      code: null,
      startedAt: new Date().toISOString(),
      durationMs: 12
    }
  ])

/** What the claim of a key keeps of its send, as JSON. */
export const resultJson = (sendId: string, providerMessageId: string) =>
  JSON.stringify({
    ok: true,
    status: "sent",
    sendId,
    provider: "provider_a",
    providerMessageId,
    failedOver: false,
    dropped: []
  })

export const bareStatements: OpenSender = ({ databaseUrl, providerUrl }) => {
  const pool = new Pool({ connectionString: databaseUrl, max: 10, idleTimeoutMillis: 1_000 })
  const vendor = resendClient(providerUrl)
  return Promise.resolve({
    send: async () => {
      const n = next()
      const key = `bare-${process.pid}-${n}`
      const [hash, tag, id, owner, to] = [
        hashOf(key),
        hashOf(`tag ${key}`),
        randomUUID(),
        randomUUID(),
        recipient(n)
      ]
      await pool.query({
        name: "claim",
        text: CLAIM,
        values: [hash, hashOf(JSON.stringify([FROM, to, SUBJECT, HTML])), owner, tag, to]
      })
      const messageId = await vendor.send({ n, to, subject: SUBJECT, html: HTML }, key)
      await pool.query({
        name: "end",
        text: END,
        values: [
          id,
          FROM,
          to,
          SUBJECT,
          messageId,
          key,
          hash,
          tag,
          attemptsJson(),
          resultJson(id, messageId),
          owner
        ]
      })
    },
    close: async () => {
      vendor.close()
      await pool.end()
    }
  })
}
