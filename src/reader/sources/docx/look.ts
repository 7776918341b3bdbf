import { lettersOf } from "../../html/link-targets.ts"
import { isFixedPitchName } from "../../model/page-content.ts"
import { isTableCaption } from "../../stages/lines/markers.ts"
import {
  all,
  childrenOf,
  type Element,
  HEADING,
  hasPicture,
  isBlank,
  isNumbered,
  isTitle,
  mappedIn,
  runsOf,
  textOf
} from "./document-model.ts"
import type { Styles } from "./package/styles.ts"
import { NAMED_ROWS } from "./parts/part-tables.ts"
import { unstyledHeadings } from "./unstyled-headings.ts"

/** Style names that no document has, for the elements to write. */
const LISTING = "postlane listing"
const CODE = "postlane code"
const ENTRY = "postlane entry "
const CONTENTS = "postlane contents"
const TERM = "postlane term"
const MEANING = "postlane meaning"
const MAX_ENTRY = 5

/** mammoth's style map for the styles that {@link seen} assigns. */
export const LOOKS: ReadonlyArray<string> = [
  `p[style-name='${LISTING}'] => pre > code:separator('\\n')`,
  `r[style-name='${CODE}'] => code`,
  `p[style-name='${CONTENTS}'] => nav > h2:fresh`,
  `p[style-name='${TERM}'] => dl > dt:fresh`,
  `p[style-name='${MEANING}'] => dl > dd:fresh`,
  ...Array.from(
    { length: MAX_ENTRY },
    (_, level) => `p[style-name='${ENTRY}${level + 1}'] => nav > ${"ol > li > ".repeat(level)}ol > li:fresh`
  )
]

const ENTRY_STYLE = /^(?:toc|contents|inhaltsverzeichnis|table of contents|tdm) ?(\d)$/i
const CONTENTS_STYLE = /^(?:toc|contents|table of contents) heading$/i
const CAPTION_STYLE = /^(?:(?:table |image |figure )?caption|illustration|figure|drawing|table)$/i
const TERM_STYLE = /^(?:definition term|list heading)$/i
const MEANING_STYLE = /^(?:definition|definition list|list contents)$/i
const HEAD_STYLE = /^table (?:head|header|heading)$/i
/** A page's number at the end of an entry, behind a tab. */
const PAGE = /^[\divxlc]{1,6}$/i

/** Terms and what they mean, by their styles: a meaning without a term above it is a paragraph. */
const definitionsIn = (elements: ReadonlyArray<Element>): ReadonlyMap<Element, string> => {
  const found = new Map<Element, string>()
  for (const [at, element] of elements.entries()) {
    const before = elements[at - 1]
    const name = element.type === "paragraph" ? (element.styleName ?? "") : ""
    const isMeaning = MEANING_STYLE.test(name) && before !== undefined && found.has(before)
    if (TERM_STYLE.test(name) || isMeaning) found.set(element, isMeaning ? MEANING : TERM)
  }
  return found
}

/** Bold code is plain code. */
const plain = (run: Element): Element => ({ ...run, isBold: false, isItalic: false })

/** A listing keeps its line breaks. */
const listing = (paragraph: Element): Element =>
  mappedIn(mappedIn(paragraph, "run", plain), "break", () => ({ type: "text", value: "\n" }))

/** A look that all words of a heading share is dropped. */
const withoutLook = (paragraph: Element): Element => {
  const runs = runsOf(paragraph)
  const isBold = runs.every((run) => run.isBold === true)
  const isItalic = runs.every((run) => run.isItalic === true)
  return mappedIn(paragraph, "run", (run) => ({
    ...run,
    isBold: run.isBold === true && !isBold,
    isItalic: run.isItalic === true && !isItalic
  }))
}

/** The words and tabs of a paragraph one after the other. */
const leavesOf = (element: Element): ReadonlyArray<Element> =>
  element.type === "text" || element.type === "tab" ? [element] : childrenOf(element).flatMap(leavesOf)

const without = (element: Element, left: ReadonlySet<Element>): Element =>
  element.children === undefined
    ? element
    : {
        ...element,
        children: element.children.filter((child) => !left.has(child)).map((child) => without(child, left))
      }

/** An entry of a table of contents without its page: pages of a result are others. */
const withoutPage = (paragraph: Element): Element => {
  const leaves = leavesOf(paragraph)
  const last = leaves.findLastIndex(({ type }) => type === "tab")
  const behind = leaves.slice(last + 1)
  return last > 0 && PAGE.test(behind.map(textOf).join("").trim())
    ? without(paragraph, new Set(leaves.slice(last)))
    : paragraph
}

/** True when a caption's object is right before or behind it. */
const namesNeighbour = (
  caption: Element,
  before: Element | undefined,
  after: Element | undefined
): boolean => {
  const neighbours = [before, after].filter((one) => one !== undefined)
  return isTableCaption(textOf(caption).trim()) || /^table/i.test(caption.styleName ?? "")
    ? neighbours.some(({ type }) => type === "table")
    : neighbours.some((one) => one.type === "paragraph" && isBlank(one) && hasPicture(one))
}

/** Whether a table's first row is bold, and no other is. */
const hasBoldHead = ([head, ...rows]: ReadonlyArray<Element>): boolean => {
  if (head === undefined || rows.length === 0) return false
  const cells = childrenOf(head).filter((cell) => !isBlank(cell))
  const isHead = (element: Element): boolean =>
    all(element, "paragraph").every(
      (paragraph) => isBlank(paragraph) || HEAD_STYLE.test(paragraph.styleName ?? "")
    ) || runsOf(element).every(({ isBold }) => isBold === true)
  return cells.length > 1 && cells.every(isHead) && !rows.some((row) => !isBlank(row) && isHead(row))
}

/** Rows of a table's head: a cell of it that covers further rows belongs to all of them. */
const headRows = (rows: ReadonlyArray<Element>, isFound: boolean): number => {
  const first = rows.findIndex(({ isHeader }) => isHeader !== true)
  let heads = Math.max(first === -1 ? rows.length : first, isFound ? 1 : 0)
  for (let at = 0; at < heads; at++)
    for (const { rowSpan = 1 } of childrenOf(rows[at]!)) heads = Math.max(heads, at + rowSpan)
  // A head with nothing below it is none.
  return heads < rows.length
    ? heads
    : Math.min(heads, first === -1 ? heads : Math.max(first, isFound ? 1 : 0))
}

class Looker {
  readonly #styles: Styles
  readonly #mark: (kind: "caption" | "rowHead") => string

  constructor(styles: Styles, mark: (kind: "caption" | "rowHead") => string) {
    this.#styles = styles
    this.#mark = mark
  }

  #isCodeStyle({ styleId }: Element): boolean {
    return typeof styleId === "string" && this.#styles(styleId).isCode
  }

  #isCode(run: Element, paragraph: Element): boolean {
    if (typeof run.font === "string") return isFixedPitchName(run.font)
    return this.#isCodeStyle(run) || this.#isCodeStyle(paragraph)
  }

  /** Whether all words of a paragraph are code, and it is neither a heading nor an item. */
  #isListing(element: Element): boolean {
    if (element.type !== "paragraph" || isNumbered(element) || hasPicture(element)) return false
    const runs = runsOf(element)
    return (
      !HEADING.test(element.styleId ?? "") &&
      runs.length > 0 &&
      runs.every((run) => this.#isCode(run, element))
    )
  }

  /** Blocks one after the other: those of the document, or of a cell. */
  blocks(elements: ReadonlyArray<Element>, isCell: boolean): ReadonlyArray<Element> {
    const found = elements.map((element) => this.#isListing(element))
    // A single cell of code is not a listing.
    const count = found.filter(Boolean).length
    const isListing = (at: number) => found[at] === true && (!isCell || count > 1)
    const definitions = definitionsIn(elements)
    return elements.map((element, at) => {
      if (element.type === "table") return this.#table(element)
      const styleName = definitions.get(element)
      if (styleName !== undefined) return { ...element, styleName, styleId: null }
      if (element.type !== "paragraph") return element
      if (isListing(at)) return { ...listing(element), styleName: LISTING, styleId: null }
      const isBetween = isListing(at - 1) && isListing(at + 1) && isBlank(element) && !hasPicture(element)
      if (isBetween)
        return { ...element, styleName: LISTING, styleId: null, children: [{ type: "text", value: " " }] }
      return this.#paragraph(element, elements[at - 1], elements[at + 1])
    })
  }

  #paragraph(paragraph: Element, before: Element | undefined, after: Element | undefined): Element {
    const name = paragraph.styleName ?? ""
    if (HEADING.test(paragraph.styleId ?? "") || isTitle(paragraph)) return withoutLook(paragraph)
    const level = ENTRY_STYLE.exec(name)?.[1]
    if (level !== undefined) {
      const styleName = `${ENTRY}${Math.min(MAX_ENTRY, Math.max(1, Number(level)))}`
      return { ...withoutPage(paragraph), styleName, styleId: null }
    }
    if (CONTENTS_STYLE.test(name)) return { ...withoutLook(paragraph), styleName: CONTENTS, styleId: null }
    const coded = mappedIn(paragraph, "run", (run) =>
      this.#isCode(run, paragraph) && !isBlank(run) ? { ...run, styleName: CODE, styleId: null } : run
    )
    if (!CAPTION_STYLE.test(name) || !namesNeighbour(paragraph, before, after)) return coded
    return this.#marked(coded, "caption")
  }

  #marked(paragraph: Element, kind: "caption" | "rowHead"): Element {
    return { ...paragraph, children: [{ type: "text", value: this.#mark(kind) }, ...childrenOf(paragraph)] }
  }

  /** A cell that names its row. */
  #rowHead(cell: Element): Element {
    const [first, ...rest] = childrenOf(cell)
    return first?.type === "paragraph" && !isBlank(cell)
      ? { ...cell, children: [this.#marked(first, "rowHead"), ...rest] }
      : cell
  }

  #table(table: Element): Element {
    const rows = childrenOf(table)
    const isFound = !rows.some(({ isHeader }) => isHeader === true) && hasBoldHead(rows)
    const heads = headRows(rows, isFound)
    return {
      ...table,
      children: rows.map((row, at) => {
        const isHeader = row.isHeader === true || at < heads
        const cells = childrenOf(row).map((cell) => ({
          ...cell,
          children: this.blocks(childrenOf(cell), true)
        }))
        const [first, ...rest] = cells
        const isNamed = table.styleId === NAMED_ROWS && first !== undefined && rest.length > 0
        return {
          ...row,
          ...(row.type === "tableRow" ? { isHeader } : {}),
          children: isNamed ? [this.#rowHead(first), ...rest] : cells
        }
      })
    }
  }
}

/** Paragraphs at a document's beginning of which one may be its title. */
const FIRST = 6

/**
 * The title of a document: the only one that it shows, by its style and at its beginning, else the one that its properties
 * have, which may be those of a template.
 */
export const shownTitle = (document: Element, given: string | undefined): string | undefined => {
  const blocks = childrenOf(document).filter((block) => !isBlank(block))
  const title = blocks.slice(0, FIRST).find(isTitle)
  if (title === undefined || (given !== undefined && blocks.filter(isTitle).length > 1)) return given
  return textOf(title).replaceAll(/\s+/g, " ").trim()
}

/** Names headings as such that no style names: the title that the document's properties have, and those that are seen by their look. */
const withHeadings = (
  blocks: ReadonlyArray<Element>,
  styles: Styles,
  title: string | undefined
): ReadonlyArray<Element> => {
  const levels = unstyledHeadings(blocks, styles)
  const wanted = lettersOf(title ?? "")
  const first = blocks.filter((block) => !isBlank(block)).slice(0, FIRST)
  const own = first.find(
    (block) => block.type === "paragraph" && wanted !== "" && lettersOf(textOf(block)) === wanted
  )
  return blocks.map((block) => {
    const level = levels.get(block)
    if (block === own) return { ...withoutLook(block), styleId: null, styleName: "Title" }
    return level === undefined ? block : { ...block, styleId: `Heading${level}`, styleName: null }
  })
}

/**
 * Adds to a document what its look shows: headings without a style, listings and code by their typeface, tables of
 * contents, bold header rows, captions next to what they name, and row headers (a mark at their beginning).
 */
export const seen = (
  document: Element,
  {
    mark,
    styles,
    title
  }: {
    readonly styles: Styles
    readonly title: string | undefined
    readonly mark: (kind: "caption" | "rowHead") => string
  }
): Element => ({
  ...document,
  children: new Looker(styles, mark).blocks(withHeadings(childrenOf(document), styles, title), false)
})
