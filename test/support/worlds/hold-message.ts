import { Effect } from "effect"

import { DeferQueue } from "../../../src/ports/mail/defer-queue.ts"

/** Receives one message, says so, and never finishes it: for a process that is killed meanwhile. */
export const holdMessage = Effect.gen(function* () {
  const queue = yield* DeferQueue
  const held = Effect.sync(() => process.stdout.write("held\n"))
  yield* queue.consume(() => Effect.andThen(held, Effect.never), { concurrency: 1 })
})
