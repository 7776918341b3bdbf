import type { ResultFormat, ResultPictures } from "../model/result-block.ts"
import { type Block, BlockReader } from "./blocks.ts"
import { dataOf } from "./data.ts"
import { markdownPiece } from "./markdown.ts"
import { textsOf } from "./plain-text.ts"
import { treeOf } from "./tree.ts"

/** Formats that are written from the neutral tree. */
export type WrittenFormat = Exclude<ResultFormat, "html" | "fragment">

/** Where a document has come to. */
export interface PieceState {
  /** From 1; null before the first page, and where there are none. */
  readonly page: number | null
  /** The page that the last block began on, as far as written. */
  readonly written: number | null
  readonly isFirst: boolean
  /** Whether the last block was a list, which one in the next piece must not continue. */
  readonly endsWithList: boolean
}

export const PIECE_START: PieceState = { page: null, written: null, isFirst: true, endsWithList: false }

/** A piece of a document as it is written, and where the document has come to. */
export interface WrittenPiece {
  readonly text: string
  readonly state: PieceState
}

const isList = (block: Block | undefined): boolean => block?.kind === "list" || block?.kind === "definitions"

const textIn = (
  format: WrittenFormat,
  blocks: ReadonlyArray<Block>,
  drawings: BlockReader["drawings"],
  state: PieceState
): string => {
  switch (format) {
    case "json":
      return blocks.map((block) => JSON.stringify(dataOf(block))).join(",\n")
    case "text":
      return textsOf(blocks)
    case "markdown": {
      const text = markdownPiece(blocks, state.written, drawings)
      const touches = state.endsWithList && isList(blocks[0]) && !text.startsWith("<!--")
      return touches ? `<!-- -->\n\n${text}` : text
    }
  }
}

/** Writes a piece of a result, whole blocks of its HTML, in another format. */
export const writePiece = (
  html: string,
  { format, pictures }: { readonly format: WrittenFormat; readonly pictures: ResultPictures },
  state: PieceState
): WrittenPiece => {
  const reader = new BlockReader(state.page, { scans: format === "json" || pictures === "inline" })
  const blocks = reader.blocks(treeOf(html))
  const text = textIn(format, blocks, reader.drawings, state)
  const last = blocks.at(-1)
  const next: PieceState = {
    page: reader.page,
    written: last?.page ?? state.written,
    isFirst: state.isFirst && text === "",
    endsWithList: last === undefined ? state.endsWithList : isList(last)
  }
  if (text === "") return { text, state: next }
  const between = state.isFirst ? "" : format === "json" ? ",\n" : "\n\n"
  return { text: between + text, state: next }
}
