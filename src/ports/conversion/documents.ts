import { Context, Data, type Effect } from "effect"

import type { FileKind } from "../../domain/conversion/file.ts"
import type { LeftOut } from "../../reader/model/left-out.ts"
import type { DocxError, DocxContent } from "../../reader/model/word-document.ts"

/** The document is of a kind that is not converted (DOC-1). `found` names what it seems to be. */
export class UnsupportedDocument extends Data.TaggedError("UnsupportedDocument")<{
  readonly found: string
}> {}

/** The document is of a known kind and cannot be read: broken, encrypted, without a page. The message is for its owner. */
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
 * Reads ZIP archives, and converts Word documents to HTML, in separate processes. Nothing but the file is read. Inspection and
 * conversion read the same way (DOC-5): one ZIP reader, one XML parser.
 */
export class DocxConverter extends Context.Service<
  DocxConverter,
  {
    /** Whether an archive is a Word document, and its page count if it is known without a conversion. */
    readonly inspect: (
      path: string
    ) => Effect.Effect<
      { readonly pages: number },
      UnsupportedDocument | UnreadableDocument | DocumentReaderAway
    >
    readonly convert: (path: string) => Effect.Effect<DocxContent, DocxError>
  }
>()("postlane/ports/DocxConverter") {}
