import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

import { layer } from "../../../src/adapters/memory/mail/sender-tokens.ts"
import { SenderTokens } from "../../../src/ports/mail/sender-tokens.ts"
import { SenderWorld, suite } from "../../contracts/mail/sender-tokens.ts"

const memory = Layer.unwrap(
  Effect.sync(() => {
    const audit: Array<readonly [string, string, string]> = []
    const world = Layer.effect(
      SenderWorld,
      Effect.map(SenderTokens, (tokens) =>
        SenderWorld.of({
          pass: (seconds) => TestClock.adjust(`${seconds} seconds`),
          audit: Effect.sync(() => audit),
          stored: Effect.map(Effect.orDie(tokens.list), (listed) => JSON.stringify(listed))
        })
      )
    )
    const tokens = layer((action, target, actor) => void audit.push([action, target, actor]))
    return Layer.provideMerge(world, Layer.provide(tokens, NodeCrypto.layer))
  })
)

suite("memory", memory)
