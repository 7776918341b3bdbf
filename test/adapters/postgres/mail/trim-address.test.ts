import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { withoutInvisibleEdges } from "../../../../src/domain/mail/address.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

/** Every character but what PostgreSQL cannot store; line breaks and their like the domain refuses, and the database takes off. */
const CHARACTERS = Array.from({ length: 0x11_0000 }, (_, point) => point)
  .filter((point) => point > 0 && (point < 0xd800 || point > 0xdfff))
  .map((point) => String.fromCodePoint(point))
  .filter((char) => !/[\p{Cc}\u2028\u2029]/u.test(char))

layer(layerPostgres)("addresses in the database", (it) => {
  it.effect("lose the same invisible characters at their edges as in the domain", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const rows = yield* sql<{ readonly char: string }>`
        select x.char from unnest(${CHARACTERS}::text[]) as x(char) where trim_address(x.char || 'a' || x.char) = 'a'`
      assert.deepStrictEqual(
        rows.map(({ char }) => char),
        CHARACTERS.filter((char) => withoutInvisibleEdges(`${char}a${char}`) === "a")
      )
    })
  )

  it.effect("are found however a row was written by hand", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const dirty = "\u200bJohn@x.test\ufeff"
      yield* sql`insert into email_suppressions (email, reason) values (${dirty}, 'manual')`
      yield* sql`insert into unsubscribes (email) values (${`\u00a0${dirty}`})`
      const [row] = yield* sql<{ readonly found: ReadonlyArray<unknown>; readonly addresses: unknown }>`
        select email_suppressions_of(array['john@x.test']) as found,
          email_addresses(to_jsonb(${`John <${dirty}>\u00ad`}::text)) as addresses`
      assert.sameDeepMembers(
        [...row!.found],
        [
          { email: "john@x.test", reason: "manual" },
          { email: "john@x.test", reason: "unsubscribed" }
        ]
      )
      assert.deepStrictEqual(row!.addresses, ["john@x.test"])
    })
  )
})
