import { hull, middleX, middleY } from "../../../model/geometry.ts"
import { element, type HtmlElement } from "../../../model/html-tree.ts"
import { greatest, least } from "../../../model/lists.ts"
import type { Box, FontFace } from "../../../model/page-content.ts"
import type { Piece } from "../../lines/segment.ts"
import { ACCENT } from "../../runs/accents.ts"
import { BIG_OPERATOR, isFunctionName, isMathFace, isMathSign } from "./mathematical.ts"

/** A sign, or what signs were put together to, at its place. */
export interface Item extends Box {
  /** Baseline of its line. */
  readonly baseline: number
  readonly size: number
  readonly node: HtmlElement
  /** The sign; empty for a combination. */
  readonly text: string
  /** A piece of a bracket that is drawn in pieces. */
  readonly isPart?: boolean
}

/** Height of a line's axis above its baseline, in font sizes: bars of fractions and big operators are on it. */
export const AXIS = 0.25
/** Brackets and the pieces of them. */
export const OPEN = /^[([{⟨⌊⌈⎡⎢⎣⎧⎨⎩⎛⎜⎝]$/u
export const CLOSE = /^[)\]}⟩⌋⌉⎤⎥⎦⎫⎬⎭⎞⎟⎠]$/u
/** The brackets that pieces belong to. */
const WHOLE: ReadonlyMap<string, string> = new Map([
  ..."⎛⎜⎝".split("").map((piece) => [piece, "("] as const),
  ..."⎞⎟⎠".split("").map((piece) => [piece, ")"] as const),
  ..."⎡⎢⎣".split("").map((piece) => [piece, "["] as const),
  ..."⎤⎥⎦".split("").map((piece) => [piece, "]"] as const),
  ..."⎧⎨⎩⎪".split("").map((piece) => [piece, "{"] as const),
  ..."⎫⎬⎭".split("").map((piece) => [piece, "}"] as const),
  ["⏐", "|"]
])

/** What one sign, number or word is in a formula. */
const leaf = (text: string, face: FontFace | undefined): HtmlElement => {
  const [letter = "", mark = "", ...more] = text.normalize("NFD")
  const accent = ACCENT.get(mark)
  if (accent !== undefined && more.length === 0)
    return element("mover", { accent: "true" }, [leaf(letter, face), element("mo", {}, [accent])])
  if (/^[\d.,]+$/.test(text) && /\d/.test(text)) return element("mn", {}, [text])
  if (/^(?:\p{L}\p{M}*)+$/u.test(text)) {
    const upright = face !== undefined && !face.italic && !isMathFace(face)
    if ((text.match(/\p{L}/gu) ?? []).length > 1)
      return isFunctionName(text) ? element("mi", {}, [text]) : element("mtext", {}, [`\u00a0${text}\u00a0`])
    return element("mi", upright && !isMathSign(text) ? { mathvariant: "normal" } : {}, [text])
  }
  return element("mo", {}, [text])
}

/**
 * Cuts a piece into signs, numbers and words; a definition sign is one sign. Variables: single letters of a
 * mathematical face, Unicode's mathematical letters in any face, and italics without a word next to them.
 */
const TOKEN = /::?=|\d+(?:[.,]\d+)*|\p{L}\p{M}*|[^\s\p{L}\d]\p{M}*/gu
const WORDS =
  /::?=|\d+(?:[.,]\d+)*|(?:(?!\p{Lm}|[\u{1d400}-\u{1d7ff}])\p{L}\p{M}*)+|\p{L}\p{M}*|[^\s\p{L}\d]\p{M}*/gu
/** Letters are a word from this many on. */
const WORD = /\p{L}{3}/u

const patternOf = (text: string, face: FontFace | undefined): RegExp =>
  isMathFace(face) || (face?.italic === true && !WORD.test(text)) ? TOKEN : WORDS

/** Variation selectors, which say which shape of a sign a face draws. */
const VARIATION = /[\ufe00-\ufe0f]/gu

/**
 * Top and bottom of a piece: of its ink for signs that are centred on the axis; else of its face, of which less is
 * inked.
 */
const inked = ({ run, text }: Piece): { readonly y0: number; readonly y1: number } => {
  if (Math.abs(middleY(run.box) + AXIS * run.size - run.baseline) < 0.02 * run.size) return run.box
  const [up, down] = BIG_OPERATOR.test(text.trim()) ? [1, 0.5] : [0.72, 0.22]
  return { y0: run.baseline - up * run.size, y1: run.baseline + down * run.size }
}

/** Top and bottom of pieces. */
export const extent = (pieces: ReadonlyArray<Piece>): { readonly y0: number; readonly y1: number } => {
  const all = pieces.map(inked)
  return { y0: least(all.map(({ y0 }) => y0)), y1: greatest(all.map(({ y1 }) => y1)) }
}

/** How wide signs are, in font sizes: relations are as wide as two narrow letters, and as three spaces between signs. */
const widthOf = (sign: string): number =>
  /\s/.test(sign) ? 0.25 : /[.,;:'!|()[\]]/.test(sign) ? 0.3 : /[=+<>≤≥±×−]/.test(sign) ? 0.75 : 0.5

const isLetter = (sign: string): boolean => /\p{L}/u.test(sign)

/** True for an accent; `^` is a separate sign, too. */
const isAccent = (sign: string): boolean => sign !== "^" && ACCENT.has(sign)

/**
 * Left edges of the signs of a piece, estimated from usual widths, and the right edge of the last. Only the piece's
 * edges are known. An accent before the letter that it is over has no width.
 */
const edgesOf = ({ text, x0, x1 }: Piece): ReadonlyArray<number> => {
  const widths = Array.from({ length: text.trimEnd().length }, (_, at) =>
    isAccent(text.charAt(at)) && isLetter(text.charAt(at + 1)) ? 0 : widthOf(text.charAt(at))
  )
  const all = widths.reduce((sum, width) => sum + width, 0)
  let sum = 0
  return [x0, ...widths.map((width) => x0 + ((x1 - x0) * (sum += width)) / all)]
}

/** The signs of a piece at their places. */
export const itemsOf = (piece: Piece, fonts: ReadonlyArray<FontFace>): ReadonlyArray<Item> => {
  const { run, text } = piece
  const face = fonts[run.font]
  const pattern = patternOf(text, face)
  const edges = edgesOf(piece)
  const { y0, y1 } = inked(piece)
  return [...text.matchAll(pattern)].map((match): Item => {
    const [token] = match
    const shown = token.replace(VARIATION, "")
    const sign = WHOLE.get(shown) ?? shown
    // An accent's ink is at the height of a small letter's top, whatever letter it is over.
    const high = isAccent(token)
    const isOver = high && isLetter(text.charAt(match.index + 1))
    return {
      x0: edges[match.index] ?? piece.x0,
      x1: edges[match.index + token.length + (isOver ? 1 : 0)] ?? piece.x1,
      y0: high ? run.baseline - 0.75 * run.size : y0,
      y1: high ? run.baseline - 0.5 * run.size : y1,
      baseline: run.baseline,
      size: run.size,
      node: leaf(sign, face),
      text: sign,
      isPart: sign !== shown
    }
  })
}

/** Greatest distance between parts of a number, in font sizes. */
const WITHIN_NUMBER = 0.1

/** Joins numbers with a decimal point in another face than their digits. */
export const withPoints = (items: ReadonlyArray<Item>): ReadonlyArray<Item> => {
  const done: Array<Item> = []
  for (const item of items) {
    const [whole, point] = done.slice(-2)
    const isNext = (a: Item, b: Item): boolean =>
      Math.abs(b.x0 - a.x1) < WITHIN_NUMBER * b.size && a.size === b.size && a.baseline === b.baseline
    const goesOn =
      whole !== undefined &&
      point?.text === "." &&
      /^\d+$/.test(whole.text) &&
      /^\d+$/.test(item.text) &&
      isNext(whole, point) &&
      isNext(point, item)
    if (!goesOn) done.push(item)
    else {
      const text = `${whole.text}.${item.text}`
      done.splice(-2, 2, { ...whole, x1: item.x1, node: element("mn", {}, [text]), text })
    }
  }
  return done
}

/** Whether a sign may be as high as several lines. */
export const isTallSign = (sign: string): boolean =>
  OPEN.test(sign) || CLOSE.test(sign) || BIG_OPERATOR.test(sign) || sign === "√"

/** Signs without those that may be tall: operators and brackets are often set in a larger size. */
const plainOf = (items: ReadonlyArray<Item>): ReadonlyArray<Item> => {
  const plain = items.filter(({ text }) => !isTallSign(text))
  return plain.length === 0 ? items : plain
}

/** The size of the largest letters. */
export const mainSize = (items: ReadonlyArray<Item>): number =>
  greatest(plainOf(items).map(({ size }) => size))

/** The baseline of the largest letters. */
export const mainLine = (items: ReadonlyArray<Item>): number => {
  const size = mainSize(items)
  return plainOf(items).find((item) => item.size > 0.95 * size)?.baseline ?? 0
}

/** Bold is also made by drawing a sign several times, a little apart. */
const TWIN = 0.09

/** Leaves the copies out. */
export const withoutTwins = (pieces: ReadonlyArray<Piece>): ReadonlyArray<Piece> => {
  const last = new Map<string, Piece>()
  return pieces.filter((piece) => {
    const key = piece.text.trim()
    const twin = last.get(key)
    last.set(key, piece)
    const near = TWIN * piece.run.size
    return (
      twin === undefined ||
      Math.abs(twin.x0 - piece.x0) > near ||
      Math.abs(twin.run.baseline - piece.run.baseline) > near ||
      twin.run.font !== piece.run.font
    )
  })
}

/** An accent and the letter below it. */
export const withAccents = (items: ReadonlyArray<Item>): ReadonlyArray<Item> => {
  let left = items
  for (const accent of items) {
    const sign = ACCENT.get(accent.text)
    if (sign === undefined) continue
    const aside = (item: Item): number => Math.abs(middleX(item) - middleX(accent))
    const under = left.filter(
      (item) =>
        item !== accent &&
        item.text !== "" &&
        /[\p{L}\p{N}]/u.test(item.text) &&
        aside(item) < 0.42 * accent.size &&
        middleY(accent) < item.baseline - 0.3 * item.size &&
        middleY(accent) > item.baseline - 1.4 * item.size
    )
    const nearest = least(under.map(aside))
    const base = under.find((item) => aside(item) === nearest)
    if (base === undefined) continue
    const node = element("mover", { accent: "true" }, [base.node, element("mo", {}, [sign])])
    left = left.filter((item) => item !== accent).map((item) => (item === base ? { ...base, node } : item))
  }
  return left
}

/** Step between the dots of an ellipsis, in font sizes, and the greatest difference of two steps. */
const DOT_STEP = { least: 0.2, most: 0.5 } as const
const SAME_STEP = 0.08

/** Three dots below one another, or down to the right, made one sign: TeX draws them one by one. */
export const withDots = (items: ReadonlyArray<Item>): ReadonlyArray<Item> => {
  const dots = items.filter(({ text }) => text === ".").sort((a, b) => a.baseline - b.baseline)
  if (dots.length < 3) return items
  const used = new Set<Item>()
  const made: Array<Item> = []
  const next = (dot: Item, dx: number | undefined, dy: number | undefined): Item | undefined =>
    dots.find((other) => {
      const [across, down] = [other.x0 - dot.x0, other.baseline - dot.baseline]
      return (
        !used.has(other) &&
        down > DOT_STEP.least * dot.size &&
        down < DOT_STEP.most * dot.size &&
        across > -SAME_STEP * dot.size &&
        across < DOT_STEP.most * dot.size &&
        (dx === undefined || Math.abs(across - dx) < SAME_STEP * dot.size) &&
        (dy === undefined || Math.abs(down - dy) < SAME_STEP * dot.size)
      )
    })
  for (const first of dots) {
    if (used.has(first)) continue
    const second = next(first, undefined, undefined)
    if (second === undefined) continue
    const dx = second.x0 - first.x0
    const third = next(second, dx, second.baseline - first.baseline)
    if (third === undefined) continue
    for (const dot of [first, second, third]) used.add(dot)
    const text = dx > SAME_STEP * first.size ? "⋱" : "⋮"
    made.push({ ...third, ...hull([first, second, third]), node: element("mo", {}, [text]), text })
  }
  return made.length === 0 ? items : [...items.filter((item) => !used.has(item)), ...made]
}

/** How much smaller scripts are. */
export const SCRIPT = 0.87
/** Greatest distance of a second-level script from its script, in font sizes. */
const NEAR_SCRIPT = 0.2

/** The scripts, upper or lower, that a smaller one right behind them is a script of. */
export const scriptedBy = (
  item: Item,
  scripts: ReadonlyArray<Array<Item>>,
  size: number
): Array<Item> | undefined => {
  const away = ([first]: ReadonlyArray<Item>): number =>
    Math.abs(item.baseline - (first?.baseline ?? Infinity))
  return scripts
    .filter((of) => {
      const [first, last] = [of[0], of.at(-1)]
      return (
        first !== undefined &&
        last !== undefined &&
        item.size < SCRIPT * first.size &&
        item.x0 - last.x1 < NEAR_SCRIPT * size
      )
    })
    .reduce<Array<Item> | undefined>(
      (best, of) => (best === undefined || away(of) < away(best) ? of : best),
      undefined
    )
}
