import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { openApiDocument } from "../../../src/adapters/http/routes/api.ts"
import { SETTINGS } from "../../../src/runtime/settings/table.ts"
import { jsonOf, run } from "./harness.ts"

interface Shown {
  readonly settings: ReadonlyArray<{
    readonly name: string
    readonly isSet: boolean
    readonly secret: boolean
  }>
}

it.effect("postlane settings lists every setting, and says which are set without their values", () =>
  Effect.gen(function* () {
    const env = { DB_URL: "postgres://u:hunter2@db/x", PROVIDERA_API_KEY: "re_hunter2", PORT: "" }
    const all = yield* run(["settings"], env, { columns: 100 })
    assert.strictEqual(all.code, 0, all.err)
    assert.notInclude(all.out, "hunter2")
    for (const { name } of SETTINGS) assert.include(all.out, `\n  ${name} `)
    const { settings } = jsonOf<Shown>(yield* run(["settings", "--json"], env))
    assert.lengthOf(settings, SETTINGS.length)
    assert.sameMembers(
      settings.filter(({ isSet }) => isSet).map(({ name }) => name),
      ["DB_URL", "PROVIDERA_API_KEY"]
    )
  })
)

it.effect(
  "postlane settings NAME says what it means, finds parts of names, and what was probably meant",
  () =>
    Effect.gen(function* () {
      const one = yield* run(["settings", "port"])
      assert.match(one.out, /^PORT\n {2}Port of the HTTP server.*\n {2}Default: 8787\. Here it is not set\.$/)
      assert.include((yield* run(["settings", "DEFER_QUEUE"])).out, "EMAIL_DEFER_QUEUE_URL")
      const wrong = yield* run(["settings", "PROVIDERA_API_KYE"])
      assert.deepStrictEqual(
        [wrong.code, wrong.err],
        [1, "There is no setting PROVIDERA_API_KYE; is it PROVIDERA_API_KEY? All of them: postlane settings"]
      )
      const hostile = yield* run(["settings", "__proto__"])
      assert.strictEqual(hostile.code, 1)
      assert.isFalse(jsonOf<{ ok: boolean }>(yield* run(["settings", "x".repeat(10_000), "--json"])).ok)
    })
)

it.effect("postlane openapi prints the document that a server serves", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(jsonOf(yield* run(["openapi"])), openApiDocument())
  })
)
