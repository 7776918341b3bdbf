import { setTimeout } from "node:timers/promises"

import { Effect, Result } from "effect"

import { layerTelemetry, surviveClosedOutput } from "../../src/runtime/process/telemetry.ts"
import { decodeSettings } from "../../src/runtime/settings/settings.ts"

/** Logs until its reader is gone, then some more, and says on stderr that it still lives. */
const settings = Result.getOrThrow(decodeSettings({}, { embedded: true }))
const closed = new Promise((resolve) => process.stdout.once("error", resolve))
const program = Effect.gen(function* () {
  yield* surviveClosedOutput([process.stdout])
  let open = true
  void closed.then(() => (open = false))
  while (open) {
    yield* Effect.logInfo("line")
    yield* Effect.promise(() => setTimeout(1))
  }
  yield* Effect.logInfo("after")
  yield* Effect.promise(() => setTimeout(1))
  process.stderr.write("survived\n")
})

await Effect.runPromise(
  Effect.provide(program, layerTelemetry(settings, { sink: process.stdout, version: "1" }))
)
