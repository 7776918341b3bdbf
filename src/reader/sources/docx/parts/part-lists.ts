import type { Marks, Meaning } from "../package/marks.ts"
import type { Label, Numbering, Place } from "../package/numbering.ts"
import type { Later, PartOutput } from "./part-output.ts"

/** The lists that mammoth knows. */
const [NUMBERS, BULLETS] = [1, 2]

/** A paragraph with a number. */
interface Listed {
  readonly place: Place
  readonly isHeading: boolean
  /** Its list's number and level. */
  readonly numbers: Later
  /** What is written before its words. */
  readonly before: Later
}

/** The paragraphs of a part that have numbers: these are known when it is known which of them are read. */
export class PartLists {
  readonly #listed: Array<Listed> = []
  readonly #out: PartOutput
  readonly #numbering: Numbering
  readonly #marks: Marks<Meaning>

  constructor(out: PartOutput, numbering: Numbering, marks: Marks<Meaning>) {
    this.#out = out
    this.#numbering = numbering
    this.#marks = marks
  }

  /** Adds a paragraph's list level, and its number. */
  add(place: Place | undefined, isHeading: boolean): { readonly numbers: Later; readonly before: Later } {
    const [numbers, before] = [{ text: this.#numbers(undefined) }, { text: "" }]
    if (place !== undefined) this.#listed.push({ place, isHeading, numbers, before })
    return { numbers, before }
  }

  /** Counts, and writes what was left open. */
  decide(): void {
    const kept = this.#out.open()
    const count = this.#numbering.counter()
    const counted = this.#listed
      .filter(({ numbers }) => kept.has(numbers))
      .map((one) => ({ ...one, label: count(one.place) }))
    // Where HTML cannot count one level of a list, all numbers of the list are written as words: they would change otherwise.
    const inWords = new Set(
      counted.flatMap(({ isHeading, label, place }) =>
        !isHeading && label?.kind === "words" && label.text !== "" ? [place.definition] : []
      )
    )
    for (const { label, ...one } of counted)
      if (label !== undefined) this.#write(one, label, one.isHeading || inWords.has(one.place.definition))
  }

  #write({ before, numbers, place }: Listed, label: Label, inWords: boolean): void {
    if (label.kind === "bullet") {
      numbers.text = this.#numbers(place, BULLETS)
      if (label.box !== undefined)
        before.text = this.#out.run(this.#marks.add({ kind: "words", text: label.box }))
      return
    }
    if (label.kind === "item" && !inWords) {
      numbers.text = this.#numbers(place, NUMBERS)
      before.text = this.#out.run(this.#marks.add({ kind: "item", label, definition: place.definition }))
    } else if (label.text !== "")
      before.text = this.#out.run(this.#marks.add({ kind: "words", text: label.text }))
  }

  /** The list and level of a paragraph; of none where its style may have one. */
  #numbers(place: Place | undefined, list = 0): string {
    const out = this.#out
    return out.element("numPr", `${out.value("ilvl", place?.level ?? 0)}${out.value("numId", list)}`)
  }
}
