/**
 * What a PDF page holds, as an extractor reports it. All lengths are points (1/72 inch); the origin is the top left corner of
 * the displayed page (crop box and rotation applied), x to the right, y down.
 */

import type { LeftOut } from "./left-out.ts"

/** A rectangle: left, top, right, bottom. */
export interface Box {
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
}

/** Whether a font's name says that its letters are monospaced. */
export const isFixedPitchName = (name: string): boolean =>
  /courier|mono(?!type)|consol|menlo|lucida ?console|fixedsys|^CMTT\d|typewriter/i.test(name)

/** A font of the document, listed once. */
export interface FontFace {
  /** PostScript name without the subset's prefix, e.g. `TimesNewRomanPS-BoldMT`. */
  readonly name: string
  /** 100 to 900; 400 where nothing is known. */
  readonly weight: number
  readonly italic: boolean
  readonly monospace: boolean
  /** Serif faces and symbol faces, where the document says so. */
  readonly serif: boolean
  readonly symbolic: boolean
}

/**
 * Consecutive characters with one font, size, baseline, angle and marked-content id, in the order of the content stream. Spaces
 * that the extractor inferred are in the text; a soft hyphen at a line's end is reported by `hyphenated`, its character left out.
 */
export interface TextRun {
  readonly text: string
  readonly box: Box
  /** The y of the baseline at the run's start. */
  readonly baseline: number
  /**
   * Left edge of each UTF-16 unit of `text`, and the right edge of the last: one longer than `text`. Of a slanted run: along
   * its writing direction.
   */
  readonly edges: ReadonlyArray<number>
  /** Index into the document's fonts. */
  readonly font: number
  /** Font size as shown. */
  readonly size: number
  /** Clockwise degrees; 0 for ordinary lines. */
  readonly angle: number
  /** Fill colour, 0xRRGGBB. */
  readonly color: number
  /** Marked-content id on this page, where the content is tagged. */
  readonly mcid: number | undefined
  /** Marked as an artifact (running headers, page numbers, decoration). */
  readonly artifact: boolean
  readonly hyphenated: boolean
  /** Drawn with text render mode 3: only for search (scanned pages with OCR text). */
  readonly invisible: boolean
  /** A vertical line of upright signs: its direction is turned, its signs are not. */
  readonly stacked?: boolean
  /** What its words are short for. */
  readonly expansion?: string
  /** Its author's program did not know where it is to be read. */
  readonly suspect?: boolean
  /** A rule is drawn under it; found when its page is analysed. */
  readonly underlined?: boolean
  /** What of it a rule is drawn through; found when its page is analysed. */
  readonly struck?: ReadonlyArray<Box>
}

/** A drawn path or an image: rules, table borders, figures. */
export type Drawing =
  | {
      readonly kind: "path"
      readonly box: Box
      readonly stroked: boolean
      readonly filled: boolean
      /** True when it has curves or slanted lines. */
      readonly curved: boolean
      /** 0xRRGGBB */
      readonly color: number
      readonly mcid: number | undefined
      readonly artifact: boolean
    }
  | {
      readonly kind: "image"
      readonly box: Box
      /** The page's n-th image; an extractor returns its pixels by this. */
      readonly index: number
      readonly mcid: number | undefined
      readonly artifact: boolean
    }

/** A link annotation: to a URI, or to a page of the same document (from 0) with the y of its target. */
export interface PageLink {
  readonly box: Box
  readonly target:
    | { readonly kind: "uri"; readonly uri: string }
    | { readonly kind: "page"; readonly page: number; readonly y: number | undefined }
}

/** A form field's widget. */
export interface FormField {
  readonly box: Box
  readonly kind: "text" | "checkbox" | "radio" | "choice" | "signature" | "button"
  readonly name: string
  /** The field's own description (`TU`), if any. */
  readonly label: string | undefined
  readonly value: string
  readonly checked: boolean
  readonly options: ReadonlyArray<string>
  /** Selected options, where more than one may be. */
  readonly chosen?: ReadonlyArray<string> | undefined
  readonly required?: boolean
  readonly readOnly?: boolean
  readonly multiline?: boolean
  /** Most characters that it takes. */
  readonly maxLength?: number | undefined
}

/** An element of a tagged document's structure tree, as far as it touches one page. */
export interface StructureElement {
  /** Standard type after the role map: `H1`, `P`, `L`, `LI`, `Table`, `TR`, `TH`, `TD`, `Figure`, `Note`, `Link`, … */
  readonly type: string
  readonly alt: string | undefined
  readonly actualText: string | undefined
  readonly lang: string | undefined
  /** `ColSpan`, `RowSpan`, `Scope` (`Row`, `Column`, `Both`), `ListNumbering` and the like, as the tree has them. */
  readonly attributes: Readonly<Record<string, string | number>>
  /** The same on every page that the element touches, so that one across a page break can be joined; unique in the document. */
  readonly id: number
  readonly children: ReadonlyArray<StructureElement | { readonly mcid: number }>
}

/** One page. */
export interface PageContent {
  /** From 0. */
  readonly index: number
  /** The label that the document gives it (`iv`, `A-3`), else its number from 1. */
  readonly label: string
  readonly width: number
  readonly height: number
  readonly runs: ReadonlyArray<TextRun>
  readonly drawings: ReadonlyArray<Drawing>
  /** The extents of what was drawn elsewhere and is placed here as a whole: a chart, a letterhead. */
  readonly groups: ReadonlyArray<Box>
  readonly links: ReadonlyArray<PageLink>
  readonly fields: ReadonlyArray<FormField>
  /** Roots of the structure on this page; empty where the document is not tagged. */
  readonly structure: ReadonlyArray<StructureElement>
  /** The document says of its tags that some may be wrong. */
  readonly suspects?: boolean
  /** True: it certainly shows words, so that it is not blank. False proves nothing; absent where it was not checked. */
  readonly hasWords?: boolean
}

/** An entry of the document's outline (bookmarks). */
export interface OutlineEntry {
  readonly title: string
  readonly level: number
  /** From 0; undefined where it leads elsewhere. */
  readonly page: number | undefined
}

/** What holds for the whole document. */
export interface DocumentFacts {
  readonly pageCount: number
  readonly title: string | undefined
  readonly author: string | undefined
  /** BCP 47, from the catalogue. */
  readonly lang: string | undefined
  readonly tagged: boolean
  readonly outline: ReadonlyArray<OutlineEntry>
  readonly fonts: ReadonlyArray<FontFace>
  /** Content that the pages do not show; absent where it was not looked for. */
  readonly leftOut?: LeftOut | undefined
}
