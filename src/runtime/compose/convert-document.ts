import { Data, Effect, FileSystem, Layer, Stream } from "effect"
import { encode } from "effect/encoding/Base64"

import { makeDiskObjects } from "../../adapters/disk/object-store.ts"
import * as Inspector from "../../adapters/document-inspection/inspector.ts"
import { layerDocx } from "../../adapters/docx/docx-converter.ts"
import * as Html from "../../adapters/html/html-assembly.ts"
import { layerPdf } from "../../adapters/pdf/pdf.ts"
import * as ReaderProcess from "../../adapters/reader-process/reader-process.ts"
import { layerTesseract, type RecognitionOptions } from "../../adapters/tesseract/recognition.ts"
import {
  convertDirectly,
  type ConvertedDirectly,
  type DirectConversion
} from "../../application/conversion/work/direct-conversion.ts"
import * as ReadPages from "../../application/conversion/work/read-pages.ts"
import { standardPicture } from "../../application/conversion/work/standard-picture.ts"
import { docxHtml } from "../../application/conversion/work/word-document.ts"
import { hasWords } from "../../domain/conversion/page-line.ts"
import { DocumentInspector, type UnsupportedDocument } from "../../ports/conversion/documents.ts"
import { HtmlAssembly } from "../../ports/conversion/html-assembly.ts"
import { FileObjects, type ObjectStoreService } from "../../ports/object-store.ts"
import { cleanFileName } from "../../reader/model/file-name.ts"
import type { LayoutOptions } from "../../reader/model/layout-page.ts"
import type { PageRange } from "../../reader/model/pdf-document.ts"

/** The document's key among the objects; it is read in place, without a copy. */
const SOURCE = "source"

/** A document that was not converted: why, in a sentence for its owner. */
export class NotConverted extends Data.TaggedError("NotConverted")<{ readonly message: string }> {}

interface GivenDocument {
  readonly path: string
  /** Of its file: its title where it has none. */
  readonly name: string
  /** What it is called in messages. */
  readonly shown: string
}

const failed = (message: string) => new NotConverted({ message })

/** What is said of each failure of a document that is called so. */
export const saidOf = (name: string) => {
  const say = (message: string) => Effect.fail(failed(message))
  const unreadable = ({ message }: { readonly message: string }) => say(`${name}: ${message}`)
  return {
    UnsupportedDocument: ({ found }: UnsupportedDocument) =>
      say(`${name} is ${found}; PDF, DOCX, PNG and JPEG are converted, by their content`),
    DocumentReaderAway: () => say("No process could be started to read it in: is the machine out of memory?"),
    UnreadableDocument: unreadable,
    PdfError: unreadable,
    DocxError: unreadable,
    ObjectStoreError: () => say("The temporary files cannot be written or read: is the disk full?")
  }
}

/** Finished parts are kept in a temporary folder; the document itself is not copied. */
const objectsAt = (folder: string, document: string): ObjectStoreService => {
  const disk = makeDiskObjects(folder)
  return {
    ...disk,
    localPath: (key) => (key === SOURCE ? Effect.succeed(document) : disk.localPath(key))
  }
}

/** What a document is converted with on this machine. */
export const layerOf = (folder: string, document: string, recognition: RecognitionOptions | undefined) =>
  Layer.mergeAll(ReadPages.layer, Inspector.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        layerPdf(),
        recognition === undefined ? Layer.empty : layerTesseract(recognition),
        Layer.provide(layerDocx(), ReaderProcess.layer),
        Html.layerStarted,
        Layer.succeed(FileObjects, objectsAt(folder, document))
      )
    )
  )

const convertWord = Effect.fnUntraced(function* (path: string, name: string) {
  const { assemble } = yield* HtmlAssembly
  const { html, pages, title } = yield* docxHtml(path)
  const converted: ConvertedDirectly = {
    pages,
    unreadablePages: [],
    recognisedPages: 0,
    poorlyReadPages: [],
    doubtfulPages: [],
    unreadPictures: [],
    hasText: hasWords(html),
    html: assemble({
      facts: { lang: undefined, title },
      name,
      pages: Stream.make({ index: 0, label: "1", html }),
      estimatedPages: pages
    })
  }
  return converted
})

/** A picture, recognised on this machine where anything reads scans. */
const convertPicture = Effect.fnUntraced(function* (
  { path, shown }: GivenDocument,
  name: string,
  kind: "png" | "jpeg"
) {
  const { assemble } = yield* HtmlAssembly
  const files = yield* FileSystem.FileSystem
  const bytes = yield* files
    .readFile(path)
    .pipe(Effect.mapError(({ message }) => failed(`${shown} cannot be read: ${message}`)))
  const source = `data:image/${kind};base64,${encode(bytes)}`
  const { hasText, html, tier } = yield* standardPicture({ objectKey: SOURCE, name, source })
  const converted: ConvertedDirectly = {
    pages: 1,
    unreadablePages: [],
    recognisedPages: tier === "layout" ? 0 : 1,
    poorlyReadPages: tier === "poorly-recognised" ? [1] : [],
    doubtfulPages: [],
    unreadPictures: hasText ? [] : [1],
    hasText,
    html: assemble({
      facts: { lang: undefined, title: undefined },
      name,
      pages: Stream.make({ index: 0, label: "1", html })
    })
  }
  return converted
})

/** The document, converted by what its content is. */
export const convertDocument = Effect.fnUntraced(function* (
  document: GivenDocument,
  { range, ...options }: LayoutOptions & { readonly range: PageRange | undefined },
  onPage: DirectConversion["onPage"] = () => Effect.void
) {
  const { path, shown } = document
  const inspector = yield* DocumentInspector
  const name = cleanFileName(document.name)
  const { kind } = yield* inspector.inspect(path)
  if (options.explains === true && kind !== "pdf")
    return yield* failed(
      `${shown} is no PDF: only the blocks of a PDF are decided by rules that --explain can name`
    )
  switch (kind) {
    case "pdf":
      return yield* convertDirectly({
        objectKey: SOURCE,
        name,
        range,
        options,
        onPage
      })
    case "docx":
      if (range !== undefined) return yield* failed(`${shown} is a Word document: it has no pages to choose`)
      return yield* convertWord(path, name)
    case "png":
    case "jpeg":
      if (range !== undefined) return yield* failed(`${shown} is a picture: it has no pages to choose`)
      return yield* convertPicture(document, name, kind)
  }
})
