/** An element of Office Math, its name without a prefix; a string is text. */
export interface MathNode {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: Array<MathNode | string>
  /** Elements in it were not taken: it is read without its structure, which words in it may have no place in. */
  isApart: boolean
}

/** Limits on depth and number of elements; beyond them elements are reduced to their text. */
const MAX_DEPTH = 60
const MAX_ELEMENTS = 2_000

/** Gathers a formula's elements as they stream by. */
export class MathBuilder {
  readonly root: MathNode
  readonly #open: Array<MathNode>
  /** Elements that are open and were not taken. */
  #skipped = 0
  #count = 0

  constructor(name: string) {
    this.root = { name, attributes: new Map(), children: [], isApart: false }
    this.#open = [this.root]
  }

  open(name: string, attributes: ReadonlyMap<string, string>): void {
    this.#count += 1
    if (this.#open.length > MAX_DEPTH || this.#count > MAX_ELEMENTS) {
      // What holds one that is apart is apart already.
      for (let at = this.#open.length - 1; at >= 0 && this.#open[at]?.isApart === false; at -= 1)
        this.#open[at]!.isApart = true
      this.#skipped += 1
      return
    }
    const node: MathNode = { name, attributes, children: [], isApart: false }
    this.#open.at(-1)?.children.push(node)
    this.#open.push(node)
  }

  /** Whether the formula itself has ended. */
  close(): boolean {
    if (this.#skipped > 0) this.#skipped -= 1
    else this.#open.pop()
    return this.#open.length === 0
  }

  text(text: string): void {
    this.#open.at(-1)?.children.push(text)
  }
}
