import { Context, type Effect } from "effect"

/** Whether one thing that this process needs (database, queue, object store) answers now. */
export interface ReadinessCheck {
  readonly name: string
  readonly ok: boolean
  /** The error of a failed check, for admins; null where it passed. */
  readonly lastError: string | null
}

/** The state of a supervised part: not yet run, running, waiting to restart after a crash, or ended. */
export const SUPERVISOR_STATES = ["starting", "running", "backing-off", "stopped"] as const
type SupervisorState = (typeof SUPERVISOR_STATES)[number]

/** A supervised part of this process, as `/ready` shows it. */
export interface SupervisorSnapshot {
  readonly name: string
  readonly state: SupervisorState
  /** Crashes since the process began. */
  readonly restarts: number
  /** When its newest run or tick began, ISO 8601; null before the first. */
  readonly lastRunAt: string | null
  /** Its newest crash in one line, for admins; null without a crash. */
  readonly lastError: string | null
}

/** The state of this process and of what it depends on. */
export interface ReadinessReport {
  /** True where every check passed and every supervised part is up. */
  readonly ready: boolean
  readonly checks: ReadonlyArray<ReadinessCheck>
  readonly supervisors: ReadonlyArray<SupervisorSnapshot>
}

/** Reports whether this process can do its work now (HTTP-7). */
export class Readiness extends Context.Service<
  Readiness,
  {
    /**
     * Runs every check, each within its own time limit, all at once. Never fails: an error in a check makes it a failed
     * check.
     */
    readonly report: Effect.Effect<ReadinessReport>
  }
>()("postlane/ports/Readiness") {}
