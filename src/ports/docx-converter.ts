import { Context, Data } from "effect"
import type { Effect } from "effect"

/**
 * A Word document that was not converted. `broken`: it cannot be read; `too-large`: it needs more memory than there is for
 * one, or has a part that is too long; `timeout`: it took too long; `crashed`: reading it ended the reader, others go on.
 * The message is for its owner.
 */
export class DocxError extends Data.TaggedError("DocxError")<{
  readonly reason: "broken" | "too-large" | "timeout" | "crashed"
  readonly message: string
  readonly cause?: unknown
}> {}

/** Most characters of one of {@link DocxContent.parts}, which is what a cleaner takes at once. */
export const MAX_PART = 1_500_000

/** What a Word document holds. */
export interface DocxContent {
  readonly title: string | undefined
  /** HTML, not clean yet, as runs of whole blocks; in place of each picture's address stands one of `pictures`' places. */
  readonly parts: ReadonlyArray<string>
  /** Pictures as data URIs, by the address that stands in their place, which nobody can guess. */
  readonly pictures: ReadonlyMap<string, string>
}

/** Makes HTML of Word documents, in threads of its own. Nothing but the file is read. */
export class DocxConverter extends Context.Service<
  DocxConverter,
  { readonly convert: (path: string) => Effect.Effect<DocxContent, DocxError> }
>()("postlane/ports/DocxConverter") {}
