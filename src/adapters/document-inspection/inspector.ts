import { Effect, Layer, type Scope } from "effect"
import { fileTypeFromBuffer } from "file-type"

import { isPdf, signedKind } from "../../domain/conversion/file-signatures.ts"
import type { FileKind } from "../../domain/conversion/file.ts"
import {
  DocumentInspector,
  type DocumentReaderAway,
  UnreadableDocument,
  UnsupportedDocument,
  DocxConverter
} from "../../ports/conversion/documents.ts"
import { Pdf } from "../../ports/conversion/pdf.ts"
import type { LeftOut } from "../../reader/model/left-out.ts"
import { compoundNames, openFile, type OpenedFile } from "./opened-file.ts"
import { inspectJpeg, inspectPng } from "./pictures.ts"

/** Magic bytes of a kind. */
const HEAD_BYTES = 16_384

type Leading = "pdf" | "png" | "jpeg" | "zip" | "compound"

/** By what a file begins with. */
const SIGNATURES: ReadonlyArray<readonly [Leading, Buffer]> = [
  ["png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ["jpeg", Buffer.from([0xff, 0xd8, 0xff])],
  ["zip", Buffer.from("PK\u0003\u0004", "latin1")],
  ["compound", Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])]
]

const leadingOf = (head: Buffer): Leading | undefined =>
  SIGNATURES.find(([, bytes]) => head.subarray(0, bytes.length).equals(bytes))?.[0] ??
  (isPdf(head) ? "pdf" : undefined)

const isText = (head: Buffer): boolean => !head.includes(0) && !head.toString("utf8").includes("\ufffd\ufffd")

/** What a file that is not converted seems to be. */
const unsupported = Effect.fnUntraced(function* (head: Buffer) {
  if (head.length === 0) return yield* new UnsupportedDocument({ found: "an empty file" })
  // Its result for other bytes does not matter: they are of no kind that is converted.
  const type = yield* Effect.orElseSucceed(
    Effect.tryPromise(() => fileTypeFromBuffer(head)),
    () => undefined
  )
  const found =
    type === undefined
      ? (signedKind(head) ?? (isText(head) ? "plain text, HTML or the like" : "a file of an unknown kind"))
      : `a .${type.ext} file (${type.mime})`
  return yield* new UnsupportedDocument({ found })
})

const passwordProtected = () =>
  new UnreadableDocument({
    message: "This document is protected by a password. Remove the password, then send it again."
  })

/** Old Office files, and new ones under a password. */
const inspectCompound = Effect.fnUntraced(function* (file: OpenedFile) {
  const names = yield* compoundNames(file)
  if (names.includes("EncryptedPackage")) return yield* passwordProtected()
  return yield* new UnsupportedDocument({
    found: names.includes("WordDocument") ? "an old Word document (.doc)" : "an old Office file"
  })
})

interface Inspected {
  readonly kind: FileKind
  readonly pages: number
  readonly leftOut?: LeftOut | undefined
}

/** Detects kinds by content: PDFs through the port `Pdf`, archives through `DocxConverter`, pictures by their headers. */
export const layer: Layer.Layer<DocumentInspector, never, Pdf | DocxConverter> = Layer.effect(
  DocumentInspector,
  Effect.gen(function* () {
    const pdf = yield* Pdf
    const docx = yield* DocxConverter

    const inspectPdf = (path: string) =>
      pdf.open(path).pipe(
        Effect.mapError(({ message }) => new UnreadableDocument({ message })),
        Effect.flatMap(({ facts, leftOut }) =>
          Effect.map(leftOut, (found): Inspected => ({ kind: "pdf", pages: facts.pageCount, leftOut: found }))
        )
      )

    const inspected = (
      file: OpenedFile,
      head: Buffer
    ): Effect.Effect<
      Inspected,
      UnsupportedDocument | UnreadableDocument | DocumentReaderAway,
      Scope.Scope
    > => {
      const as = (kind: FileKind) => (pages: number) => ({ kind, pages })
      switch (leadingOf(head)) {
        case "pdf":
          return inspectPdf(file.path)
        case "png":
          return Effect.as(inspectPng(file), as("png")(1))
        case "jpeg":
          return Effect.as(inspectJpeg(file), as("jpeg")(1))
        case "zip":
          return Effect.map(docx.inspect(file.path), ({ pages }) => ({ kind: "docx", pages }))
        case "compound":
          return inspectCompound(file)
        case undefined:
          return unsupported(head)
      }
    }

    return DocumentInspector.of({
      inspect: (path) =>
        Effect.gen(function* () {
          const file = yield* openFile(path)
          return yield* inspected(file, yield* file.at(0, HEAD_BYTES))
        }).pipe(Effect.scoped)
    })
  })
)
