import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Logger, Stream } from "effect"

import { readableLanguages } from "../../adapters/tesseract/recognition.ts"
import type { Doubt } from "../../reader/model/doubt.ts"
import { leftOutTexts } from "../../reader/model/left-out.ts"
import { convertDocument, layerOf, NotConverted, saidOf } from "../compose/convert-document.ts"

/** How a document is converted. */
export interface ReaderOptions {
  /** Name of its file: the title of a document that has none, and what messages call it. */
  readonly name?: string
  /** These pages of a PDF only, from 1, the last one included. */
  readonly pages?: { readonly first: number; readonly last: number }
  /** `auto`, the default: scans are read where an engine is installed; `off`: they stay pictures. */
  readonly ocr?: "auto" | "off"
  /** Running headers, footers and page numbers stay; they are left out unless it is asked for. */
  readonly keepsRunningLines?: boolean
}

/** A document as one self-contained, accessible HTML file, or the reason of a refusal. Pages are numbered from 1. */
export type ReaderResult =
  | {
      readonly ok: true
      readonly html: string
      readonly pages: number
      /** Pages that are shown as pictures alone: their words, if any, were not read. */
      readonly pagesWithoutText: ReadonlyArray<number>
      /** Pages that could not be read at all; the result has a notice in place of each. */
      readonly unreadablePages: ReadonlyArray<number>
      /** How many pages were read from their pictures, and which of them not well: check what matters. */
      readonly recognisedPages: number
      readonly poorlyReadPages: ReadonlyArray<number>
      /** Pages to compare with the original, with the reason: their tags and their look disagree, for example. */
      readonly doubtfulPages: ReadonlyArray<{ readonly reason: Doubt; readonly pages: ReadonlyArray<number> }>
      /** What the document holds that is not in the result, a sentence each. */
      readonly leftOut: ReadonlyArray<string>
    }
  | { readonly ok: false; readonly error: string }

/** The pages as they are asked for; fails where these are none. */
const rangeOf = ({ pages }: ReaderOptions) => {
  if (pages === undefined) return Effect.undefined
  const { first, last } = pages
  return Number.isInteger(first) && Number.isInteger(last) && first >= 1 && last >= first
    ? Effect.succeed({ first: first - 1, end: last })
    : Effect.fail(new NotConverted({ message: `There are no pages ${first} to ${last}: they count from 1` }))
}

const converted = (folder: string, path: string, options: ReaderOptions) => {
  const { keepsRunningLines = false, name = "document" } = options
  const shown = options.name ?? "The document"
  return Effect.gen(function* () {
    const range = yield* rangeOf(options)
    const { html, leftOut, unreadPictures, ...made } = yield* convertDocument(
      { path, name, shown },
      { range, keepsRunningLines }
    )
    const result: ReaderResult = {
      ok: true,
      html: (yield* Stream.runCollect(html)).join(""),
      pages: made.pages,
      pagesWithoutText: unreadPictures,
      unreadablePages: made.unreadablePages,
      recognisedPages: made.recognisedPages,
      poorlyReadPages: made.poorlyReadPages,
      doubtfulPages: made.doubtfulPages,
      leftOut: leftOutTexts(leftOut)
    }
    return result
  }).pipe(
    Effect.provide(layerOf(folder, path, recognitionOf(options))),
    Effect.catchTags(saidOf(shown)),
    Effect.catchTag("NotConverted", ({ message }) =>
      Effect.succeed<ReaderResult>({ ok: false, error: message })
    ),
    Effect.scoped,
    Effect.provide(NodeServices.layer),
    Effect.provideService(Logger.CurrentLoggers, new Set())
  )
}

/** A missing engine or language matters only for scans; the result then names their pages. */
const recognitionOf = ({ ocr }: ReaderOptions) => {
  const { readable } = readableLanguages()
  return ocr === "off" || readable.length === 0 ? undefined : { languages: readable }
}

/**
 * Reads a PDF, a Word document (DOCX) or a picture (PNG, JPEG), recognised by its content, on this machine: no service, no database, no
 * network. The document may be hostile: it is read in threads and processes with limits of their own, which end with the call. It
 * needs Node, and a folder for temporary files. Rejects only where that folder cannot be written.
 */
export const toHtml = async (bytes: Uint8Array, options: ReaderOptions = {}): Promise<ReaderResult> => {
  const folder = await mkdtemp(join(tmpdir(), "postlane-reader-"))
  try {
    const path = join(folder, "document")
    await writeFile(path, bytes)
    return await Effect.runPromise(converted(join(folder, "parts"), path, options))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
