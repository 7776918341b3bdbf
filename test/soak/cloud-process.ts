import { Effect } from "effect"

import { startSqs } from "../support/vendors/sqs.ts"

/** The emulator of object store and queue as a process of its own: prints where it is. */
await Effect.runPromise(
  Effect.scoped(
    Effect.flatMap(startSqs, ({ endpoint }) =>
      Effect.andThen(
        Effect.sync(() => process.stdout.write(`${JSON.stringify({ endpoint })}\n`)),
        Effect.never
      )
    )
  )
)
