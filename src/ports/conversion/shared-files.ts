import { Context, type Effect } from "effect"

import type { CustomerId, FileId } from "../../domain/ids.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** A link that shows one file's result to anyone who has it (DOC-50). */
interface ShareLink {
  readonly fileName: string
  /** The owner's name for the mail. */
  readonly sender: string
  readonly url: string
  /** ISO 8601. */
  readonly expiresAt: string
}

/** What a link shows: the newest result of its file. */
interface SharedResult {
  readonly fileName: string
  readonly resultKey: string
}

/** Somebody whom a file was shared with. Times are ISO 8601. */
interface Share {
  readonly email: string
  readonly sharedAt: string
  readonly expiresAt: string
}

/** Makes links to the results of files, opens them, and knows whom they were mailed to. */
export class SharedFiles extends Context.Service<
  SharedFiles,
  {
    /** A link to a file of this customer's; `undefined` where there is no such file, or it is somebody else's. */
    readonly link: (file: {
      readonly fileId: FileId
      readonly customerId: CustomerId
    }) => Effect.Effect<ShareLink | undefined, StoreUnavailable>
    /** The address of a file's link that is valid for two weeks from `from`; the same `from` gives the same address. */
    readonly urlFrom: (fileId: FileId, from: Date) => Effect.Effect<string, StoreUnavailable>
    /** Records with whom a file is shared, and makes a separate link for each; an address keeps the links that it already has. */
    readonly note: (shared: {
      readonly fileId: FileId
      readonly recipients: ReadonlyArray<string>
      /** ISO 8601. */
      readonly expiresAt: string
    }) => Effect.Effect<ReadonlyArray<{ readonly email: string; readonly url: string }>, StoreUnavailable>
    /** Shares of one file of this customer, newest first, without expired links. */
    readonly shares: (file: {
      readonly fileId: FileId
      readonly customerId: CustomerId
    }) => Effect.Effect<ReadonlyArray<Share>, StoreUnavailable>
    /** Shares of all files of this customer, newest first, `limit` at most, without expired links. */
    readonly allShares: (
      customerId: CustomerId,
      limit: number
    ) => Effect.Effect<
      ReadonlyArray<Share & { readonly fileId: FileId; readonly fileName: string }>,
      StoreUnavailable
    >
    /** Stops every link to the file that was made until now; false where there is no such file of this customer's. */
    readonly stop: (file: {
      readonly fileId: FileId
      readonly customerId: CustomerId
    }) => Effect.Effect<boolean, StoreUnavailable>
    /** Stops the links of one address, as it was written; false where this customer's file is not shared with it. */
    readonly revoke: (file: {
      readonly fileId: FileId
      readonly customerId: CustomerId
      readonly email: string
    }) => Effect.Effect<boolean, StoreUnavailable>
    /** What the link shows; `undefined` for a forged, expired or stopped token, a deleted file, or one without a result. */
    readonly open: (token: string) => Effect.Effect<SharedResult | undefined, StoreUnavailable>
  }
>()("postlane/ports/SharedFiles") {}
