import { Effect } from "effect"
import { Command } from "effect/cli"

/** Hands the process over to a program of its own, which outlives those who read its output. */
const handOver = (load: () => Promise<unknown>) =>
  Effect.promise(() => {
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners("error")
    return load()
  })

/** `postlane start`. */
export const start = Command.make("start", {}, () => handOver(() => import("../start.ts"))).pipe(
  Command.withDescription(
    "Run everything on this machine until it is stopped: what is configured is real, what is not is embedded or simulated. The data stays in POSTLANE_DATA_DIR."
  ),
  Command.withExamples([{ command: "postlane start", description: "Prints where everything is" }])
)

/** `postlane serve`. */
export const serve = Command.make("serve", {}, () => handOver(() => import("../serve.ts"))).pipe(
  Command.withDescription(
    "Run in production until it is stopped: nothing is simulated. Ends at once with a list of what is missing."
  )
)

/** `postlane migrate`. */
export const migrate = Command.make("migrate", {}, () => handOver(() => import("../migrate.ts"))).pipe(
  Command.withDescription("Apply the pending migrations to DB_URL, all or none.")
)
