import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { anyId } from "../../support/any-id.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { jsonOf, run } from "./harness.ts"

describe("postlane incoming", () => {
  it.live("lists mails with what became of them, tries one again and sets one aside", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const sql = yield* WriteSql
      const postlane = (...args: ReadonlyArray<string>) => run(["incoming", ...args], { DB_URL: url })
      assert.strictEqual((yield* postlane()).out, "No mails.")
      const [waiting, forged]: readonly [string, string] = [anyId(), anyId()]
      yield* sql.unsafe(
        `insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted, sender, not_before)
          values ($1::uuid, 'k', 1, 'a@x.test', true, 'ann@x.test', now() + interval '1 hour')`,
        [waiting]
      )
      yield* sql.unsafe(
        `insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted, step, outcome, reason, ended_at)
          values ($1::uuid, 'k', 1, 'a@x.test', true, 'ended', 'unverified', E'DMARC\\x1b[31m fail', now())`,
        [forged]
      )
      const all = yield* postlane()
      assert.strictEqual(all.code, 0, all.err)
      assert.include(all.out, "ann@x.test")
      assert.notInclude(all.out, "\u001b")
      const found = yield* postlane("list", "--outcome", "unverified", "--json")
      assert.deepStrictEqual(
        jsonOf<{ readonly mails: ReadonlyArray<{ readonly id: string }> }>(found).mails.map(({ id }) => id),
        [forged]
      )
      assert.strictEqual((yield* postlane("list", "--from", "Nobody@x.test")).out, "No mails.")
      assert.include((yield* postlane("retry", waiting)).out, "is tried again now")
      const over = yield* postlane("retry", forged)
      assert.deepStrictEqual([over.code, /no reply that did not go out/.test(over.err)], [1, true])
      assert.include((yield* postlane("set-aside", waiting)).out, "has ended; nothing was charged")
      assert.strictEqual((yield* postlane("set-aside", waiting)).code, 1)
      for (const wrong of [
        ["retry", "x"],
        ["retry", "0199a000-0000-7000-8000-00000000000f"],
        ["list", "--limit", "0"]
      ])
        assert.strictEqual((yield* postlane(...wrong)).code, 1, wrong.join(" "))
    }).pipe(Effect.provide(layerPostgres))
  )
})
