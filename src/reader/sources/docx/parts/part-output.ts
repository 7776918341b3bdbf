import { append } from "../../../model/lists.ts"

/** What is decided when the whole part is known. */
export interface Later {
  text: string
}
export type Written = string | Later

const SPECIAL = /[&<>"]/g
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"]
])

/** Text as XML, also between quotes. */
export const escaped = (text: string): string =>
  text.replaceAll(SPECIAL, (found) => ENTITIES.get(found) ?? found)

/** Output of a part that is being rewritten. */
export class PartOutput {
  #out: Array<Written> = []
  readonly #saved: Array<Array<Written>> = []
  /** The prefix that the part has for the names of WordprocessingML. */
  prefix = "w:"

  get length(): number {
    return this.#out.length
  }

  add(piece: Written): void {
    this.#out.push(piece)
  }

  addAll(pieces: ReadonlyArray<Written>): void {
    append(this.#out, pieces)
  }

  /** Takes back what was written from one place up to another. */
  cut(from: number, to = this.#out.length): void {
    this.#out.splice(from, to - from)
  }

  /** From here on is written elsewhere, until {@link given}. */
  elsewhere(): void {
    this.#saved.push(this.#out)
    this.#out = []
  }

  given(): ReadonlyArray<Written> {
    const written = this.#out
    this.#out = this.#saved.pop() ?? []
    return written
  }

  /** What is decided later and was not taken back. */
  open(): ReadonlySet<Later> {
    return new Set(this.#out.filter((piece) => typeof piece === "object"))
  }

  whole(): string {
    return this.#out.map((piece) => (typeof piece === "string" ? piece : piece.text)).join("")
  }

  /** An element that holds this. */
  element(name: string, inside = ""): string {
    return `<${this.prefix}${name}>${inside}</${this.prefix}${name}>`
  }

  /** An empty element with a value. */
  value(name: string, value: string | number): string {
    return `<${this.prefix}${name} ${this.prefix}val="${escaped(String(value))}"/>`
  }

  /** A place that links lead to. */
  bookmark(name: string): string {
    return `<${this.prefix}bookmarkStart ${this.prefix}name="${escaped(name)}"/>`
  }

  /** A run of text. */
  run(text: string): string {
    return this.element("r", `<${this.prefix}t xml:space="preserve">${escaped(text)}</${this.prefix}t>`)
  }
}
