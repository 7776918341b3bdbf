/** Results in other formats, as tests make them: without threads. */
import { PictureFinder, PictureNumbers } from "../../../src/reader/formats/pictures.ts"
import { ContentReader, PieceReader, TokenReader } from "../../../src/reader/formats/tokens.ts"
import { PIECE_START, type WrittenFormat, writePiece } from "../../../src/reader/formats/write-piece.ts"
import type { ResultBlock, ResultPictures } from "../../../src/reader/model/result-block.ts"

/** The content of a whole result in this format; `step`: how many characters come at once. */
export const written = (
  html: string,
  format: WrittenFormat,
  { pictures = "none", step = 1000 }: { readonly pictures?: ResultPictures; readonly step?: number } = {}
): string => {
  const finder = new PictureFinder()
  finder.add(new ContentReader().of(new TokenReader().add(html)))
  const tokens = new TokenReader()
  const content = new ContentReader()
  const numbers = new PictureNumbers(finder.stored)
  const pieces = new PieceReader()
  const all: Array<string> = []
  for (let at = 0; at < html.length; at += step) {
    const some = content.of(tokens.add(html.slice(at, at + step)))
    all.push(...pieces.add(format === "markdown" && pictures === "inline" ? some : numbers.of(some)))
  }
  all.push(pieces.end())
  let state = PIECE_START
  let text = ""
  for (const piece of all.filter((one) => one !== "")) {
    const made = writePiece(piece, { format, pictures }, state)
    state = made.state
    text += made.text
  }
  return text
}

/** The blocks of the format `json`. */
export const blocksOf = (html: string, step?: number): ReadonlyArray<ResultBlock> =>
  JSON.parse(`[${written(html, "json", step === undefined ? {} : { step })}]`) as ReadonlyArray<ResultBlock>

/** A result around these pages. */
export const around = (main: string, title = "A title"): string =>
  `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>nav>ol{margin:0}</style></head>` +
  `<body><a class="skip" href="#main">Skip to content</a><header><h1>${title}</h1><p class="about">2 pages<label><input type="checkbox" id="page-marks" checked=""> Page marks</label></p></header>` +
  `<nav aria-labelledby="contents"><h2 id="contents">Contents</h2><ol><li><a href="#section-1">One</a></li></ol></nav>` +
  `<main id="main" tabindex="-1">${main}</main></body></html>\n`

/** All the words of blocks. */
export const wordsOf = (blocks: ReadonlyArray<ResultBlock>): string =>
  blocks
    .map(({ blocks: inner = [], caption = "", items = [], kind, rows = [], text = "" }) => {
      const parts = [
        text,
        ...rows.flat().map((cell) => cell.text ?? ""),
        ...items.flatMap(({ blocks: within, term = "" }) => [term, wordsOf(within)]),
        wordsOf(inner)
      ]
      return (kind === "table" ? [caption, ...parts] : [...parts, caption]).join(" ")
    })
    .join(" ")
