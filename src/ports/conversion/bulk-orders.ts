import { Context, Data, type Duration, type Effect } from "effect"

import type { JobOptions } from "../../domain/conversion/job.ts"

/** The store did not answer, or its answer was lost. */
export class BulkOrdersUnavailable extends Data.TaggedError("BulkOrdersUnavailable")<{
  readonly cause: unknown
}> {}

/** How an order was answered: taken whole, or not at all, and because of which file. */
type BulkAnswer =
  | { readonly answer: "queued" }
  | { readonly answer: "not_found" | "active" | "insufficient"; readonly fileId: string }

/** The message of an order that has ended, held by whoever claimed it. */
export interface BulkMessage {
  readonly bulkId: string
  /** The owner's address; undefined where the account was closed meanwhile. */
  readonly email: string | undefined
  /** When the last item was seen to have ended: the same at every claim. */
  readonly endedAt: Date
  /** This one included. */
  readonly attempts: number
  readonly items: ReadonlyArray<{
    readonly fileId: string
    /** Empty where the file was deleted. */
    readonly fileName: string
    readonly deleted: boolean
    readonly outcome: "completed" | "failed" | "cancelled"
  }>
}

type Store<A> = Effect.Effect<A, BulkOrdersUnavailable>

/** Bulk orders: many conversions that are asked for at once, and the one message when the last has ended. */
export class BulkOrders extends Context.Service<
  BulkOrders,
  {
    /** All or none. May be called again with the same ids. */
    readonly request: (order: {
      readonly bulkId: string
      readonly customerId: string
      readonly items: ReadonlyArray<{
        readonly jobId: string
        readonly fileId: string
        readonly options: JobOptions
      }>
      readonly window: Duration.Duration
    }) => Store<BulkAnswer>
    /** The message of the oldest order that has ended and was not told of, for `lease`; then somebody else may claim it. */
    readonly claimMessage: (claim: {
      readonly lease: Duration.Duration
      readonly maxAttempts: number
    }) => Store<BulkMessage | undefined>
    /** Done with. */
    readonly confirmMessage: (bulkId: string) => Store<boolean>
  }
>()("postlane/ports/BulkOrders") {}
