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

/** Most characters of a {@link DocxPart}: what a cleaner takes at once. */
export const MAX_PART = 180_000

/** Whole blocks; a long table or list goes on from the part before. */
export interface DocxPart {
  readonly html: string
  /** The tags that it begins with only because what the part before closes goes on here; empty where nothing does. */
  readonly goesOn: string
}

/** What a Word document holds. */
export interface DocxContent {
  readonly title: string | undefined
  /** HTML, not clean yet; in place of each picture's address stands one of `pictures`' places. */
  readonly parts: ReadonlyArray<DocxPart>
  /** Pictures as data URIs, by the address that stands in their place, which nobody can guess. */
  readonly pictures: ReadonlyMap<string, string>
}

/** Makes HTML of Word documents, in threads of its own. Nothing but the file is read. */
export class DocxConverter extends Context.Service<
  DocxConverter,
  { readonly convert: (path: string) => Effect.Effect<DocxContent, DocxError> }
>()("postlane/ports/DocxConverter") {}
