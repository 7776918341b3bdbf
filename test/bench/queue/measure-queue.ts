import type { Load } from "../measure.ts"
import { type Line, measureRows, withTargets } from "../run.ts"
import { type ClaimLine, type ClaimOptions, measureClaims } from "./claims.ts"
import { type DoorLine, measureDoor } from "./door.ts"
import { type DrainLine, type DrainOptions, measureDrains } from "./drains.ts"
import { ENQUEUEING } from "./enqueue.ts"
import { type HookLine, type HookOptions, measureHooks } from "./hooks.ts"

/** The parts of the benchmark of the send queue. */
export const QUEUE_PARTS = ["enqueue", "drain", "claim", "hooks", "door"] as const
type QueuePart = (typeof QUEUE_PARTS)[number]

/** How much is measured. */
export interface QueueAmounts {
  readonly rounds: number
  readonly round: Omit<Load, "concurrency">
  readonly suppressions: number
  readonly drain: Pick<DrainOptions, "concurrency" | "mails">
  readonly claim: ClaimOptions
  readonly hooks: ReadonlyArray<HookOptions>
  readonly door: { readonly mails: number; readonly pauseMs: number }
}

interface QueueOptions extends QueueAmounts, Pick<DrainOptions, "contenders"> {
  readonly parts: ReadonlyArray<QueuePart>
  readonly onDrained?: DrainOptions["onRound"]
  readonly databaseUrl?: string
}

/** What a run found; empty where a part was left out. */
export interface QueueReport {
  readonly enqueue: ReadonlyArray<Line>
  readonly drain: ReadonlyArray<DrainLine>
  readonly claim: ReadonlyArray<ClaimLine>
  readonly hooks: ReadonlyArray<HookLine>
  readonly door: ReadonlyArray<DoorLine>
}

/** Measures the send queue and the event hooks, one part after the other on one database. */
export const measureQueue = (options: QueueOptions): Promise<QueueReport> =>
  withTargets({ ...options, eventRows: 1_000 }, async (targets) => {
    const { claim, contenders, door, drain, hooks, onDrained, parts, round, rounds } = options
    const has = (part: QueuePart) => parts.includes(part)
    const hookLines: Array<HookLine> = []
    for (const one of has("hooks") ? hooks : []) {
      hookLines.push(await measureHooks(targets.databaseUrl, one))
    }
    return {
      enqueue: has("enqueue")
        ? await measureRows(ENQUEUEING, targets, { rounds, round, warmUp: round, processPerRow: true })
        : [],
      drain: has("drain")
        ? await measureDrains(targets, { ...drain, contenders, rounds, onRound: onDrained })
        : [],
      claim: has("claim") ? await measureClaims(targets.databaseUrl, claim) : [],
      door: has("door") ? await measureDoor(targets, door) : [],
      hooks: hookLines
    }
  })
