/** What may stand in a template: markup as it is, text and numbers escaped, `undefined` as nothing, lists one after the other. */
export type Piece = Html | string | number | undefined | ReadonlyArray<Piece>

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"]
])

class Html {
  readonly #markup: string
  constructor(markup: string) {
    this.#markup = markup
  }
  toString(): string {
    return this.#markup
  }
}

const markupOf = (piece: Piece): string => {
  if (piece instanceof Html) return piece.toString()
  if (typeof piece === "object") return piece.map(markupOf).join("")
  return String(piece ?? "").replaceAll(/[&<>"']/g, (char) => ENTITIES.get(char)!)
}

/** Markup that {@link html} made. The class itself stays in this file: nothing else can call a text markup. */
export type { Html }

/**
 * Markup from a template. What stands in `${…}` is escaped, for texts and for attributes in double quotes, unless it was made here.
 * @example html`<p title="${title}">${author} wrote: ${words}</p>`
 */
export const html = (strings: TemplateStringsArray, ...pieces: ReadonlyArray<Piece>): Html =>
  new Html(String.raw({ raw: strings }, ...pieces.map(markupOf)))

/** Pieces with something between them, such as a comma or the end of a line. */
export const joined = (pieces: ReadonlyArray<Piece>, between: Piece): Html =>
  html`${pieces.map((piece, index) => (index === 0 ? piece : [between, piece]))}`

/** Pieces, each on a separate line. */
export const lines = (pieces: ReadonlyArray<Piece>): Html => joined(pieces, "\n")
