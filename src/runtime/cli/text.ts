import { CliOutput } from "effect/cli"

const BLANK = /[\t\n\v\f\r\u0085\u2028\u2029]+/g
/** What a terminal would obey instead of show: controls, and marks that turn the direction of writing. */
const OBEYED = /[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu

/** Foreign text (a subject, a provider's words) fit for a terminal: one line, nothing in it is a command to it. */
export const visible = (text: string): string => text.replace(BLANK, " ").replace(OBEYED, "\ufffd")

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** The text cut to this many columns of a terminal, `…` at its end where something is gone. */
export const cut = (text: string, columns: number): string => {
  if (CliOutput.displayWidth(text) <= columns) return text
  let kept = ""
  let width = 1
  for (const { segment } of graphemes.segment(text)) {
    width += CliOutput.displayWidth(segment)
    if (width > columns) break
    kept += segment
  }
  return columns < 1 ? "" : `${kept}…`
}

/** The text filled with blanks to this many columns. */
export const pad = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - CliOutput.displayWidth(text)))

/** `count thing`, in the right number. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`

const CODES = { red: 31, green: 32, yellow: 33, dim: 90 } as const

/** Paints text where colours may be used. */
export const painter =
  (colours: boolean) =>
  (colour: keyof typeof CODES, text: string): string =>
    colours ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text
