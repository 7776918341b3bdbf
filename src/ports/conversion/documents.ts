import { Context, Data, type Effect } from "effect"

import type { FileKind } from "./conversion-store.ts"

/** By its content, it is none of the kinds that are converted. `found` names what it seems to be. */
export class UnsupportedDocument extends Data.TaggedError("UnsupportedDocument")<{
  readonly found: string
}> {}

/** It is of a kind that is converted, and cannot be read: broken, encrypted, without a page. The message is for its owner. */
export class UnreadableDocument extends Data.TaggedError("UnreadableDocument")<{
  readonly message: string
}> {}

/** Tells what a file is by its content, never by its name. */
export class DocumentInspector extends Context.Service<
  DocumentInspector,
  {
    readonly inspect: (
      path: string
    ) => Effect.Effect<
      { readonly kind: FileKind; readonly pages: number },
      UnsupportedDocument | UnreadableDocument
    >
  }
>()("postlane/ports/DocumentInspector") {}

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

/** Most characters, and most tags, of a document's HTML without its pictures: some 2,000 pages, which assembly has in memory whole. */
export const MAX_HTML = 6_000_000
export const MAX_TAGS = 300_000

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
  /** Counted by the words that came out: what else a file says of its length may be made up. */
  readonly pages: number
}

/**
 * Reads ZIP archives, and makes HTML of those that are Word documents, in processes of its own. Nothing but the file is read. What is
 * inspected is what is converted: one reader of archives, one of XML.
 */
export class DocxConverter extends Context.Service<
  DocxConverter,
  {
    /** Whether an archive is a Word document, and its pages as far as it tells without being converted. */
    readonly inspect: (
      path: string
    ) => Effect.Effect<{ readonly pages: number }, UnsupportedDocument | UnreadableDocument>
    readonly convert: (path: string) => Effect.Effect<DocxContent, DocxError>
  }
>()("postlane/ports/DocxConverter") {}
