import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { TestDatabase, layerDatabase } from "../../support/postgres/postgres.ts"
import { makeFolder } from "../../support/processes/child.ts"
import { jsonOf, run } from "./harness.ts"

const folder = Effect.map(
  Effect.acquireRelease(Effect.promise(makeFolder), ({ remove }) => Effect.promise(remove)),
  ({ path }) => path
)

it.live("postlane objects shows how the stores stand, adopts one on purpose, and doctor agrees (DOC-6)", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const env = (POSTLANE_DATA_DIR: string, more = {}) => ({ DB_URL: url, POSTLANE_DATA_DIR, ...more })
    const [one, two] = [yield* folder, yield* folder]
    const standings = (dir: string, more = {}) =>
      Effect.map(run(["objects", "--json"], env(dir, more)), (ran) =>
        jsonOf<{ stores: ReadonlyArray<{ name: string; standing: string }> }>(ran).stores.map(
          ({ name, standing }) => `${name}: ${standing}`
        )
      )
    const doctor = (dir: string) =>
      Effect.map(run(["doctor", "--json", "--dns-server", "127.0.0.1"], env(dir)), (ran) =>
        jsonOf<{ checks: ReadonlyArray<{ check: string; status: string; what: string }> }>(ran)
          .checks.filter(({ check }) => check === "objects")
          .map(({ status, what }) => `${status} ${what}`)
      )
    assert.deepStrictEqual(yield* standings(one), ["files: new"])
    assert.match((yield* doctor(one))[0]!, /^ok .*no process has worked with one yet/)
    assert.deepStrictEqual(yield* standings(one), ["files: new"], "nothing was changed by looking")
    const adopted = yield* run(["objects", "adopt", "files"], env(one))
    assert.strictEqual(adopted.code, 0, adopted.err)
    assert.deepStrictEqual(yield* standings(one), ["files: same"])
    assert.deepStrictEqual(yield* standings(two), ["files: empty"])
    assert.match((yield* doctor(two))[0]!, /^fail .*is empty, and the database knows another/)
    assert.strictEqual((yield* run(["objects", "adopt", "files"], env(two))).code, 0)
    assert.deepStrictEqual(yield* standings(one), ["files: another"])
    assert.match((yield* run(["objects"], env(one))).out, /the database knows another/)
    const noBatch = yield* run(["objects", "adopt", "batch"], env(two))
    assert.match(noBatch.err, /BATCH_CONVERSION_S3_BUCKET is unset/)
    const gone = yield* run(["objects"], env(two, { DB_URL: "postgres://u:p@127.0.0.1:1/x" }))
    assert.strictEqual(gone.code, 1)
  }).pipe(Effect.scoped, Effect.provide(layerDatabase))
)
