import type { Later, PartOutput } from "./part-output.ts"

/** Elements that may occur between a paragraph and its continuation. */
const BETWEEN = /^(?:bookmark|proof|comment|perm|move)/

/** Elements that hold paragraphs, and no words. */
const NO_WORDS = /^(?:body|tbl|tr|tc)$/

/** The end of a paragraph that continues in the next, if there is one. */
interface Join {
  readonly piece: Later
  readonly text: string
  /** How many elements are open around the paragraph. */
  depth: number
}

/** Where paragraphs and words in them meet: ends of paragraphs that were deleted, drop caps, breaks of pages between words, places between cells. */
export class PartParagraphs {
  readonly #out: PartOutput
  /** For the paragraph with properties being read, and for the one that has ended. */
  #own: Join | undefined
  #ended: Join | undefined
  /** Bookmarks at places that allow no text: the next paragraph gets them. */
  #bookmarks: Array<string> = []
  #hasWords = false
  /** A break that separates words from the next ones. */
  #break: Later | undefined

  constructor(out: PartOutput) {
    this.#out = out
  }

  /**
   * Call before an element is written. `around`: its ancestors, the innermost last. True when the element is to be left
   * out.
   */
  open(name: string, attributes: ReadonlyMap<string, string>, around: ReadonlyArray<string>): boolean {
    const [parent, next] = [around.at(-1), around.at(-2)]
    if (this.#ended !== undefined && !BETWEEN.test(name)) {
      if (name === "p" && this.#ended.depth === around.length) this.#ended.piece.text = this.#ended.text
      this.#ended = undefined
    }
    const isMark = parent === "rPr" && next === "pPr" && (name === "del" || name === "moveFrom")
    if (isMark) this.#join(this.#out.element("del"))
    const isDropCap = name === "framePr" && /^(?:drop|margin)$/.test(attributes.get("dropCap") ?? "")
    if (isDropCap) this.#join(this.#out.element("rPr", this.#out.element("del")))
    const isBetween = name === "bookmarkStart" && NO_WORDS.test(parent ?? "")
    if (isBetween) this.#bookmarks.push(this.#out.bookmark(attributes.get("name") ?? ""))
    const isBreak = name === "br" && /^(?:page|column)$/.test(attributes.get("type") ?? "")
    if (isBreak && this.#hasWords) {
      this.#break = { text: "" }
      this.#out.add(this.#break)
    }
    return isMark || isDropCap || isBetween || isBreak
  }

  /** Behind the tag of an element. */
  opened(name: string): void {
    if (name !== "p") return
    for (const bookmark of this.#bookmarks) this.#out.add(bookmark)
    this.#bookmarks = []
    this.#begin()
  }

  /** Call behind the end of an element at this depth. */
  close(name: string, depth: number): void {
    if (name !== "p") return
    this.#ended = this.#own
    if (this.#ended !== undefined) this.#ended.depth = depth
    this.#begin()
  }

  words(text: string): void {
    if (text.trim() === "") return
    this.#hasWords = true
    if (this.#break !== undefined) this.#break.text = this.#out.element("br")
    this.#break = undefined
  }

  /** True when the present paragraph continues in the next, which counts it. */
  get isJoined(): boolean {
    return this.#own !== undefined
  }

  #begin(): void {
    this.#own = undefined
    this.#hasWords = false
    this.#break = undefined
  }

  #join(text: string): void {
    this.#own = { piece: { text: "" }, text, depth: 0 }
    this.#out.add(this.#own.piece)
  }
}
