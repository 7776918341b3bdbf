import type { Marks, Meaning } from "../package/marks.ts"
import { isOff, type Styles } from "../package/styles.ts"
import type { PartOutput } from "./part-output.ts"

interface Paragraph {
  style: string | undefined
  /** What its own properties say, if anything. */
  isFromRight: boolean | undefined
  hasWords: boolean
}

/** Paragraphs and tables that run from the right to the left: mammoth knows of none. A bookmark in each is the mark of it. */
export class PartDirection {
  readonly #paragraphs: Array<Paragraph> = []
  /** For each open table: true when it runs from the right, and no mark in it says so yet. */
  readonly #tables: Array<boolean> = []
  readonly #out: PartOutput
  readonly #styles: Styles
  readonly #marks: Marks<Meaning>

  constructor(out: PartOutput, styles: Styles, marks: Marks<Meaning>) {
    this.#out = out
    this.#styles = styles
    this.#marks = marks
  }

  /** Call before an element is written or left out. `around`: its ancestors, the innermost last. */
  open(name: string, attributes: ReadonlyMap<string, string>, around: ReadonlyArray<string>): void {
    const value = attributes.get("val")
    const [parent, next] = [around.at(-1), around.at(-2)]
    if (name === "tbl") this.#tables.push(false)
    else if (name === "bidiVisual" && parent === "tblPr" && this.#tables.length > 0)
      this.#tables[this.#tables.length - 1] = !isOff(value)
    else if (name === "p")
      this.#paragraphs.push({ style: undefined, isFromRight: undefined, hasWords: false })
    const paragraph = this.#paragraphs.at(-1)
    if (paragraph === undefined || parent !== "pPr" || next !== "p") return
    if (name === "pStyle") paragraph.style = value
    if (name === "bidi") paragraph.isFromRight = !isOff(value)
  }

  words(text: string): void {
    const paragraph = this.#paragraphs.at(-1)
    if (paragraph !== undefined) paragraph.hasWords ||= text.trim() !== ""
  }

  /** Call before the end of an element is written. */
  close(name: string): void {
    if (name === "tbl") this.#tables.pop()
    if (name !== "p") return
    const paragraph = this.#paragraphs.pop()
    if (this.#tables.at(-1) === true) {
      this.#tables[this.#tables.length - 1] = false
      this.#mark("tableFromRight")
    }
    const isFromRight = paragraph?.isFromRight ?? this.#styles(paragraph?.style).isFromRight
    if (isFromRight && paragraph?.hasWords === true) this.#mark("paragraphFromRight")
  }

  #mark(kind: "paragraphFromRight" | "tableFromRight"): void {
    this.#out.add(this.#out.bookmark(this.#marks.add({ kind })))
  }
}
