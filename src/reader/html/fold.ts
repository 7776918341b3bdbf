import { element, type HtmlElement, type HtmlNode, serialize } from "../model/html-tree.ts"
import { append } from "../model/lists.ts"
import { pageId } from "./allowed.ts"
import { joinBlocks, saysOn } from "./join.ts"
import { withNotesBelow } from "./notes-below.ts"
import { Pictures } from "./repeated-pictures.ts"
import { PageRewriter } from "./rewrite-page.ts"
import { contentsOf } from "./shell.ts"
import { startHeadings, type Plan } from "./survey.ts"
import { filled } from "./words.ts"

/** A page of the document, its fragment parsed. */
export interface FragmentPage {
  /** From 0. */
  readonly index: number
  readonly label: string
  readonly nodes: ReadonlyArray<HtmlNode>
}

/** Most pages that one block may span before it is written: bounds the text that is held back. */
const MAX_JOINED = 48

/** Attributes that only assembly needs. */
const withoutSeams = (node: HtmlNode): HtmlNode => {
  if (typeof node === "string") return node
  const attributes: Record<string, string> = {}
  for (const [key, value] of Object.entries(node.attributes))
    if (!key.startsWith("data-")) attributes[key] = value
  return { name: node.name, attributes, children: node.children.map(withoutSeams) }
}

const isNote = ({ attributes: { role } }: HtmlElement): boolean => role === "doc-footnote" || role === "note"
const floats = (block: HtmlElement): boolean =>
  block.name === "figure" || block.name === "details" || saysOn(block)

/**
 * Writes pages one after the other, each joined with the one before. Holds back only the last block of a page, what floats around
 * it and the page's notes.
 */
export class PageFold {
  readonly #plan: Plan
  readonly #rewriter: PageRewriter
  readonly #pictures: Pictures
  /** Names of printed tables of contents. */
  readonly #printed = new Map<string, number>()
  /** The block that may continue. */
  #last: HtmlElement | undefined
  /** What follows it on its page, notes last. */
  #after: ReadonlyArray<HtmlElement> = []
  #joined = 0
  /** The table of contents, until the document's own heading is written. */
  #contents: ReadonlyArray<HtmlElement>

  constructor(plan: Plan) {
    this.#plan = plan
    this.#pictures = new Pictures(plan.repeated)
    // The result's own has this name.
    if (plan.contents.length > 0) this.#printed.set(plan.words.contents, 1)
    this.#contents = plan.ownTitle ? contentsOf(plan) : []
    this.#rewriter = new PageRewriter(startHeadings(plan.ownTitle), this.#pictures)
  }

  #mark(page: FragmentPage, name: "div" | "span"): HtmlElement {
    const { lang, words } = this.#plan
    const own = words.lang === lang.split("-")[0] ? undefined : words.lang
    const text = filled(words.page, page.label)
    return element(name, { role: "doc-pagebreak", class: "page", id: pageId(page.index), lang: own }, [text])
  }

  /** Adds the next page; returns what can be written out. */
  add(page: FragmentPage): string {
    const { headings, lang, named, pageCount, places, words } = this.#plan
    const { index } = page
    const label = pageCount > 0 ? page.label : undefined
    const contents = this.#printed
    const context = { index, label, pageCount, places, named, headings, words, lang, contents }
    const blocks = this.#rewriter.rewrite(page.nodes, context).flatMap((block) => this.#withContents(block))
    const text = blocks.filter((block) => !isNote(block))
    const notes = blocks.filter(isNote)
    const [first, ...rest] = text
    const joined =
      this.#last === undefined || first === undefined || this.#joined >= MAX_JOINED
        ? undefined
        : joinBlocks(this.#last, first, this.#mark(page, "span"))
    // Drops "continued" lines: the parts are joined here.
    if (joined !== undefined) this.#after = this.#after.filter((block) => !saysOn(block))
    if (joined !== undefined && rest.length === 0) {
      // The whole page is part of the block, which may continue.
      this.#last = withNotesBelow(joined, notes)
      this.#joined += 1
      this.#after = [...this.#after, ...notes]
      return serialize(this.#pictures.drawings())
    }
    const done: Array<HtmlElement> = []
    if (joined === undefined) {
      append(done, this.#held())
      if (pageCount > 0) done.push(this.#mark(page, "div"))
      this.#hold(text, notes, done)
    } else {
      done.push(withNotesBelow(joined, [...rest, ...notes]))
      append(done, this.#after)
      this.#last = undefined
      this.#after = []
      this.#hold(rest, notes, done)
    }
    return serialize([...done.map(withoutSeams), ...this.#pictures.drawings()])
  }

  /** Puts the table of contents below the document's own heading. */
  #withContents(block: HtmlElement): ReadonlyArray<HtmlElement> {
    if (block.name !== "h1" || this.#contents.length === 0) return [block]
    const contents = this.#contents
    this.#contents = []
    return [block, ...contents]
  }

  /** Returns the rest at the end. */
  end(): string {
    return serialize([...this.#held(), ...this.#contents].map(withoutSeams))
  }

  #held(): ReadonlyArray<HtmlElement> {
    const held = this.#last === undefined ? this.#after : [this.#last, ...this.#after]
    this.#last = undefined
    this.#after = []
    return held
  }

  #hold(text: ReadonlyArray<HtmlElement>, notes: ReadonlyArray<HtmlElement>, done: Array<HtmlElement>): void {
    let at = text.length - 1
    while (at > 0 && text.length - at < 4 && floats(text[at] ?? element("p", {}))) at -= 1
    const last = text[at]
    this.#joined = 0
    if (last === undefined) {
      append(done, notes)
      return
    }
    append(done, text.slice(0, at))
    this.#last = last
    this.#after = [...text.slice(at + 1), ...notes]
  }
}
