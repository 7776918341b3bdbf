import { DateTime, Effect, Layer, Result } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { Readiness, type ReadinessCheck, type SupervisorSnapshot } from "../../ports/readiness.ts"
import { describeCrash } from "./run-program.ts"
import { type Supervised, Supervisors } from "./supervisor.ts"

/** How long one check may take. */
const CHECK_WITHIN = "2 seconds"

/** One thing that must answer for this process to do its work. Its failure's text is shown to admins only. */
export interface Check {
  readonly name: string
  readonly run: Effect.Effect<void, unknown>
  /** Reported, but this process does its work without it. */
  readonly advisory?: true
}

const runCheck = ({ name, run }: Check): Effect.Effect<ReadinessCheck> =>
  withDeadline(run, {
    duration: CHECK_WITHIN,
    onTimeout: () => Effect.fail(new Error(`no answer within ${CHECK_WITHIN}`))
  }).pipe(
    Effect.sandbox,
    Effect.result,
    Effect.map((result) =>
      Result.isSuccess(result)
        ? { name, ok: true, lastError: null }
        : { name, ok: false, lastError: describeCrash(result.failure).summary }
    )
  )

const snapshotOf = (supervised: Supervised): SupervisorSnapshot => ({
  name: supervised.name,
  state: supervised.state === "restarting" ? "backing-off" : supervised.state,
  restarts: supervised.restarts,
  lastRunAt:
    supervised.lastRunAt === null ? null : DateTime.formatIso(DateTime.makeUnsafe(supervised.lastRunAt)),
  lastError: supervised.lastError
})

/** A process is ready if all its checks pass and all its supervised parts are running. */
export const layer = (checks: ReadonlyArray<Check>): Layer.Layer<Readiness, never, Supervisors> =>
  Layer.effect(
    Readiness,
    Effect.map(Supervisors, (supervisors) =>
      Readiness.of({
        report: Effect.gen(function* () {
          const answers = yield* Effect.forEach(checks, runCheck, { concurrency: "unbounded" })
          const snapshots = (yield* supervisors.snapshot).map(snapshotOf)
          const ready =
            answers.every((check, at) => check.ok || checks[at]?.advisory === true) &&
            snapshots.every(({ state }) => state === "running")
          return { ready, checks: answers, supervisors: snapshots }
        })
      })
    )
  )
