import { Context, Data } from "effect"
import type { Effect } from "effect"

/** A link that shows one file to whoever has it. */
export interface ShareLink {
  readonly fileName: string
  readonly url: string
  /** ISO 8601. */
  readonly expiresAt: string
}

/** Links cannot be made now. */
export class SharedFilesUnavailable extends Data.TaggedError("SharedFilesUnavailable")<{
  readonly cause: unknown
}> {}

/** Makes links to files. */
export class SharedFiles extends Context.Service<
  SharedFiles,
  {
    /** A link to a file of this customer's; `undefined` where there is no such file, or it is somebody else's. */
    readonly link: (file: {
      readonly fileId: string
      readonly customerId: string
    }) => Effect.Effect<ShareLink | undefined, SharedFilesUnavailable>
  }
>()("postlane/ports/SharedFiles") {}
