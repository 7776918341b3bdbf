import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"

import { HookEvents, layer as layerMemory } from "../../../src/adapters/memory/delivery/event-hooks.ts"
import { dispatchEventHooks } from "../../../src/application/delivery/event-hooks.ts"
import { EventHooks, type HookAnswer, HookSender } from "../../../src/ports/delivery/event-hooks.ts"

const RECEIPT: HookAnswer = { status: 200, answer: "", error: undefined }
const REFUSAL: HookAnswer = { status: 503, answer: "", error: undefined }

/** A receiver that answers as the test says. */
const layerSender = (post: HookSender["Service"]["post"]) =>
  Layer.succeed(HookSender, HookSender.of({ post }))

const world = (post: HookSender["Service"]["post"]) =>
  Effect.provide(Layer.mergeAll(layerMemory, layerSender(post), NodeCrypto.layer))

const typeOf = (body: string) => (JSON.parse(body) as { readonly type: string }).type

describe("the dispatcher of event hooks (O1, O2)", () => {
  it.effect("receivers that never answer delay no other, many at once neither", () => {
    const quick: Array<string> = []
    const served = Deferred.makeUnsafe<void>()
    return Effect.gen(function* () {
      const hooks = yield* EventHooks
      const { tell } = yield* HookEvents
      for (const name of ["a", "b", "c", "d", "e", "f"])
        yield* hooks.add({ url: `https://slow-${name}.test/`, types: ["*"], enabled: true })
      yield* hooks.add({ url: "https://quick.test/", types: ["*"], enabled: true })
      for (let count = 0; count < 500; count++) yield* tell("email.sent", `key:${count}`)
      const dispatcher = yield* Effect.forkChild(dispatchEventHooks)
      yield* Deferred.await(served)
      assert.lengthOf(quick, 500)
      yield* Fiber.interrupt(dispatcher)
    }).pipe(
      world(({ body, url }) => {
        if (url.includes("slow")) return Effect.never
        if (quick.push(typeOf(body)) === 500) Deferred.doneUnsafe(served, Effect.void)
        return Effect.succeed(RECEIPT)
      })
    )
  })

  it("every event arrives, and events of one subject arrive first in their order, whatever is refused or dies", async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("event" as const), subject: fc.nat(2) }),
      fc.record({ kind: fc.constant("wait" as const), seconds: fc.constantFrom(1, 5, 40, 300) }),
      fc.record({ kind: fc.constant("restart" as const), dispatcher: fc.nat(1) })
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.infiniteStream(fc.nat(5)), (steps, chances) => {
        const first: Array<string> = []
        let calm = false
        const post: HookSender["Service"]["post"] = ({ body }) =>
          Effect.gen(function* () {
            const chance = calm ? 0 : Number(chances.next().value)
            yield* Effect.sleep(chance * 1000)
            const type = typeOf(body)
            // A refusal, an answer that is lost, or a receipt.
            if (chance === 4) return REFUSAL
            if (!first.includes(type)) first.push(type)
            return chance === 5 ? { status: undefined, answer: undefined, error: "cut" } : RECEIPT
          })
        const run = Effect.gen(function* () {
          const hooks = yield* EventHooks
          const { tell } = yield* HookEvents
          const { id } = yield* hooks.add({ url: "https://shop.test/", types: ["*"], enabled: true })
          const dispatchers = [
            yield* Effect.forkChild(dispatchEventHooks),
            yield* Effect.forkChild(dispatchEventHooks)
          ]
          const told: Array<string> = []
          for (const one of steps) {
            if (one.kind === "event") {
              told.push(`${one.subject}.${told.length}`)
              yield* tell(told.at(-1)!, `key:${one.subject}`)
            } else if (one.kind === "wait") yield* TestClock.adjust(`${one.seconds} seconds`)
            else {
              yield* Fiber.interrupt(dispatchers[one.dispatcher]!)
              dispatchers[one.dispatcher] = yield* Effect.forkChild(dispatchEventHooks)
            }
          }
          calm = true
          const pending = hooks.find(id).pipe(Effect.map((hook) => hook!.pending))
          while ((yield* pending) > 0) yield* TestClock.adjust("10 minutes")
          for (const subject of ["0.", "1.", "2."]) {
            assert.deepStrictEqual(
              first.filter((type) => type.startsWith(subject)),
              told.filter((type) => type.startsWith(subject))
            )
          }
          yield* Fiber.interruptAll(dispatchers)
        })
        return Effect.runPromise(run.pipe(world(post), Effect.provide(TestClock.layer()), Effect.scoped))
      }),
      { numRuns: 50 }
    )
  })
})
