import { Context, Data, type Effect } from "effect"

import type { LeftOut } from "../../domain/conversion/left-out.ts"
import type { FileKind } from "./conversion-store.ts"

/** Its content is of no kind that is converted (DOC-1). `found` names what it seems to be. */
export class UnsupportedDocument extends Data.TaggedError("UnsupportedDocument")<{
  readonly found: string
}> {}

/** Its kind is converted, but it cannot be read: broken, encrypted, without a page. The message is for its owner. */
export class UnreadableDocument extends Data.TaggedError("UnreadableDocument")<{
  readonly message: string
}> {}

/** No reader could be started just now: this says nothing about the document. */
export class DocumentReaderAway extends Data.TaggedError("DocumentReaderAway")<{
  readonly cause?: unknown
}> {}

/** Detects the kind of a file by its content, never by its name. */
export class DocumentInspector extends Context.Service<
  DocumentInspector,
  {
    readonly inspect: (path: string) => Effect.Effect<
      {
        readonly kind: FileKind
        readonly pages: number
        /** Of a PDF: what it holds that its pages do not show; undefined where that could not be read. */
        readonly leftOut?: LeftOut | undefined
      },
      UnsupportedDocument | UnreadableDocument | DocumentReaderAway
    >
  }
>()("postlane/ports/DocumentInspector") {}

/**
 * A Word document that was not converted. `broken`: it cannot be read; `too-large`: it exceeds the memory limit, or has a
 * part that is too long; `timeout`: it took too long; `crashed`: reading it crashed the reader, others go on; `unavailable`: no
 * reader could be started, which says nothing about it. The message is for its owner.
 */
export class DocxError extends Data.TaggedError("DocxError")<{
  readonly reason: "broken" | "too-large" | "timeout" | "crashed" | "unavailable"
  readonly message: string
  readonly cause?: unknown
}> {}

/**
 * Most characters, and most tags, of a document's HTML without its pictures: some 2,000 pages, which assembly holds in
 * memory.
 */
export const MAX_HTML = 6_000_000
export const MAX_TAGS = 300_000

/** Most characters of a {@link DocxPart}: the sanitiser's limit. */
export const MAX_PART = 180_000

/** Whole blocks; a long table or list may continue from the part before. */
export interface DocxPart {
  readonly html: string
  /** The opening tags that are repeated because an element of the part before continues here; empty where none does. */
  readonly goesOn: string
}

/** What a Word document holds. */
export interface DocxContent {
  readonly title: string | undefined
  /** HTML, not sanitised yet; each picture's address is a key of `pictures`. */
  readonly parts: ReadonlyArray<DocxPart>
  /** Pictures as data URIs, by their placeholder address, which nobody can guess. */
  readonly pictures: ReadonlyMap<string, string>
  /** Counted by the converted words: the file's own page count may be forged. */
  readonly pages: number
}

/**
 * Reads ZIP archives, and converts Word documents to HTML, in processes of its own. Nothing but the file is read. What is
 * inspected is what is converted (DOC-5): one ZIP reader, one XML parser.
 */
export class DocxConverter extends Context.Service<
  DocxConverter,
  {
    /** Whether an archive is a Word document, and its page count as far as it is known without converting it. */
    readonly inspect: (
      path: string
    ) => Effect.Effect<
      { readonly pages: number },
      UnsupportedDocument | UnreadableDocument | DocumentReaderAway
    >
    readonly convert: (path: string) => Effect.Effect<DocxContent, DocxError>
  }
>()("postlane/ports/DocxConverter") {}
