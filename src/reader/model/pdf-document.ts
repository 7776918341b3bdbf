import { Data } from "effect"

import type { RecognisedText } from "./recognised-text.ts"

/**
 * Why a document, or a page of it, cannot be read:
 * - `encrypted`: it opens with a password only (an empty one is tried);
 * - `broken`: not a PDF, or damaged beyond repair;
 * - `empty`: it has no page;
 * - `xfa-only`: an XFA form, with pages that only a viewer's script makes; the file holds nothing but "Please wait";
 * - `too-large-page`, `too-many-pages`, `bomb`: beyond the limits below, so that one document cannot stop the rest;
 * - `timeout`: a page took longer than the limit; `crashed`: reading it crashed the reader. Other reads go on.
 */
export type PdfFailure =
  | "encrypted"
  | "broken"
  | "empty"
  | "xfa-only"
  | "too-large-page"
  | "bomb"
  | "too-many-pages"
  | "timeout"
  | "crashed"

/** The message is for the person who sent the document: what is wrong and what to do. */
export class PdfError extends Data.TaggedError("PdfError")<{
  readonly reason: PdfFailure
  readonly message: string
  /** From 0, where one page is at fault. */
  readonly page?: number
  /** For the log: what the library said. */
  readonly cause?: unknown
}> {}

/** Pages from `first` up to and without `end`, from 0. */
export interface PageRange {
  readonly first: number
  readonly end: number
}

/** A page as a single PDF. */
export interface SinglePage {
  readonly index: number
  readonly bytes: Uint8Array
  /** True: it certainly shows words, so that it is not blank. False proves nothing; absent where it was not checked. */
  readonly hasWords?: boolean
}

/** A picture in a format of models and browsers. */
export interface Picture {
  readonly mediaType: "image/png" | "image/jpeg"
  readonly bytes: Uint8Array
  readonly width: number
  readonly height: number
}

/** What was read from a page's picture. */
export interface ReadScan {
  /** From 0. */
  readonly page: number
  /** Undefined: it could not be read. */
  readonly text: RecognisedText | undefined
}

/** Most pages of a document. */
export const MAX_PAGES = 50_000

/** Longest side of a page, in points: 200 inches, PDF's own limit. */
export const MAX_PAGE_POINTS = 14_400

/** Most pixels of a returned picture. */
export const MAX_PICTURE_PIXELS = 8_000_000

/** Most characters of a page: a wall poster has 100,000. */
export const MAX_PAGE_CHARACTERS = 400_000
