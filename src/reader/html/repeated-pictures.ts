import { element, type HtmlElement, isElement } from "../model/html-tree.ts"
import { pictureSize, type PictureSize } from "../model/picture-size.ts"

/** Most pictures that are remembered. */
const MAX_PICTURES = 50_000
/** Characters at the end of a picture's data that identify it together with its length: they include the check sum. */
const TAIL = 96
/** Characters of a picture that is stored once: a copy of a smaller one costs little more than leading to it. */
const MIN_STORED = 300
/** Limit on characters of the pictures that are stored once, which are kept in memory while the document is written. */
const MAX_STORED = 134_217_728

const keyOf = (src: string): string => `${src.length} ${src.slice(-TAIL)}`

/** Finds pictures that a document has more than once. */
export class RepeatedPictures {
  readonly #once = new Set<string>()
  readonly #more = new Set<string>()

  /** Adds the pictures of a fragment. */
  add(html: string): void {
    for (const [, src = ""] of html.matchAll(/ src="(data:image\/[^"]*)"/g)) {
      const key = keyOf(src)
      if (this.#once.has(key)) this.#more.add(key)
      else if (this.#once.size < MAX_PICTURES) this.#once.add(key)
    }
  }

  /** Keys that identify the repeated pictures. */
  keys(): ReadonlySet<string> {
    return this.#more
  }
}

interface Stored {
  readonly id: string
  readonly src: string
  readonly size: PictureSize
}

/** The pictures of a document. Repeated ones are stored once, as drawings that the others refer to. */
export class Pictures {
  readonly #known = new Set<string>()
  readonly #repeated: ReadonlySet<string>
  readonly #stored = new Map<string, Stored>()
  #left = MAX_STORED
  #unwritten: Array<Stored> = []

  constructor(repeated: ReadonlySet<string>) {
    this.#repeated = repeated
  }

  /** Whether the same picture has stood in the document before; from now on it has. */
  repeats(src: string): boolean {
    const key = keyOf(src)
    if (this.#known.has(key)) return true
    if (this.#known.size < MAX_PICTURES) this.#known.add(key)
    return false
  }

  /** A picture with its description; empty for a decoration. */
  shown(src: string, alt: string, attributes: Readonly<Record<string, string | undefined>>): HtmlElement {
    const stored = this.#store(src)
    if (stored === undefined) return element("img", { ...attributes, src, alt })
    const { id, size } = stored
    const said = alt === "" ? { "aria-hidden": "true" } : { role: "img", "aria-label": alt }
    const box = { viewBox: `0 0 ${size.width} ${size.height}`, width: String(size.width) }
    return element("svg", { ...box, ...attributes, ...said }, [element("use", { href: `#${id}` })])
  }

  #store(src: string): Stored | undefined {
    const key = keyOf(src)
    const known = this.#stored.get(key)
    if (known !== undefined) return known.src === src ? known : undefined
    if (src.length < MIN_STORED || src.length > this.#left || !this.#repeated.has(key)) return undefined
    const size = pictureSize(src)
    if (size === undefined) return undefined
    const stored = { id: `picture-${this.#stored.size + 1}`, src, size }
    this.#left -= src.length
    this.#stored.set(key, stored)
    this.#unwritten.push(stored)
    return stored
  }

  /** The drawings that were not written yet; they take up no room. */
  drawings(): ReadonlyArray<HtmlElement> {
    const images = this.#unwritten.map(({ id, size, src }) =>
      element("image", { id, width: String(size.width), height: String(size.height), href: src })
    )
    this.#unwritten = []
    return images.length === 0
      ? []
      : [element("svg", { class: "store", "aria-hidden": "true", width: "0", height: "0" }, images)]
  }
}

/** True for a picture without a description. */
const saysNothing = ({ attributes, name }: HtmlElement): boolean =>
  name === "img" ? attributes["alt"] === "" : name === "svg" && attributes["aria-hidden"] === "true"

/** True when a block is only a repeated picture that has neither description nor caption. */
const isDecoration = (block: HtmlElement | undefined): boolean => {
  const [only, ...others] = block?.name === "figure" ? block.children : []
  return isElement(only) && others.length === 0 && saysNothing(only)
}

/** Leaves out the logo that every page begins or ends with, once it has been shown. */
export const withoutLogos = (blocks: ReadonlyArray<HtmlElement>): ReadonlyArray<HtmlElement> =>
  blocks.filter((block, at) => !((at === 0 || at === blocks.length - 1) && isDecoration(block)))
