import type { Targets } from "../senders/sender.ts"

/** A queue of mails that is filled, and then worked off. */
export interface Contender {
  readonly fill: (count: number) => Promise<void>
  /** Works until the mails that it was filled with are sent and logged. */
  readonly drain: (count: number) => Promise<void>
  /** Processor time used so far, microseconds; this process's own where absent. */
  readonly cpuMicros?: () => number
  readonly close: () => Promise<void>
}

/** Opens a contender that has at most so many requests under way. */
export type OpenContender = (targets: Targets, concurrency: number) => Promise<Contender>

/** Resolves once `work` was called so often. */
export const counted = (count: number) => {
  let left = count
  let finish: () => void = () => undefined
  const all = new Promise<void>((resolve) => {
    finish = resolve
  })
  return {
    all,
    one: () => {
      left -= 1
      if (left === 0) finish()
    }
  }
}
