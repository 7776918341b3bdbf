import type { Marks, Meaning } from "../package/marks.ts"
import { isOff, type Styles } from "../package/styles.ts"
import { NOTE_MARKS } from "./element-names.ts"
import type { PartOutput } from "./part-output.ts"

/** Fonts that show symbols in place of letters. */
const SIGNS: ReadonlySet<string> = new Set(["Symbol", "Wingdings", "Wingdings 2", "Wingdings 3", "Webdings"])
/** Where such a font has its signs among the characters that mean nothing by themselves. */
const PRIVATE = 0xf000
const LAST = 0xff

interface Run {
  isHidden: boolean
  /** The font of its words, where that is one of signs. */
  signs: string | undefined
  /** The last element refers to a note with a mark of the author's own, which follows it. */
  isMarkNext: boolean
}

/** The runs that are open: whether they are hidden, whether their letters are signs, and the marks of notes that they write themselves. */
export class PartRuns {
  readonly #runs: Array<Run> = []
  readonly #out: PartOutput
  readonly #styles: Styles
  readonly #marks: Marks<Meaning>
  /** The paragraph's style hides its words. */
  isHiddenParagraph = false

  constructor(out: PartOutput, styles: Styles, marks: Marks<Meaning>) {
    this.#out = out
    this.#styles = styles
    this.#marks = marks
  }

  get isHidden(): boolean {
    return this.#runs.at(-1)?.isHidden === true
  }

  /** Before an element is written. `around`: those that are open. */
  open(name: string, attributes: ReadonlyMap<string, string>, around: ReadonlyArray<string>): void {
    if (name === "p") this.isHiddenParagraph = false
    else if (name === "r")
      this.#runs.push({ isHidden: this.isHiddenParagraph, signs: undefined, isMarkNext: false })
    const run = this.#runs.at(-1)
    if (run === undefined) return
    if (NOTE_MARKS.has(name))
      run.isMarkNext = attributes.has("customMarkFollows") && !isOff(attributes.get("customMarkFollows"))
    else if (around.at(-1) === "rPr" && around.at(-2) === "r") this.#property(run, name, attributes)
  }

  /** A run's own properties say more than its style, and this one more than the paragraph's. */
  #property(run: Run, name: string, attributes: ReadonlyMap<string, string>): void {
    const value = attributes.get("val")
    if (name === "rStyle") run.isHidden ||= this.#styles(value).isHidden
    else if (name === "vanish") run.isHidden = !isOff(value)
    else if (name === "webHidden") run.isHidden ||= !isOff(value)
    else if (name === "rFonts")
      run.signs = [attributes.get("ascii"), attributes.get("hAnsi")].find(
        (font) => font !== undefined && SIGNS.has(font)
      )
  }

  /** Behind the end of an element. */
  close(name: string): void {
    if (name === "r") this.#runs.pop()
    else if (NOTE_MARKS.has(name) && this.#runs.at(-1)?.isMarkNext === true) this.#text(this.#mark())
    else if (name === "sym") this.#text(this.#markEnd())
  }

  /** Words of a run as they are to be written, if otherwise than they are: each letter of a font of signs is one. */
  words(text: string, write: (text: string) => void): void {
    const font = this.#runs.at(-1)?.signs
    if (font === undefined) write(text)
    else for (const letter of text) this.#letter(letter, font, write)
    const end = this.#markEnd()
    if (end !== undefined) write(end)
  }

  #letter(letter: string, font: string, write: (text: string) => void): void {
    const code = letter.codePointAt(0) ?? 0
    const at = code >= PRIVATE ? code - PRIVATE : code
    if (at > LAST || letter.trim() === "") {
      write(letter)
      return
    }
    const { prefix } = this.#out
    const sign = `<${prefix}sym ${prefix}font="${font}" ${prefix}char="${(PRIVATE + at).toString(16).toUpperCase()}"/>`
    this.#out.add(`</${prefix}t>${sign}<${prefix}t xml:space="preserve">`)
  }

  #text(text: string | undefined): void {
    const { prefix } = this.#out
    if (text !== undefined) this.#out.add(`<${prefix}t>${text}</${prefix}t>`)
  }

  #mark(): string {
    return this.#marks.add({ kind: "noteMark" })
  }

  /** The end of a note's own mark, if one is open. */
  #markEnd(): string | undefined {
    const run = this.#runs.at(-1)
    if (run?.isMarkNext !== true) return undefined
    run.isMarkNext = false
    return this.#mark()
  }
}
