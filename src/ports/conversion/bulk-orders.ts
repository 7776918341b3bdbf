import { Context, type Duration, type Effect } from "effect"

import type { JobOptions } from "../../domain/conversion/job.ts"
import type { CustomerId, FileId, JobId } from "../../domain/ids.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** The answer to an order: accepted whole, or refused whole, and because of which file. */
type BulkAnswer =
  | { readonly answer: "queued" }
  | { readonly answer: "not_found" | "active" | "insufficient"; readonly fileId: FileId }

/** The message of an order that has ended, held by the process that claimed it. */
export interface BulkMessage {
  readonly bulkId: string
  /** The owner's address; undefined where the account was closed meanwhile. */
  readonly email: string | undefined
  /** When the end of the last item was noticed: the same at every claim. */
  readonly endedAt: Date
  /** This one included. */
  readonly attempts: number
  readonly items: ReadonlyArray<{
    readonly fileId: FileId
    /** Empty where the file was deleted. */
    readonly fileName: string
    readonly deleted: boolean
    /** How many pages no model converted though high fidelity was asked for. */
    readonly noModelPages: number
    readonly outcome: "completed" | "failed" | "cancelled"
  }>
}

type Store<A> = Effect.Effect<A, StoreUnavailable>

/** Bulk orders: many conversions in one request, and one message when the last has ended (DOC-51). */
export class BulkOrders extends Context.Service<
  BulkOrders,
  {
    /** All or none. May be called again with the same ids. */
    readonly request: (order: {
      readonly bulkId: string
      readonly customerId: CustomerId
      /** The owner's own name for it; several orders may have the same. */
      readonly reference?: string | undefined
      readonly items: ReadonlyArray<{
        readonly jobId: JobId
        readonly fileId: FileId
        readonly options: JobOptions
      }>
      readonly window: Duration.Duration
    }) => Store<BulkAnswer>
    /**
     * Claims, for `lease`, the message of the oldest order that has ended and is not confirmed; then another process may
     * claim it.
     */
    readonly claimMessage: (claim: {
      readonly lease: Duration.Duration
      readonly maxAttempts: number
    }) => Store<BulkMessage | undefined>
    /** Marks the message as done. */
    readonly confirmMessage: (bulkId: string) => Store<boolean>
  }
>()("postlane/ports/BulkOrders") {}
