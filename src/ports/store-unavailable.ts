import { Data } from "effect"

/** A store did not answer, or its answer was lost: the operation may or may not have taken effect. */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  /** What was asked of it, such as `claimChunk`. */
  readonly operation: string
  /** Why, for an operator: no answer within 8 seconds, connection refused, … */
  readonly reason: string
  /** Whether the same call can succeed later. */
  readonly isRetryable: boolean
  /** The store refuses what it was given, and will refuse it for ever: no outage. */
  readonly isAboutData?: boolean
  readonly cause?: unknown
}> {
  override get message(): string {
    return `${this.operation}: ${this.reason}`
  }
}

/** A store that took too long. */
export const noAnswer = (operation: string, within: string): StoreUnavailable =>
  new StoreUnavailable({ operation, reason: `no answer within ${within}`, isRetryable: true })
