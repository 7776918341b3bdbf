import { Context, type Effect } from "effect"

import type { AlarmName } from "../../domain/delivery/alarm-rules.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** Most waiting things that are counted. */
export const MOST_WAITING = 10_000

/** Work that waits, by what waits. */
export const QUEUES = [
  "retries",
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
}

/** Reads the state of the installation, in one statement whose parts are all bounded and indexed (EVENT-63). */
export class HealthBoard extends Context.Service<
  HealthBoard,
  { readonly read: Effect.Effect<HealthFacts, StoreUnavailable> }
>()("postlane/ports/HealthBoard") {}
