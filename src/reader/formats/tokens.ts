import { isVoid, unescaped } from "../model/html-tree.ts"

/** A tag, which begins with `<`, or the text between two. */
export type Token = string

const isTag = (token: Token): boolean => token.startsWith("<")

/** The element of a tag; empty for a text. */
export const nameOf = (token: Token): string => /^<\/?([a-z0-9]+)/.exec(token)?.[1] ?? ""

const isClosing = (token: Token): boolean => token.startsWith("</")

/** The value of an attribute of a tag, still escaped; found without an expression, since pictures are megabytes. */
export const attributeOf = (tag: Token, name: string): string | undefined => {
  const start = ` ${name}="`
  const at = tag.indexOf(start)
  if (at === -1) return undefined
  const from = at + start.length
  return tag.slice(from, tag.indexOf('"', from))
}

/** By how much a tag changes the depth. */
const depthOf = (token: Token): number =>
  !isTag(token) || token.startsWith("<!") ? 0 : isClosing(token) ? -1 : isVoid(nameOf(token)) ? 0 : 1

/**
 * Takes a stored result apart while it arrives. Results are written with every `<` and `>` of texts and attributes escaped, so
 * that the next such sign ends a token. Linear, and holds one token.
 */
export class TokenReader {
  #parts: Array<string> = []
  #isTag = false

  /** Adds the next part; returns the tokens that it completes. */
  add(text: string): ReadonlyArray<Token> {
    const tokens: Array<Token> = []
    for (let at = 0; at < text.length;) {
      const sign = text.indexOf(this.#isTag ? ">" : "<", at)
      if (sign === -1) {
        this.#parts.push(text.slice(at))
        break
      }
      const end = this.#isTag ? sign + 1 : sign
      this.#parts.push(text.slice(at, end))
      const token = this.#parts.join("")
      if (token !== "") tokens.push(token)
      this.#parts = []
      this.#isTag = !this.#isTag
      at = end
    }
    return tokens
  }
}

/** What a result's head says of it. */
interface ResultHead {
  lang: string
  title: string
}

/**
 * Leaves of a result what its document says: the title above the pages, the converter's notes, and the pages; without the head, the
 * skip link, the switch for page marks and the table of contents that the converter made.
 */
export class ContentReader {
  readonly head: ResultHead = { lang: "en", title: "" }
  #place: "head" | "shell" | "header" | "main" = "head"
  #inTitle = false
  /** The closing tag of what is being left out. */
  #until: string | undefined

  /** Returns the tokens that are content. */
  of(tokens: ReadonlyArray<Token>): ReadonlyArray<Token> {
    return tokens.filter((token) => this.#takes(token))
  }

  #takes(token: Token): boolean {
    if (this.#until !== undefined) {
      if (token === this.#until) this.#until = undefined
      return false
    }
    if (this.#place === "head") return this.#ofHead(token)
    switch (token) {
      case "<header>":
        this.#place = "header"
        return false
      case "</header>":
      case "</main>":
        this.#place = "shell"
        return false
    }
    if (token.startsWith("<main ")) {
      this.#place = "main"
      return false
    }
    if (token.startsWith('<nav aria-labelledby="contents"')) {
      this.#until = "</nav>"
      return false
    }
    if (this.#place === "header" && token.startsWith('<p class="about"')) {
      this.#until = "</p>"
      return false
    }
    return this.#place !== "shell"
  }

  #ofHead(token: Token): false {
    if (this.#inTitle && !isTag(token)) this.head.title = unescaped(token)
    this.#inTitle = token === "<title>"
    if (token.startsWith("<html ")) this.head.lang = attributeOf(token, "lang") ?? "en"
    if (token === "<body>") this.#place = "shell"
    return false
  }
}

/** Characters of a piece after which the next begins. */
const PIECE = 32_768

/** Groups tokens into pieces of whole blocks, each of which can be read by itself. Holds one piece, or one block that is longer. */
export class PieceReader {
  #depth = 0
  #size = 0
  #held: Array<Token> = []

  add(tokens: ReadonlyArray<Token>): ReadonlyArray<string> {
    const pieces: Array<string> = []
    for (const token of tokens) {
      this.#held.push(token)
      this.#size += token.length
      this.#depth += depthOf(token)
      if (this.#depth <= 0 && this.#size >= PIECE) pieces.push(this.end())
    }
    return pieces
  }

  /** The rest. */
  end(): string {
    const piece = this.#held.join("")
    this.#held = []
    this.#size = 0
    this.#depth = 0
    return piece
  }
}
