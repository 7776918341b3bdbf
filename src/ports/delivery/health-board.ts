import { Context, type Effect } from "effect"

import type { AlarmName } from "../../domain/delivery/alarm-rules.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { ReadinessReport } from "../readiness.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** Most waiting things that are counted. */
export const MOST_WAITING = 10_000

/** Work that waits, by what waits. */
export const QUEUES = [
  "retries",
  "send_queue",
  "event_hooks",
  "alerts",
  "messages",
  "conversions",
  "chunks",
  "batch",
  "mails",
  "replies"
] as const
export type QueueName = (typeof QUEUES)[number]

/** An episode of an alarm that is over. Times are ISO 8601 in UTC. */
interface PastAlarm {
  readonly alarm: AlarmName
  readonly begunAt: string
  readonly endedAt: string
  /** The figures of its beginning, in words. */
  readonly detail: string
}

/** What a process says of itself. Times are ISO 8601 in UTC. */
export interface ProcessReport extends ReadinessReport {
  /** Its machine, and its number there. */
  readonly process: string
  readonly version: string
  readonly roles: ReadonlyArray<string>
  readonly beganAt: string
}

/** A process with its newest report. */
export interface KnownProcess extends ProcessReport {
  readonly notedAt: string
  /** No report came for {@link SILENT_AFTER_SECONDS}. */
  readonly isSilent: boolean
}

/** Three reports that did not come. */
export const SILENT_AFTER_SECONDS = 100

/** What the database knows of the state of the whole installation. Times are ISO 8601 in UTC. */
export interface HealthFacts {
  /** Alarms that fire. */
  readonly alarms: ReadonlyArray<{
    readonly name: AlarmName
    readonly since: string
    readonly detail: string
  }>
  /** The newest episodes that are over, newest first. */
  readonly past: ReadonlyArray<PastAlarm>
  readonly queues: ReadonlyArray<{
    readonly name: QueueName
    /** {@link MOST_WAITING} at most. */
    readonly waiting: number
    /** Since when the oldest waits. */
    readonly oldestAt: string | null
  }>
  /** Batch jobs: open ones, and those that were closed in the last day, by how. */
  readonly batch: ReadonlyArray<{ readonly state: string; readonly count: number }>
  /** What models have cost since midnight UTC, USD. */
  readonly spentUsd: number
  /** What they may cost a day; undefined: no limit. */
  readonly budgetUsd: number | undefined
  /** When the newest row of the send log was written. */
  readonly newestMailAt: string | null
  /** The processes that have reported in the last hour, by name. */
  readonly processes: ReadonlyArray<KnownProcess>
}

/** The states of work that is not over. Chunks that wait for a batch job, or for the budget, count as their jobs. */
export const OPEN = {
  jobs: ["pending", "waiting_batch", "processing", "paused_budget", "assembling"],
  chunks: ["pending", "processing"],
  batchJobs: ["preparing", "submitted"]
} as const

type Counts<Of extends keyof typeof OPEN> = ReadonlyArray<{
  readonly state: (typeof OPEN)[Of][number]
  readonly count: number
}>

/** What the metrics show of the whole installation. Of each kind {@link MOST_WAITING} at most are counted. */
export interface Figures {
  readonly queues: ReadonlyArray<{
    readonly name: QueueName
    readonly waiting: number
    /** Since when the oldest waits, seconds; 0 where none does. */
    readonly oldestSeconds: number
  }>
  /** Retries that were due and have left no row. */
  readonly overdueRetries: number
  readonly jobs: Counts<"jobs">
  readonly chunks: Counts<"chunks">
  readonly batchJobs: Counts<"batchJobs">
  /** Since when no webhook has brought an event, to the minute; a provider of which none ever came is not named. */
  readonly newestEvents: ReadonlyArray<{ readonly provider: Provider; readonly ageSeconds: number }>
}

/** Keeps and reads the state of the installation, each in one statement with bounded and indexed parts only (EVENT-63). */
export class HealthBoard extends Context.Service<
  HealthBoard,
  {
    readonly read: Effect.Effect<HealthFacts, StoreUnavailable>
    readonly figures: Effect.Effect<Figures, StoreUnavailable>
    /** Keeps what a process says of itself, in place of what it said before. */
    readonly note: (report: ProcessReport) => Effect.Effect<void, StoreUnavailable>
    /** Forgets a process that ends. */
    readonly leave: (process: string) => Effect.Effect<void, StoreUnavailable>
  }
>()("postlane/ports/HealthBoard") {}
