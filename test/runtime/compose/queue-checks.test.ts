import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"

import { layerNone, makeDeferBroker } from "../../../src/adapters/memory/mail/defer-queue.ts"
import { DeferQueue } from "../../../src/ports/mail/defer-queue.ts"
import { Readiness } from "../../../src/ports/readiness.ts"
import { queueChecks } from "../../../src/runtime/compose/mail/queue-checks.ts"
import { layer } from "../../../src/runtime/process/readiness.ts"
import { Supervisors } from "../../../src/runtime/process/supervisor.ts"

const reportOf = (queue: DeferQueue["Service"], isConsumer: boolean) =>
  Effect.gen(function* () {
    const checks = layer(queueChecks(queue, isConsumer))
    const context = yield* Layer.build(Layer.provide(checks, Supervisors.layer))
    const { checks: found, ready } = yield* Context.get(context, Readiness).report
    return { ready, checks: Object.fromEntries(found.map(({ name, ok }) => [name, ok])) }
  }).pipe(Effect.scoped)

describe("readiness on the retry queue", () => {
  it.effect("does not call a queue ok that is not there", () =>
    Effect.gen(function* () {
      const none = Context.get(yield* Layer.build(layerNone), DeferQueue)
      assert.deepStrictEqual(yield* reportOf(none, true), { ready: true, checks: {} })
    }).pipe(Effect.scoped)
  )

  it.effect("says where nobody makes the retries", () =>
    Effect.gen(function* () {
      const { queue } = makeDeferBroker({ visibilitySeconds: 60 }).attach()
      const deserted = { ready: true, checks: { queue: true, "queue-consumer": false } }
      assert.deepStrictEqual(yield* reportOf(queue, false), deserted)
      assert.deepStrictEqual(yield* reportOf(queue, true), { ready: true, checks: { queue: true } })
      yield* Effect.forkScoped(
        queue.consume(() => Effect.void, { concurrency: 1 }),
        { startImmediately: true }
      )
      const kept = { ready: true, checks: { queue: true, "queue-consumer": true } }
      assert.deepStrictEqual(yield* reportOf(queue, false), kept)
    }).pipe(Effect.scoped)
  )
})
