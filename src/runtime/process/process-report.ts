import { DateTime, Effect, Layer } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { HealthBoard } from "../../ports/delivery/health-board.ts"
import { Readiness } from "../../ports/readiness.ts"
import { VERSION } from "./package.ts"
import { PROCESS } from "./process-name.ts"
import { ticking } from "./supervisor.ts"

/** How often a process reports what it knows of itself. */
const EVERY = "30 seconds"

/** The process tells the others how it is, for the overview, and takes its leave when it ends. */
export const processReport = (roles: ReadonlyArray<string>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const board = yield* HealthBoard
      const readiness = yield* Readiness
      const beganAt = DateTime.formatIso(yield* DateTime.now)
      const note = Effect.flatMap(readiness.report, (report) =>
        board.note({ ...report, process: PROCESS, version: VERSION, roles, beganAt })
      )
      // A row that stays is taken for a process that was killed: the end does not wait for it.
      const leave = withDeadline(Effect.ignore(board.leave(PROCESS)), {
        duration: "1 second",
        onTimeout: () => Effect.void
      })
      // Ends after the reports, none of which then comes late.
      return ticking("process-report", EVERY, note).pipe(
        Layer.provideMerge(Layer.effectDiscard(Effect.acquireRelease(Effect.void, () => leave)))
      )
    })
  )
