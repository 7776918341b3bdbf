import type {
  Box,
  DocumentFacts,
  Drawing,
  FontFace,
  FormField,
  PageContent,
  PageLink,
  StructureElement,
  TextRun
} from "../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../src/reader/stages/profile/statistics.ts"

const face = (name: string, more: Partial<FontFace> = {}): FontFace => ({
  name,
  weight: 400,
  italic: false,
  monospace: false,
  serif: true,
  symbolic: false,
  ...more
})

/** Fonts of the pages made here, by what they are for. */
export const FONT = { plain: 0, bold: 1, italic: 2, code: 3, boldCode: 4, boldItalic: 5 } as const
export const FONTS: ReadonlyArray<FontFace> = [
  face("Serif"),
  face("Serif-Bold", { weight: 700 }),
  face("Serif-Italic", { italic: true }),
  face("Mono", { monospace: true, serif: false }),
  face("Mono-Bold", { monospace: true, serif: false, weight: 700 }),
  face("Serif-BoldItalic", { italic: true, weight: 700 })
]

/** Width of every letter, in font sizes. */
const LETTER = 0.5

/** How a stretch of text is set. */
export interface Set {
  readonly font?: number
  readonly size?: number
  readonly hyphenated?: boolean
  readonly mcid?: number
  readonly artifact?: boolean
  readonly invisible?: boolean
  readonly angle?: number
  readonly color?: number
}

/** A run at a place; `y` is its baseline. */
export const run = (text: string, x: number, y: number, set: Set = {}): TextRun => {
  const size = set.size ?? 10
  const width = LETTER * (set.font === FONT.code ? 1.2 : 1) * size
  return {
    text,
    box: { x0: x, y0: y - 0.8 * size, x1: x + text.length * width, y1: y + 0.2 * size },
    baseline: y,
    edges: Array.from({ length: text.length + 1 }, (_, at) => x + at * width),
    font: set.font ?? FONT.plain,
    size,
    angle: set.angle ?? 0,
    color: set.color ?? 0,
    mcid: set.mcid,
    artifact: set.artifact ?? false,
    hyphenated: set.hyphenated ?? false,
    invisible: set.invisible ?? false
  }
}

/** Words broken into lines of at most `letters` letters, 12 points apart, from `y` down. */
export const lines = (
  text: string,
  x: number,
  y: number,
  letters: number,
  set: Set = {}
): ReadonlyArray<TextRun> => {
  const rows: Array<string> = [""]
  for (const word of text.split(" ")) {
    const last = rows.at(-1) ?? ""
    if (last !== "" && last.length + 1 + word.length > letters) rows.push(word)
    else rows[rows.length - 1] = last === "" ? word : `${last} ${word}`
  }
  return rows.map((row, at) => run(row, x, y + 1.2 * (set.size ?? 10) * at, set))
}

/** What a page holds besides runs. */
export interface Rest {
  readonly drawings?: ReadonlyArray<Drawing>
  readonly groups?: ReadonlyArray<Box>
  readonly links?: ReadonlyArray<PageLink>
  readonly fields?: ReadonlyArray<FormField>
  readonly structure?: ReadonlyArray<StructureElement>
}

/** An A4 page. */
export const page = (runs: ReadonlyArray<TextRun>, index = 0, rest: Rest = {}): PageContent => ({
  index,
  label: String(index + 1),
  width: 595,
  height: 842,
  runs,
  drawings: [],
  groups: [],
  links: [],
  fields: [],
  structure: [],
  ...rest
})

/** A line across or down the page. */
export const rule = (x0: number, y0: number, x1: number, y1: number): Drawing => ({
  kind: "path",
  box: { x0, y0, x1, y1 },
  stroked: true,
  filled: false,
  curved: false,
  color: 0,
  mcid: undefined,
  artifact: false
})

/** A picture. */
export const picture = (
  index: number,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  mcid?: number
): Drawing => ({
  kind: "image",
  box: { x0, y0, x1, y1 },
  index,
  mcid,
  artifact: false
})

let ids = 0

/** A structure element; numbers among its children are marked-content ids. */
export const tag = (
  type: string,
  children: ReadonlyArray<StructureElement | number>,
  more: Partial<StructureElement> = {}
): StructureElement => ({
  type,
  alt: undefined,
  actualText: undefined,
  lang: undefined,
  attributes: {},
  id: (ids += 1),
  children: children.map((child) => (typeof child === "number" ? { mcid: child } : child)),
  ...more
})

/** A face of mathematics, which no page has by itself. */
export const MATH_FACE: FontFace = {
  name: "CMMI10",
  weight: 400,
  italic: true,
  monospace: false,
  serif: true,
  symbolic: true
}

/** Facts of a document that says nothing of itself. */
export const FACTS: DocumentFacts = {
  pageCount: 1,
  title: undefined,
  author: undefined,
  lang: undefined,
  tagged: false,
  outline: [],
  fonts: []
}

/** Running text of so many words, no two paragraphs of different seeds alike. */
export const prose = (words: number, seed = 1): string =>
  `${Array.from({ length: words }, (_, at) => ["alpha", "river", "stone", "letter", "quiet", "margin", "over", "under"][(at * 7 + seed * 3 + Math.floor(at / 5)) % 8]).join(" ")}.`

/** The HTML of a page with these runs and drawings. */
export const htmlOf = (runs: ReadonlyArray<TextRun>, drawings: ReadonlyArray<Drawing> = []): string =>
  layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: [page(runs, 0, { drawings })],
    others: NO_STATISTICS
  })
    .map(({ html }) => html)
    .join("")

/** The HTML of a page that has a paragraph above other runs, and drawings. */
export const htmlBelowText = (runs: ReadonlyArray<TextRun>, drawings: ReadonlyArray<Drawing> = []): string =>
  htmlOf([...lines(prose(60), 60, 60, 90), ...runs], drawings)
