import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"

import { EmbeddedPostgres, layer } from "../../../src/adapters/embedded-postgres/embedded-postgres.ts"

/** A whole program on a data folder (its argument): says `up` when it is, and runs until it is stopped or killed. */
const program = Effect.gen(function* () {
  yield* EmbeddedPostgres
  process.stdout.write("up\n")
  return yield* Effect.never
})

NodeRuntime.runMain(Effect.provide(program, layer(process.argv[2] ?? "")))
