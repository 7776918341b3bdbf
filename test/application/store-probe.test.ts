import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"

import { probed, probeStore } from "../../src/application/store-probe.ts"
import { objectVerdicts, probeVerdicts } from "../../src/domain/doctor/objects.ts"
import { ObjectStoreError, type ObjectStoreService } from "../../src/ports/object-store.ts"
import { makeMapObjects } from "../support/worlds/map-objects.ts"

const vendor = Object.assign(
  new Error("A header you provided implies functionality that is not implemented."),
  {
    name: "NotImplemented"
  }
)
const refused = Effect.fail(new ObjectStoreError({ reason: "unsupported", key: "k", cause: vendor }))

const probe = (objects: ObjectStoreService) => Effect.provide(probeStore(objects), NodeCrypto.layer)

describe("a store that is tried with an object", () => {
  it.effect("works, keeps the condition of a write, and holds nothing afterwards", () =>
    Effect.gen(function* () {
      const kept = new Map<string, Uint8Array>()
      assert.deepStrictEqual(yield* probe(makeMapObjects(kept)), { _tag: "Works", isExclusive: true })
      assert.lengthOf([...kept], 0)
      const lax = { ...makeMapObjects(kept), create: () => Effect.succeed(true) }
      const found = yield* probe(lax)
      assert.deepStrictEqual(found, { _tag: "Works", isExclusive: false })
      assert.deepInclude(probeVerdicts([{ bucket: "files", found }])[0], {
        status: "warn",
        what: "files does not keep the condition of a write"
      })
    })
  )

  it.effect.each([
    ["written", { put: () => refused }],
    ["read", { get: () => makeMapObjects().get("none") }],
    ["removed", { remove: () => refused }]
  ] as const)("where it cannot be %s, the vendor's words are the reason", ([step, part]) =>
    Effect.gen(function* () {
      const found = yield* probe({ ...makeMapObjects(), ...part })
      assert.include(found, { _tag: "Fails", step })
      const [verdict] = probeVerdicts([{ bucket: "files", found }])
      assert.deepInclude(verdict, { status: "fail", what: `an object of files cannot be ${step}` })
      if (step === "written") assert.include(verdict, { why: `NotImplemented: ${vendor.message}` })
    })
  )

  it.effect("says so in the log and in its check, at once; it is tried again, and not at every check", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const log = Logger.layer([
        Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))
      ])
      const inner = makeMapObjects()
      let writes = 0
      let isRefused = true
      const store = yield* probed(
        {
          ...inner,
          put: (key, body, options) => {
            writes += 1
            return isRefused ? refused : inner.put(key, body, options)
          }
        },
        "the bucket mails"
      ).pipe(Effect.provide(NodeCrypto.layer))
      const check = Effect.provide(store.check, log)
      const error = yield* Effect.flip(check)
      assert.match(String(error.cause), /cannot be written: NotImplemented: A header/)
      yield* Effect.flip(check)
      assert.strictEqual(writes, 1)
      assert.deepStrictEqual(lines, [
        `Error an object of the bucket mails cannot be written: NotImplemented: ${vendor.message}`
      ])
      isRefused = false
      yield* TestClock.adjust("61 seconds")
      yield* check
      yield* check
      assert.strictEqual(writes, 2)
      assert.include(lines.at(-1), "can be written again")
      yield* TestClock.adjust("16 minutes")
      yield* check
      assert.strictEqual(writes, 3)
    })
  )

  it("without stores there is no verdict", () => {
    assert.deepStrictEqual(objectVerdicts([]), [])
  })
})
