import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { type ClaimEnd, settledClaim } from "../../../../src/domain/mail/claim-end.ts"
import { type Claim, type ClaimState, NO_LEASE } from "../../../../src/domain/mail/claim.ts"
import { resultOf } from "../../../contracts/mail/mail-store/mails.ts"
import { anyId } from "../../../support/any-id.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { sendEntry } from "../../../support/postgres/send-entry.ts"
import { hashOf } from "../send-queue/rows.ts"

const MINUTE_MS = 60_000
const YES_NO = [true, false]
const STATES = ["held", "accepted", "deferred", "refused", "ambiguous", "ended"] as const
/** How an owner may end its claim, each with the status of its result; without one it is a retry that another one follows. */
const ENDS = [
  ["accepted", "sent"],
  ["deferred", "deferred"],
  ["refused", "failed"],
  ["ambiguous", "failed"],
  ["ended", "suppressed"],
  ["deferred", undefined]
] as const satisfies ReadonlyArray<readonly [ClaimState, string | undefined]>

const RETRY = {
  owner: "a retry",
  state: "ended",
  ambiguous: true,
  isRetry: true,
  result: resultOf("failed", "key", "ambiguous")
} as const satisfies ClaimEnd

/** How somebody else ends it before and after that, in the same call. */
const AROUND = [
  { before: [], after: [] },
  { before: [], after: [RETRY] },
  { before: [RETRY], after: [] },
  { before: [RETRY], after: [], isKnown: true },
  { before: [{ ...RETRY, state: "accepted", result: resultOf("sent", "key") }], after: [] },
  {
    before: [],
    after: [{ owner: "an event", state: "accepted", ambiguous: false, result: resultOf("sent", "key") }]
  }
] as const satisfies ReadonlyArray<
  Readonly<Record<"before" | "after", ReadonlyArray<ClaimEnd>>> & { readonly isKnown?: true }
>

interface Case {
  readonly key: string
  readonly claim: Claim
  readonly ends: ReadonlyArray<ClaimEnd>
  /** Which use of the key the ends are of, as far as they say so. */
  readonly use: "same" | "another" | "unsaid"
}

const casesAt = (now: number): ReadonlyArray<Case> =>
  STATES.flatMap((state) =>
    YES_NO.flatMap((ambiguous) =>
      YES_NO.flatMap((leased) =>
        YES_NO.flatMap((owned) =>
          YES_NO.flatMap((elsewhere) =>
            ENDS.flatMap(([ends, status]) =>
              AROUND.flatMap(({ after, before, ...known }) =>
                (["same", "another", "unsaid"] as const).map((use) => ({
                  use,
                  claim: {
                    payloadHash: "p",
                    state,
                    provider: "provider_a" as const,
                    ambiguous,
                    leaving: true,
                    owner: owned ? "owner" : "another",
                    leaseUntil: leased ? now + MINUTE_MS : NO_LEASE,
                    firstAttemptAt: now - MINUTE_MS,
                    lastAttemptAt: now + MINUTE_MS,
                    tag: anyId("tag"),
                    result: undefined
                  },
                  ends: [
                    ...before,
                    {
                      owner: "owner",
                      state: ends,
                      ambiguous: status === "deferred",
                      ...("isKnown" in known ? { after: RETRY.result.sendId } : {}),
                      result:
                        status === undefined
                          ? undefined
                          : {
                              ...resultOf(status, "key", ends === "ambiguous" ? "ambiguous" : "rejected"),
                              provider: elsewhere ? ("provider_b" as const) : ("provider_a" as const)
                            }
                    },
                    ...after
                  ]
                }))
              )
            )
          )
        )
      )
    )
  ).map((one, index) => ({ ...one, key: `key-${index}` }))

/** What the row of a claim says. */
const kept = (claim: Claim, now: number) => ({
  state: claim.state,
  provider: claim.provider,
  ambiguous: claim.ambiguous,
  leased: claim.leaseUntil !== NO_LEASE,
  // Without one under way, the last attempt is no later than its end.
  over: claim.lastAttemptAt <= now,
  result: claim.result?.status ?? null,
  kind: claim.result !== undefined && "kind" in claim.result ? claim.result.kind : null
})

/** The functions that end claims, each with the ends that it takes here: acceptances, as sends report them, are written another way. */
const WAYS = [
  { name: "settle_email_claims", takes: () => true },
  {
    name: "record_email_sends",
    takes: ({ ends }: Case) => ends.every(({ isRetry, state }) => state === "accepted" && isRetry !== true)
  }
] as const

layer(layerPostgres)("the end of a claim", (it) => {
  it.effect.each(WAYS)(
    "in every state, by its owner or another one, of this use or another, once or twice, is kept as settledClaim says ($name)",
    ({ name, takes }) =>
      Effect.gen(function* () {
        yield* empty("email_send_claims, email_log")
        const sql = yield* WriteSql
        const now = Date.now()
        const cases = casesAt(now).filter(takes)
        yield* sql.unsafe(
          `insert into email_send_claims
          (key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, tag)
        select key, 'p', state, provider, ambiguous, true, owner, case when leased then now() + interval '1 hour' end,
          now() - interval '1 hour', now() + interval '1 hour', 'tag'
        from jsonb_to_recordset($1::jsonb) as x(key text, state text, provider text, ambiguous boolean, owner text, leased boolean)`,
          [
            JSON.stringify(
              cases.map(({ claim, key }) => ({ ...claim, key, leased: claim.leaseUntil !== NO_LEASE }))
            )
          ]
        )
        const call = name === "record_email_sends" ? `${name}($1::jsonb)` : `${name}($1::jsonb, '{}')`
        yield* sql.unsafe(`select from ${call}`, [
          JSON.stringify(
            [0, 1].flatMap((turn) =>
              cases.flatMap(({ ends, key, use }) =>
                ends.slice(turn, turn + 1).map((settle) => ({
                  ...sendEntry({ provider_message_id: `m-${turn}-${key}` }),
                  key_hash: key,
                  key_tag: { same: "tag", another: "tag of another use", unsaid: null }[use],
                  settle
                }))
              )
            )
          )
        ])
        const rows = yield* sql<ReturnType<typeof kept> & { readonly key: string }>`
        select key_hash as key, state, provider, ambiguous, lease_until is not null as leased,
          last_attempt_at <= clock_timestamp() as over, result ->> 'status' as result, result ->> 'kind' as kind
        from email_send_claims`
        const found = new Map(rows.map(({ key, ...row }) => [key, row]))
        for (const { claim, ends, key, use } of cases) {
          const last = ends.reduce((before, end) => {
            // What ends another use returns the lease, and says no more.
            const said = use === "another" ? { ...end, result: undefined } : end
            return settledClaim(before, said, now) ?? before
          }, claim)
          assert.deepStrictEqual(found.get(key), kept(last, now), JSON.stringify({ claim, ends, use }))
        }
      })
  )

  it.effect("is written where its claim lies, with nothing new in an index", () =>
    Effect.gen(function* () {
      yield* empty("email_send_claims")
      const sql = yield* WriteSql
      const mails = Array.from({ length: 64 }, (_, n) => ({
        key_hash: hashOf(`settled-${n}`),
        owner: `owner-${n}`,
        addresses: ["a@x.test"],
        payload_hash: hashOf("payload"),
        provider: "provider_a",
        lease_ms: MINUTE_MS,
        settle: {
          owner: `owner-${n}`,
          state: "accepted",
          result: {
            ...resultOf("sent", `settled-${n}`),
            sendId: anyId("0199a000-0000-7000-8000-000000000001")
          }
        }
      }))
      // As batches come: each ends while later ones begin.
      const batches = Array.from({ length: 4 }, (_, at) => JSON.stringify(mails.slice(16 * at, 16 * at + 16)))
      for (const batch of batches) yield* sql.unsafe("select from begin_email_sends($1::jsonb)", [batch])
      const counts = Effect.map(
        sql<{ readonly all: number; readonly hot: number }>`
          select n_tup_upd::int as all, n_tup_hot_upd::int as hot from pg_stat_xact_user_tables where relname = 'email_send_claims'`,
        (rows) => rows[0] ?? { all: 0, hot: 0 }
      )
      const [before, after] = yield* sql.withTransaction(
        Effect.gen(function* () {
          // Those of earlier transactions that the session has not reported yet count, too.
          const earlier = yield* counts
          for (const batch of batches)
            yield* sql.unsafe("select settle_email_claims($1::jsonb, '{}')", [batch])
          return [earlier, yield* counts] as const
        })
      )
      assert.strictEqual(after.all - before.all, mails.length)
      assert.isAtLeast(after.hot - before.hot, 0.6 * mails.length)
    })
  )
})
