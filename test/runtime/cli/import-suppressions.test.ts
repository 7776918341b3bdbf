import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { listening } from "../../support/vendors/fake-peers.ts"
import { fakePostmark } from "../../support/vendors/fake-postmark.ts"
import { fakeResend } from "../../support/vendors/fake-resend.ts"
import { fakeSes, type SesAccount } from "../../support/vendors/fake-ses.ts"
import { jsonOf, run } from "./harness.ts"

/** More than two pages of either vendor. */
const MANY = 2_345

const world = Effect.fnUntraced(function* (account: SesAccount = {}, sendOnly = false) {
  const { url } = yield* TestDatabase
  const suppressed = Array.from({ length: MANY }, (_, at) => ({
    EmailAddress: `b-${at}@x.test`,
    Reason: at % 2 === 0 ? "BOUNCE" : "COMPLAINT"
  }))
  const state = { suppressed, ...account }
  const ses = yield* listening(() => fakeSes({ account: () => state }))
  const resend = yield* listening(() =>
    fakeResend({
      sendOnly,
      suppressed: Array.from({ length: MANY }, (_, at) => ({ email: `a-${at}@x.test`, origin: "bounce" }))
    })
  )
  const dump = (name: string, SuppressionReason: string, count: number) => ({
    [`/message-streams/${name}/suppressions/dump`]: {
      status: 200,
      body: {
        Suppressions: Array.from({ length: count }, (_, at) => ({
          EmailAddress: `${name}-${at}@x.test`,
          SuppressionReason,
          Origin: "Recipient",
          CreatedAt: "2026-01-15T14:22:10-05:00"
        }))
      }
    }
  })
  const postmark = yield* listening(() =>
    fakePostmark({
      ...(sendOnly ? { serverToken: "another" } : {}),
      // More than any answer but a dump may have.
      pages: { ...dump("outbound", "HardBounce", 12_000), ...dump("broadcast", "ManualSuppression", 2) }
    })
  )
  const env = {
    DB_URL: url,
    POSTMARK_SERVER_TOKEN: "the-secret",
    POSTMARK_BASE_URL: postmark.url,
    PROVIDERA_API_KEY: "re_key",
    PROVIDERA_BASE_URL: resend.url,
    PROVIDERB_ENDPOINT: ses.url,
    CLOUD_ACCESS_KEY_ID: "AKIA",
    CLOUD_SECRET_ACCESS_KEY: "the-secret"
  }
  const sql = yield* WriteSql
  yield* sql`delete from email_suppressions`
  const listed = sql<{ readonly count: number }>`select count(*)::int as count from email_suppressions`.pipe(
    Effect.map(([row]) => row?.count)
  )
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "postlane-import-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true }))
  )
  const file = (name: string, value: unknown) =>
    Effect.promise(async () => {
      await writeFile(join(folder, name), JSON.stringify(value))
      return join(folder, name)
    })
  const unsubscribes = (...args: ReadonlyArray<string>) => run(["import", "unsubscribes", ...args], env)
  const suppressions = (...args: ReadonlyArray<string>) => run(["import", "suppressions", ...args], env)
  return { file, listed, suppressions, unsubscribes }
})

layer(layerPostgres, { excludeTestServices: true })("postlane import suppressions", (it) => {
  it.effect("--from reads every page of each provider, and waits where it is too fast", () =>
    Effect.gen(function* () {
      const { listed, suppressions } = yield* world({ throttled: 1 })
      const dry = yield* suppressions("--from", "ses", "--dry-run")
      assert.include(dry.out, "2345 suppressions in all: 1173 hard bounces, 1172 complaints, 0 manual.")
      assert.strictEqual(yield* listed, 0)
      const all = { ok: true, added: MANY, bad: 0 }
      assert.deepInclude(jsonOf<object>(yield* suppressions("--from", "ses", "--json")), all)
      assert.deepInclude(jsonOf<object>(yield* suppressions("--from", "resend", "--json")), all)
      assert.strictEqual(yield* listed, 2 * MANY)
      const dumps = yield* suppressions("--from", "postmark")
      assert.include(dumps.out, "12002 suppressions in all: 12000 hard bounces, 0 complaints, 2 manual.")
      assert.strictEqual(yield* listed, 2 * MANY + 12_002)
    })
  )

  it.effect("--from says what the provider refused", () =>
    Effect.gen(function* () {
      const refused = {
        status: 403,
        body: { message: "not authorized to perform: ses:ListSuppressedDestinations" }
      }
      const { suppressions } = yield* world({ refused }, true)
      for (const [from, why] of [
        ["ses", /^Amazon SES: .*ses:ListSuppressedDestinations/],
        ["resend", /^Resend: restricted_api_key/],
        ["postmark", /^Postmark: outbound: 10: /]
      ] as const) {
        const { code, err } = yield* suppressions("--from", from)
        assert.strictEqual(code, 1)
        assert.match(err, why)
        assert.notInclude(err, "the-secret")
      }
    })
  )

  it.effect(
    "takes who unsubscribed elsewhere off one list, or off all marketing, and nothing else (MAIL-67)",
    () =>
      Effect.gen(function* () {
        const { file, listed, unsubscribes } = yield* world()
        const sql = yield* WriteSql
        const path = yield* file("left.json", [
          { email: "A@x.test" },
          { email: "b@x.test" },
          { email: "nobody" }
        ])
        const first = yield* unsubscribes(path, "--list", "weekly", "--json")
        assert.deepInclude(jsonOf<object>(first), { found: 2, added: 2, bad: 1 })
        const whole = yield* file("all.json", [{ email: "a@x.test" }])
        assert.include((yield* unsubscribes(whole)).out, "1 address in all; 1 added.")
        assert.include((yield* unsubscribes(whole)).out, "1 address in all; 0 added.")
        assert.notStrictEqual((yield* unsubscribes(whole, "--list", "No list")).code, 0)
        const left =
          yield* sql`select email, '' as list from unsubscribes union all select email, list from list_unsubscribes order by 1, 2`
        assert.deepStrictEqual(left, [
          { email: "a@x.test", list: "" },
          { email: "a@x.test", list: "weekly" },
          { email: "b@x.test", list: "weekly" }
        ])
        assert.strictEqual(yield* listed, 0)
      })
  )

  it.effect("refuses a file that holds the first page only, and imports nothing of it", () =>
    Effect.gen(function* () {
      const { file, listed, suppressions } = yield* world()
      const item = { EmailAddress: "a@x.test", Reason: "BOUNCE" }
      const page = yield* file("ses.json", { SuppressedDestinationSummaries: [item], NextToken: "AAAA" })
      for (const flags of [[], ["--dry-run"]]) {
        const { code, err } = yield* suppressions(page, ...flags)
        assert.strictEqual(code, 1)
        assert.match(err, /ses\.json holds the first page of a list only .* --from ses/)
      }
      assert.strictEqual(yield* listed, 0)
      const whole = yield* file("whole.json", { SuppressedDestinationSummaries: [item] })
      assert.strictEqual((yield* suppressions(whole)).code, 0)
      assert.strictEqual(yield* listed, 1)
    })
  )

  it.effect("wants a file or a provider, and one of them", () =>
    Effect.gen(function* () {
      const { suppressions } = yield* world()
      for (const args of [[], ["x.csv", "--from", "ses"]])
        assert.match((yield* suppressions(...args)).err, /^Name either a file or, with --from, a provider/)
    })
  )
})
