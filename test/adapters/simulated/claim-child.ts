import { join } from "node:path"

import { Effect, Scope } from "effect"

import { makeKeyMemories } from "../../../src/adapters/simulated/key-memory.ts"
import { makeOutbox } from "../../../src/adapters/simulated/outbox.ts"
import { makeSimulatedProvider } from "../../../src/adapters/simulated/simulated-provider.ts"
import { keyOf, mail } from "../../support/files/mail-message.ts"

/** Remembers a key and says so when it is about to put the message into the outbox; it never gets further. */
const dataDir = process.env["DATA_DIR"]!
const keepAlive = setInterval(() => undefined, 1000)
const program = Effect.gen(function* () {
  const outbox = yield* makeOutbox(join(dataDir, "outbox"))
  const provider = makeSimulatedProvider({
    provider: "provider_a",
    outbox: {
      ...outbox,
      put: () =>
        Effect.andThen(
          Effect.sync(() => process.stdout.write("about to put\n")),
          Effect.never
        )
    },
    keys: yield* Effect.promise(() => makeKeyMemories(join(dataDir, "simulated-keys"))),
    next: () => Effect.succeed("ok" as const),
    onEvent: () => Effect.void,
    scope: yield* Scope.Scope
  })
  return yield* provider.send(provider.prepare(mail(), keyOf("k")))
})

await Effect.runPromise(Effect.scoped(program))
clearInterval(keepAlive)
