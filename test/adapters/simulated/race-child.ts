import { once } from "node:events"

import { Effect, Result } from "effect"

import { layer } from "../../../src/adapters/simulated/simulated-mail.ts"
import { SimulatedMail } from "../../../src/ports/mail/simulated-mail.ts"
import { keyOf, mail } from "../../support/files/mail-message.ts"

/** Says that it is ready, waits for a line, then sends every key once and writes what came of it as one line of JSON. */
const program = Effect.gen(function* () {
  const provider = (yield* SimulatedMail).provider("provider_a")
  process.stdout.write("ready\n")
  yield* Effect.promise(() => once(process.stdin, "data"))
  const ids = yield* Effect.forEach(Array.from({ length: Number(process.env["KEYS"]) }), (_, at) =>
    Effect.result(provider.send(provider.prepare(mail(), keyOf(`key-${at}`)))).pipe(
      Effect.map((result) => (Result.isSuccess(result) ? result.success.messageId : result.failure.kind))
    )
  )
  process.stdout.write(`${JSON.stringify(ids)}\n`)
  process.stdin.destroy()
})

await Effect.runPromise(Effect.provide(program, layer({ dataDir: process.env["DATA_DIR"]! })))
