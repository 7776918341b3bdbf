import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import type { KeyHash } from "../../../../src/domain/ids.ts"
import { type Claim, type ClaimDecision, decideClaim, type Trail } from "../../../../src/domain/mail/claim.ts"
import type { Provider } from "../../../../src/domain/mail/provider.ts"
import { MailStore } from "../../../../src/ports/mail/mail-store.ts"
import { resultOf } from "../../../contracts/mail/mail-store/mails.ts"
import { anyId } from "../../../support/any-id.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** The row that the log holds of a key was written after the first attempt of every claim. */
const ROW_AGE_MS = HOUR_MS / 2

const PROVIDERS: ReadonlyArray<Provider> = ["provider_a", "provider_b"]
/** The states that a claim can be in, each with whether it holds a result, and what that is. */
const STATES = [
  { state: "held", result: undefined },
  { state: "accepted", result: "sent" },
  { state: "deferred", result: "deferred" },
  // A retry made this one.
  { state: "deferred", result: undefined },
  { state: "refused", result: "suppressed" },
  { state: "refused", result: "failed" },
  { state: "ambiguous", result: "failed" },
  { state: "ended", result: "failed" },
  // Of a holder that has not ended yet: a retry elsewhere has ended its key.
  { state: "ended", result: undefined }
] as const
/** Whose the claim is, and whether it is for the same mail; a claim that a retry made fits any. */
const OWNED = [
  { owner: "another call", payloadHash: "same" },
  { owner: "another call", payloadHash: "other" },
  { owner: "another call", payloadHash: "" },
  { owner: "this call", payloadHash: "same" }
] as const
/** How long ago the first and the last attempt were. */
const AGES = [
  [HOUR_MS, HOUR_MS],
  [25 * HOUR_MS, HOUR_MS],
  [50 * HOUR_MS, 25 * HOUR_MS]
] as const
/** What the log holds of the key, at the provider of the claim. */
const LOGGED = [
  { row: "nothing", proof: false, open: false, columns: undefined },
  { row: "an acceptance", proof: true, open: true, columns: { status: "sent", kind: null } },
  { row: "a deferral", proof: false, open: true, columns: { status: "deferred", kind: null } },
  {
    row: "an ambiguous failure",
    proof: false,
    open: true,
    columns: { status: "failed", kind: "ambiguous", attempts: [{ outcome: "ambiguous" }] }
  },
  // It says nothing of its own: the row that left the key open is another one.
  {
    row: "an end without an attempt",
    proof: false,
    open: false,
    columns: { status: "failed", kind: "ambiguous", attempts: [] }
  },
  { row: "a refusal", proof: false, open: false, columns: { status: "failed", kind: "rejected" } }
] as const

/** One key: its claim, what the log holds of it, and what the rule decides. */
interface Case {
  readonly keyHash: KeyHash
  readonly claim: Claim | undefined
  readonly provider: Provider
  readonly logged: (typeof LOGGED)[number]
}

const claimsOf = (keyHash: KeyHash, now: number): ReadonlyArray<Claim> =>
  STATES.flatMap(({ result, state }) =>
    PROVIDERS.flatMap((provider) =>
      [true, false].flatMap((ambiguous) =>
        [10 * MINUTE_MS, -MINUTE_MS].flatMap((lease) =>
          AGES.flatMap(([age, last]) =>
            OWNED.map(({ owner, payloadHash }) => ({
              payloadHash,
              state,
              provider,
              ambiguous,
              owner,
              leaseUntil: now + lease,
              leaving: payloadHash !== "" || state !== "held",
              firstAttemptAt: now - age,
              lastAttemptAt: now - last,
              tag: undefined,
              result: result === undefined ? undefined : resultOf(result, keyHash)
            }))
          )
        )
      )
    )
  )

const casesAt = (now: number): ReadonlyArray<Case> => {
  const claimed = LOGGED.flatMap((logged) =>
    claimsOf(anyId("key"), now).map((claim) => ({ claim, provider: claim.provider, logged }))
  )
  const unclaimed = LOGGED.flatMap((logged) =>
    PROVIDERS.map((provider) => ({ claim: undefined, provider, logged }))
  )
  return [...claimed, ...unclaimed].map((one, index) => ({ ...one, keyHash: anyId(`key-${index}`) }))
}

const REQUEST = {
  payloadHash: "same",
  provider: "provider_a",
  owner: "this call",
  tag: anyId("new tag")
} as const

const decided = ({ claim, logged, provider }: Case, now: number): ClaimDecision => {
  const evidence = logged.proof ? { provider, providerMessageId: "m" } : undefined
  const trail: Trail | undefined = logged.open
    ? { provider, since: now - ROW_AGE_MS, last: now - ROW_AGE_MS, tag: undefined }
    : undefined
  return decideClaim(claim, REQUEST, { evidence, trail }, now)
}

/** Times as ages in ten minutes: the database's clock goes on while the test runs. */
const canonical = (decision: ClaimDecision, now: number) => {
  if (decision._tag !== "Claimed" && decision._tag !== "Replay") return decision
  const ageOf = (at: number) => Math.abs(Math.round((now - at) / (10 * MINUTE_MS)))
  const times = {
    firstAttemptAt: ageOf(decision.firstAttemptAt),
    lastAttemptAt: ageOf(decision.lastAttemptAt)
  }
  return decision._tag === "Replay"
    ? { ...decision, ...times }
    : { ...decision, tag: decision.tag === undefined ? "none" : "some", ...times }
}

const iso = (ms: number) => new Date(ms).toISOString()

const insert = Effect.fnUntraced(function* (cases: ReadonlyArray<Case>, now: number) {
  const sql = yield* WriteSql
  yield* sql.unsafe(
    `insert into email_send_claims (key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, result)
     select key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, result
     from jsonb_populate_recordset(null::email_send_claims, $1::jsonb)`,
    [
      JSON.stringify(
        cases.flatMap(({ claim, keyHash }) =>
          claim === undefined
            ? []
            : [
                {
                  key_hash: keyHash,
                  payload_hash: claim.payloadHash,
                  state: claim.state,
                  provider: claim.provider,
                  ambiguous: claim.ambiguous,
                  leaving: claim.leaving,
                  owner: claim.owner,
                  lease_until: iso(claim.leaseUntil),
                  first_attempt_at: iso(claim.firstAttemptAt),
                  last_attempt_at: iso(claim.lastAttemptAt),
                  result: claim.result ?? null
                }
              ]
        )
      )
    ]
  )
  yield* sql.unsafe(
    `insert into email_log (key_hash, provider, provider_message_id, outcome, status, error_kind, attempts, created_at)
     select key_hash, provider, provider_message_id, status, status, error_kind, attempts, created_at
     from jsonb_populate_recordset(null::email_log, $1::jsonb)`,
    [
      JSON.stringify(
        cases.flatMap(({ keyHash, logged, provider }) =>
          logged.columns === undefined
            ? []
            : [
                {
                  key_hash: keyHash,
                  provider,
                  provider_message_id: logged.proof ? `message of ${keyHash}` : null,
                  status: logged.columns.status,
                  error_kind: logged.columns.kind,
                  attempts: "attempts" in logged.columns ? logged.columns.attempts : null,
                  created_at: iso(now - ROW_AGE_MS)
                }
              ]
        )
      )
    ]
  )
})

it.live("every state of a key, with everything the log can hold of it, is decided as decideClaim says", () =>
  Effect.gen(function* () {
    const sql = yield* WriteSql
    const store = yield* MailStore
    const [row] = yield* sql.unsafe<{ readonly now: number }>(
      "select extract(epoch from clock_timestamp())::float8 * 1000 as now"
    )
    const now = row!.now
    const cases = casesAt(now)
    yield* insert(cases, now)
    const began = yield* Effect.forEach(
      cases,
      ({ keyHash }) =>
        store.begin({
          keyHash,
          addresses: [],
          claim: { ...REQUEST, leaseMs: MINUTE_MS, known: undefined }
        }),
      { concurrency: 200 }
    )
    const tags = new Set<string>()
    cases.forEach((one, index) => {
      const expected = decided(one, now)
      tags.add(expected._tag)
      assert.deepStrictEqual(
        canonical(began[index]!.decision, now),
        canonical(expected, now),
        JSON.stringify({ claim: one.claim ?? null, logged: one.logged.row, provider: one.provider })
      )
    })
    assert.deepStrictEqual([...tags].sort(), ["Claimed", "Conflict", "InProgress", "Replay"])
  }).pipe(Effect.provide(layer.pipe(Layer.provideMerge(layerPostgres))), Effect.orDie)
)
