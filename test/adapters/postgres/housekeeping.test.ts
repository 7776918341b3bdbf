import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { keepHouse } from "../../../src/adapters/postgres/housekeeping.ts"
import { layerPostgres } from "../../support/postgres/postgres.ts"

describe("housekeeping", () => {
  it.live("forgets all keys whose last attempt is 24 hours ago, however many, and no other", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* sql`insert into email_send_claims
          (key_hash, payload_hash, state, provider, ambiguous, owner, lease_until, first_attempt_at, last_attempt_at)
        select n::text, 'p', 'accepted', 'provider_a', false, 'o',
          case when n = 2 then now() + interval '1 minute' end,
          now() - case when n = 1 then interval '23 hours' else interval '25 hours' end,
          now() - case when n <= 3 then interval '23 hours' else interval '24 hours 1 minute' end
        from generate_series(1, 25003) as n`
      yield* keepHouse
      const left = yield* sql`select key_hash from email_send_claims order by key_hash`
      assert.deepStrictEqual(left, [{ key_hash: "1" }, { key_hash: "2" }, { key_hash: "3" }])
    }).pipe(Effect.provide(layerPostgres))
  )
})
