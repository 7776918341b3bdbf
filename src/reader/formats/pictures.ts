import { pictureSize } from "../model/picture-size.ts"
import { attributeOf, nameOf, type Token } from "./tokens.ts"

const DATA = "data:image/"

/** The data of a tag's picture, as an address; undefined without one. */
const pictureIn = (tag: Token): string | undefined => {
  const name = nameOf(tag)
  const source =
    name === "img" ? attributeOf(tag, "src") : name === "image" ? attributeOf(tag, "href") : undefined
  return source?.startsWith(DATA) === true ? source : undefined
}

/** A picture of a result, as the format `json` lists it. */
interface FoundPicture {
  readonly mediaType: string
  readonly bytes: number
  readonly width: number | null
  readonly height: number | null
  readonly data: string
}

/** What the data say of their picture. */
export const pictureOf = (source: string): FoundPicture => {
  const comma = source.indexOf(",")
  const data = source.slice(comma + 1)
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0
  const size = pictureSize(source)
  return {
    mediaType: source.slice("data:".length, source.indexOf(";")),
    bytes: Math.floor((data.length * 3) / 4) - padding,
    width: size?.width ?? null,
    height: size?.height ?? null,
    data
  }
}

/** Finds the pictures of a result in their order; those that are stored once are known by their id, too. */
export class PictureFinder {
  readonly #stored = new Map<string, number>()
  #count = 0

  /** The sources of the pictures among these tokens. */
  add(tokens: ReadonlyArray<Token>): ReadonlyArray<string> {
    const found: Array<string> = []
    for (const token of tokens) {
      const source = pictureIn(token)
      if (source === undefined) continue
      const id = attributeOf(token, "id")
      if (id !== undefined && nameOf(token) === "image") this.#stored.set(id, this.#count)
      this.#count += 1
      found.push(source)
    }
    return found
  }

  /** Indexes of the pictures that are stored once, by the ids of their drawings. */
  get stored(): ReadonlyMap<string, number> {
    return this.#stored
  }
}

/**
 * Puts the index of each picture in place of its data, in `data-picture`: a piece is then as short as its words. `stored` names those
 * that are used before their data come.
 */
export class PictureNumbers {
  readonly #stored: ReadonlyMap<string, number>
  #count = 0

  constructor(stored: ReadonlyMap<string, number> = new Map()) {
    this.#stored = stored
  }

  of(tokens: ReadonlyArray<Token>): ReadonlyArray<Token> {
    return tokens.map((token) => {
      const source = pictureIn(token)
      if (source !== undefined) {
        const numbered = token
          .replace(source, "")
          .replace(/ (?:src|href)=""/, ` data-picture="${this.#count}"`)
        this.#count += 1
        return numbered
      }
      if (nameOf(token) !== "use") return token
      // The drawing that it leads to has no data here.
      const href = attributeOf(token, "href") ?? ""
      const index = this.#stored.get(href.slice(1))
      return token.replace(` href="${href}"`, index === undefined ? "" : ` data-picture="${index}"`)
    })
  }
}

/**
 * Leaves pictures out of HTML: a description stays in their place, where there is one. The pictures of scanned pages go with the
 * switch that shows them.
 */
export class PictureRemover {
  /** The closing tag of what is being left out. */
  #until: string | undefined

  of(tokens: ReadonlyArray<Token>): ReadonlyArray<Token> {
    return tokens.flatMap((token) => {
      if (this.#until !== undefined) {
        if (token === this.#until) this.#until = undefined
        return []
      }
      switch (nameOf(token)) {
        case "img":
          return described(attributeOf(token, "alt"))
        case "svg":
          this.#until = "</svg>"
          return described(attributeOf(token, "aria-label"))
        case "details":
          if (!token.startsWith('<details class="scan"')) return [token]
          this.#until = "</details>"
          return []
        default:
          return [token]
      }
    })
  }
}

const described = (alt: string | undefined): ReadonlyArray<Token> =>
  alt === undefined || alt === "" ? [] : ['<span class="about">', alt, "</span>"]
