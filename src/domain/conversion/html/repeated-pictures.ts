import { type HtmlElement, isElement } from "./tree.ts"

/** Most pictures that are remembered. */
const MAX_PICTURES = 50_000
/** Characters at the end of a picture's data that, with its length, tell it from others: its check sum is among them. */
const TAIL = 96

/** The pictures of a document so far. */
export class Pictures {
  readonly #known = new Set<string>()

  /** Whether the same picture has stood in the document before; from now on it has. */
  repeats(src: string): boolean {
    const key = `${src.length} ${src.slice(-TAIL)}`
    if (this.#known.has(key)) return true
    if (this.#known.size < MAX_PICTURES) this.#known.add(key)
    return false
  }
}

/** Whether a block is nothing but a picture that says nothing: one that is repeated and has neither description nor caption. */
const isDecoration = (block: HtmlElement | undefined): boolean => {
  const [only, ...others] = block?.name === "figure" ? block.children : []
  return isElement(only) && others.length === 0 && only.name === "img" && only.attributes["alt"] === ""
}

/** Leaves out the logo that every page begins or ends with, once it has been shown. */
export const withoutLogos = (blocks: ReadonlyArray<HtmlElement>): ReadonlyArray<HtmlElement> =>
  blocks.filter((block, at) => !((at === 0 || at === blocks.length - 1) && isDecoration(block)))
