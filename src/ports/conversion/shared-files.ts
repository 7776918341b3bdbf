import { Context, Data, type Effect } from "effect"

/** A link that shows one file's result to whoever has it. */
interface ShareLink {
  readonly fileName: string
  /** Whose file it is, as a mail names them. */
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

/** Links cannot be made or followed now. */
export class SharedFilesUnavailable extends Data.TaggedError("SharedFilesUnavailable")<{
  readonly cause: unknown
}> {}

/** Makes links to the results of files, and follows them. */
export class SharedFiles extends Context.Service<
  SharedFiles,
  {
    /** A link to a file of this customer's; `undefined` where there is no such file, or it is somebody else's. */
    readonly link: (file: {
      readonly fileId: string
      readonly customerId: string
    }) => Effect.Effect<ShareLink | undefined, SharedFilesUnavailable>
    /** The address of a file's link that holds for two weeks from then; the same for the same moment. */
    readonly urlFrom: (fileId: string, from: Date) => Effect.Effect<string, SharedFilesUnavailable>
    /** What the link shows; `undefined` for a forged or expired token, a deleted file, or one without a result. */
    readonly open: (token: string) => Effect.Effect<SharedResult | undefined, SharedFilesUnavailable>
  }
>()("postlane/ports/SharedFiles") {}
