import { foreign, mayBeIn } from "../language/foreign.ts"
import {
  element,
  type HtmlElement,
  type HtmlNode,
  isElement,
  isEmpty,
  lineOf,
  textOf
} from "../model/html-tree.ts"
import { headingId, languageTag, ROLES } from "./allowed.ts"
import { controlNames } from "./control-names.ts"
import { linkTarget } from "./link-targets.ts"
import {
  BLOCKS,
  captionOf,
  definitionsIn,
  descriptionIn,
  fits,
  grouped,
  HELD,
  holdsBlocks,
  idsIn,
  isHeading,
  isLinksOnly,
  isNumberedFormula,
  listOf,
  MAX_DEPTH,
  phrases,
  printedContents,
  rowsOf,
  scrollable,
  withoutLostLinks
} from "./repair.ts"
import { type Pictures, withoutLogos } from "./repeated-pictures.ts"
import type { RewriteContext } from "./rewrite-context.ts"
import { scanDetails } from "./scan.ts"
import { type HeadingState, placeHeading } from "./survey.ts"
import { filled } from "./words.ts"

/**
 * Makes a page's fragment a part of the document: ids and links become the document's, headings get their levels, and what no
 * reader could use (missing pictures, links that lead nowhere, empty elements) is repaired or left out.
 */
export class PageRewriter {
  #headings: HeadingState
  readonly #pictures: Pictures

  constructor(headings: HeadingState, pictures: Pictures) {
    this.#headings = headings
    this.#pictures = pictures
  }

  /** The blocks of a page. */
  rewrite(nodes: ReadonlyArray<HtmlNode>, context: RewriteContext): ReadonlyArray<HtmlElement> {
    const chapter = () => this.#headings.chapter
    const page = new Page({ ...context, chapter, pictures: this.#pictures }, idsIn(nodes), (level) => {
      const placed = placeHeading(this.#headings, level)
      this.#headings = placed.state
      return { name: `h${placed.level}`, id: headingId(placed.state.count) }
    })
    return withoutLostLinks(withoutLogos(page.blocks(nodes)), `#p${context.index + 1}-`)
  }
}

/** `chapter`: how many chapters have begun. */
type PageContext = RewriteContext & { readonly pictures: Pictures; readonly chapter: () => number }

/** Gives a heading of a level its place in the document. */
type PlaceHeading = (level: number) => { readonly name: string; readonly id: string }

class Page {
  readonly #context: PageContext
  readonly #ids: ReadonlySet<string>
  readonly #used = new Set<string>()
  readonly #references = new Map<string, string>()
  /** The first sentence of the caption of the figure around the current node; undefined outside of any. */
  #caption: string | undefined
  /** Labels around the current node. */
  #labels = 0
  #names: ReadonlyMap<HtmlElement, string> = new Map()
  readonly #place: PlaceHeading

  constructor(context: PageContext, ids: ReadonlySet<string>, place: PlaceHeading) {
    this.#context = context
    this.#ids = ids
    this.#place = place
  }

  /** Top level: loose text and inline elements become paragraphs. */
  blocks(nodes: ReadonlyArray<HtmlNode>): ReadonlyArray<HtmlElement> {
    this.#names = controlNames(nodes)
    const blocks: Array<HtmlElement> = []
    let inline: Array<HtmlNode> = []
    const close = () => {
      if (!isEmpty(inline)) blocks.push(element("p", {}, inline))
      inline = []
    }
    for (const node of nodes.flatMap((one) => this.#node(one, 0))) {
      if (isElement(node) && BLOCKS.has(node.name)) {
        close()
        blocks.push(node)
      } else if (isElement(node) && node.name === "li") {
        close()
        blocks.push(element("ul", {}, [node]))
      } else inline.push(node)
    }
    close()
    return blocks
  }

  #id(id: string | undefined): string | undefined {
    if (id === undefined || id === "") return undefined
    const made = this.#idOf(id)
    if (this.#used.has(made)) return undefined
    this.#used.add(made)
    return made
  }

  #idOf(id: string): string {
    return `p${this.#context.index + 1}-${id.replaceAll(/\s+/g, "-")}`
  }

  #children(nodes: ReadonlyArray<HtmlNode>, depth: number): ReadonlyArray<HtmlNode> {
    return nodes.flatMap((node) => this.#node(node, depth))
  }

  #attributes(of: HtmlElement): Record<string, string | undefined> {
    const { id, lang, role, ...rest } = of.attributes
    const language = mayBeIn(textOf(of.children), lang ?? "") ? languageTag(lang) : undefined
    return {
      ...rest,
      id: this.#id(id),
      lang: language === this.#context.lang ? undefined : language,
      role: role !== undefined && ROLES.has(role) ? role : undefined
    }
  }

  #node(node: HtmlNode, depth: number): ReadonlyArray<HtmlNode> {
    if (typeof node === "string") return [node]
    if (depth > MAX_DEPTH) return [lineOf([node])]
    if (isHeading(node)) return this.#heading(node, depth)
    const { name } = node
    switch (name) {
      case "a":
        return this.#link(node, depth)
      case "img":
        return this.#image(node)
      case "table":
        return this.#table(node, depth)
      case "ul":
      case "ol":
        return this.#list(node, depth)
      case "dl":
        return this.#definitions(node, depth)
      case "dt":
      case "dd":
      case "summary":
        return this.#loose(node, depth)
      case "math":
        return [scrollable(this.#other(node, depth), this.#context.words)]
      case "figure":
      case "blockquote": {
        const outer = this.#caption
        if (name === "figure") this.#caption = captionOf(node)
        const children = this.#children(node.children, depth + 1)
        this.#caption = outer
        return isEmpty(children) ? [] : [element(name, this.#attributes(node), children)]
      }
      case "details":
        return this.#details(node, depth)
      case "div":
        return this.#division(node, depth)
      case "nav":
        return printedContents(this.#children(node.children, depth + 1), this.#context)
      case "p":
        return this.#paragraph(node, depth)
      case "input":
      case "select":
      case "textarea":
        return this.#control(node, depth)
      case "label":
        return this.#label(node, depth)
      default:
        return [this.#other(node, depth)]
    }
  }

  /** Attributes of a block, with the language and direction of its words where they are in another language than the document's. */
  #inLanguage(node: HtmlElement, children: ReadonlyArray<HtmlNode>): Record<string, string | undefined> {
    const own = this.#attributes(node)
    if (mayBeIn(textOf(children), node.attributes["lang"] ?? "en") && node.attributes["lang"]) return own
    const { dir, lang } = foreign(textOf(children), this.#context.lang) ?? {}
    return { ...own, lang, dir: own["dir"] ?? dir }
  }

  #other(node: HtmlElement, depth: number): HtmlElement {
    const children = this.#children(node.children, depth + 1)
    const attributes = HELD.has(node.name) ? this.#inLanguage(node, children) : this.#attributes(node)
    return element(node.name, attributes, children)
  }

  /** A control without a label has its own name, else what is next to it, else that of its kind. */
  #control(node: HtmlElement, depth: number): ReadonlyArray<HtmlNode> {
    const own = this.#attributes(node)
    const name = own["aria-label"]?.trim() || this.#names.get(node) || this.#context.words.field
    const attributes = { ...own, disabled: "", "aria-label": this.#labels > 0 ? undefined : name }
    return [element(node.name, attributes, this.#children(node.children, depth + 1))]
  }

  /** A label around nothing but its control names nothing. */
  #label(node: HtmlElement, depth: number): ReadonlyArray<HtmlNode> {
    const named = lineOf(node.children) !== ""
    this.#labels += named ? 1 : 0
    const children = this.#children(node.children, depth + 1)
    this.#labels -= named ? 1 : 0
    return named ? [element("label", this.#attributes(node), children)] : children
  }

  #paragraph(node: HtmlElement, depth: number): ReadonlyArray<HtmlNode> {
    const children = this.#children(node.children, depth + 1)
    if (isEmpty(children)) return []
    const attributes = this.#inLanguage(node, children)
    if (attributes["role"] === "doc-footnote") {
      const { role, id, ...rest } = attributes
      return [this.#note(id, [element("p", rest, children)], role)]
    }
    const kind = isLinksOnly(children) ? "links" : isNumberedFormula(children) ? "numbered" : undefined
    return [element("p", { ...attributes, class: kind }, children)]
  }

  #division(node: HtmlElement, depth: number): ReadonlyArray<HtmlNode> {
    const attributes = this.#attributes(node)
    const children = this.#children(node.children, depth + 1)
    if (isEmpty(children)) return []
    if (attributes["role"] === "doc-footnote") return [this.#note(attributes["id"], children, "doc-footnote")]
    if (["id", "lang", "role"].every((name) => attributes[name] === undefined))
      return holdsBlocks(children) ? grouped(children) : [element("p", {}, children)]
    return [element("div", attributes, children)]
  }

  #details(node: HtmlElement, depth: number): ReadonlyArray<HtmlNode> {
    const { lang, label, words } = this.#context
    const legible = node.attributes["data-scan"]
    const own = words.lang === lang.split("-")[0] ? undefined : words.lang
    if (legible === undefined) {
      const children = this.#children(node.children, depth + 1)
      if (this.#caption === undefined || isEmpty(children)) return grouped(children)
      // The words of a figure's picture.
      return [element("details", {}, [element("summary", { lang: own }, [words.inPicture]), ...children])]
    }
    const alt = filled(words.scanAlt, label ?? "")
    const pictures = node.children.flatMap((child) => {
      const src = isElement(child) ? child.attributes["src"] : undefined
      return src === undefined ? [] : [element("img", { src, alt, lang: own })]
    })
    return [scanDetails(legible, pictures, words, own)]
  }

  #note(id: string | undefined, children: ReadonlyArray<HtmlNode>, role: string | undefined): HtmlElement {
    const reference = id === undefined ? undefined : this.#references.get(id)
    const back =
      reference === undefined
        ? []
        : [
            " ",
            element("a", { role: "doc-backlink", href: `#${reference}` }, [
              element("span", { "aria-hidden": "true" }, ["↩ "]),
              this.#context.words.backToText
            ])
          ]
    const last = children.at(-1)
    const inside =
      isElement(last) && last.name === "p"
        ? [...children.slice(0, -1), element("p", last.attributes, [...last.children, ...back])]
        : [...children, element("p", {}, back)]
    return element("div", { role, id }, back.length === 0 ? children : inside)
  }

  #heading(node: HtmlElement, depth: number): ReadonlyArray<HtmlNode> {
    if (lineOf(node.children) === "") return this.#children(node.children, depth + 1)
    const { id, ...attributes } = this.#inLanguage(node, node.children)
    const placed = this.#place(Number(node.name.slice(1)))
    const children = this.#children(phrases(node.children), depth + 1)
    // Links of the page to the heading go to an anchor inside it: its own id is for the table of contents.
    const anchor = id === undefined ? [] : [element("span", { id })]
    return [element(placed.name, { ...attributes, id: placed.id }, [...anchor, ...children])]
  }

  #link(node: HtmlElement, depth: number): ReadonlyArray<HtmlNode> {
    const children = this.#children(node.children, depth + 1)
    const { href, ...attributes } = this.#attributes(node)
    const words =
      attributes["id"] === undefined ? children : [element("span", { id: attributes["id"] }, children)]
    if (href === undefined || isEmpty(children) || holdsBlocks(children)) return words
    if (!href.startsWith("#")) return [element("a", { ...attributes, role: undefined, href }, children)]
    const id = href.slice(1)
    const target = this.#ids.has(id)
      ? this.#idOf(id)
      : linkTarget(this.#context, id, lineOf(children), this.#context.chapter())
    if (target === undefined) return words
    if (attributes["role"] !== "doc-noteref")
      return [element("a", { ...attributes, role: undefined, href: `#${target}` }, children)]
    // The note's back link leads to its first reference.
    const own = attributes["id"] ?? (this.#references.has(target) ? undefined : this.#id(`ref-${target}`))
    if (own !== undefined && !this.#references.has(target)) this.#references.set(target, own)
    return [element("a", { ...attributes, id: own, href: `#${target}` }, children)]
  }

  #image(node: HtmlElement): ReadonlyArray<HtmlNode> {
    const { alt, "data-decorative": decorative, src, ...attributes } = this.#attributes(node)
    const description = descriptionIn(alt)
    const { pictures, words } = this.#context
    if (src?.startsWith("data:image/") === true) {
      if (decorative !== undefined) return [pictures.shown(src, "", attributes)]
      // What is not described is not said to be so again.
      const alternative = description || this.#caption || (pictures.repeats(src) ? "" : words.undescribed)
      return [pictures.shown(src, alternative, attributes)]
    }
    // The picture is missing: its description is kept.
    return description === undefined ? [] : [element("span", { class: "about" }, [description])]
  }

  #list(node: HtmlElement, depth: number): ReadonlyArray<HtmlNode> {
    return listOf(node.name, this.#attributes(node), this.#children(node.children, depth + 1))
  }

  #definitions(node: HtmlElement, depth: number): ReadonlyArray<HtmlNode> {
    const parts = definitionsIn(node)
    if (parts === undefined) return this.#children(node.children, depth + 1)
    const rewritten = parts.map((part) => this.#other(part, depth))
    return [element("dl", this.#attributes(node), rewritten)]
  }

  #loose(node: HtmlElement, depth: number): ReadonlyArray<HtmlNode> {
    const children = this.#children(node.children, depth + 1)
    if (isEmpty(children)) return []
    return holdsBlocks(children) ? grouped(children) : [element("p", this.#attributes(node), children)]
  }

  #table(node: HtmlElement, depth: number): ReadonlyArray<HtmlNode> {
    const children = this.#children(node.children, depth + 1).filter(isElement)
    const table = element("table", this.#attributes(node), children)
    const rows = rowsOf(table)
    if (rows.length === 0) return children
    if (fits(rows)) return [table]
    const frame = { class: "wide", role: "group", tabindex: "0", "aria-label": this.#context.words.table }
    return [element("div", frame, [table])]
  }
}
