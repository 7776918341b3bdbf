import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Fiber, Layer, Redacted } from "effect"

import * as HookSender from "../../../src/adapters/event-hooks/hook-sender.ts"
import { layer as clients } from "../../../src/adapters/postgres/client.ts"
import { layer as layerHooks } from "../../../src/adapters/postgres/delivery/event-hooks.ts"
import { dispatchEventHooks } from "../../../src/application/delivery/event-hooks.ts"
import { servePeer } from "../process.ts"
import type { Memory } from "../senders/sender-process.ts"

/** The dispatcher of a server. */
const [databaseUrl = ""] = process.argv.slice(2)

const dispatching = Effect.runFork(
  Effect.provide(
    dispatchEventHooks,
    Layer.mergeAll(layerHooks, HookSender.layer({ privateNetworks: ["127.0.0.0/8"] }), NodeCrypto.layer).pipe(
      Layer.provide(clients({ url: Redacted.make(databaseUrl) }))
    )
  )
)

servePeer({}, (): Memory => {
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return { rss, heap: heapUsed }
})

process.once("SIGTERM", () => {
  void Effect.runPromise(Fiber.interrupt(dispatching)).then(() => process.exit(0))
})
