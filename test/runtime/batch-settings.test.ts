import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

import { laneOf, usesLocalBatch } from "../../src/runtime/compose/batch.ts"
import { decodeSettings, type Env } from "../../src/runtime/settings/settings.ts"
import { batchFaults } from "../../src/runtime/settings/shapes.ts"

const readFaults = Schema.decodeUnknownResult(batchFaults)

const settingsOf = (env: Env) =>
  Result.getOrThrow(decodeSettings({ DB_URL: "postgres://u:p@127.0.0.1/x", ...env }, { embedded: true }))

const LANE = {
  BATCH_CONVERSION_ENABLED: "true",
  BATCH_CONVERSION_S3_BUCKET: "bucket",
  BATCH_CONVERSION_ROLE_ARN: "arn:aws:iam::000000000000:role/r"
}

describe("settings of the batch lane", () => {
  it("is off by default, and without a switch, a bucket or a role", () => {
    assert.deepStrictEqual(laneOf(settingsOf({})), { on: false, minPages: 600, minRecords: 100 })
    assert.isTrue(laneOf(settingsOf(LANE)).on)
    for (const name of Object.keys(LANE)) {
      assert.isFalse(laneOf(settingsOf({ ...LANE, [name]: "" })).on, name)
    }
  })

  it("has the documented defaults", () => {
    const { driverTickSeconds, local, ...flags } = settingsOf({}).batch
    assert.deepStrictEqual(flags, {
      enabled: false,
      bucket: undefined,
      roleArn: undefined,
      minPages: 600,
      minRecords: 100,
      maxRecords: 50_000,
      timeoutHours: 24,
      maxFileMb: 200,
      pollSeconds: 300
    })
    assert.deepStrictEqual([driverTickSeconds, local.faults], [60, {}])
  })

  it("clamps the time-out to 24 to 168 hours", () => {
    for (const [given, hours] of [
      ["0", 24],
      ["24", 24],
      ["100", 100],
      ["9999", 168]
    ] as const) {
      assert.strictEqual(settingsOf({ BATCH_CONVERSION_TIMEOUT_HOURS: given }).batch.timeoutHours, hours)
    }
  })

  it("stands the local batch service in only where nothing real is named", () => {
    assert.isTrue(usesLocalBatch(settingsOf({})))
    assert.isFalse(usesLocalBatch(settingsOf({ BEDROCK_ENDPOINT: "http://127.0.0.1:1" })))
  })

  it("reads the faults of drills, and refuses what is none", () => {
    assert.deepStrictEqual(
      Result.getOrThrow(readFaults("failed=0.1 unfinished=1, stop=60 expires stops fails")),
      {
        failed: 0.1,
        unfinished: 1,
        stop: 60,
        expires: true,
        stops: true,
        fails: true
      }
    )
    for (const text of ["failed", "failed=2", "failed=-1", "stop=x", "expires=1", "boom"]) {
      assert.isTrue(Result.isFailure(readFaults(text)), text)
    }
  })
})
