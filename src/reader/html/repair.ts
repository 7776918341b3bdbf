import {
  element,
  type HtmlElement,
  type HtmlNode,
  isElement,
  isEmpty,
  lineOf,
  textOf
} from "../model/html-tree.ts"
import { EQUATION_NUMBER } from "../stages/regions/formulas/mathematical.ts"
import { filled, type InterfaceWords } from "./words.ts"

/** Deepest nesting that is kept; below it only text is. */
export const MAX_DEPTH = 250

/** Block-level elements. */
export const BLOCKS: ReadonlySet<string> = new Set([
  "blockquote",
  "details",
  "dl",
  "div",
  "fieldset",
  "figure",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "hr",
  "nav",
  "ol",
  "p",
  "pre",
  "table",
  "ul"
])

const HEADING = /^h[1-6]$/
/** Elements besides paragraphs and headings that hold words. */
export const HELD: ReadonlySet<string> = new Set(["li", "dt", "dd", "td", "th", "caption", "figcaption"])

/** Pixels that a page of 320 leaves to a table, and what of them a column's edges and signs take, of the style sheet's narrow tables. */
const ROOM = 280
const EDGES = 13
const SIGN = 9
const CAPITAL = 11
const CAPITALS = /\p{Lu}/gu
/** A run of signs that no line ends within: Chinese and Japanese ones may end at each. */
const UNBROKEN =
  /[^\s\p{Pd}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu

/** Whether an element is a heading. */
export const isHeading = ({ name }: HtmlElement): boolean => HEADING.test(name)

/** A table's rows, in all its parts. */
export const rowsOf = (table: HtmlElement): ReadonlyArray<HtmlElement> =>
  table.children
    .filter(isElement)
    .flatMap((part) =>
      part.name === "tr" ? [part] : part.children.filter(isElement).filter(({ name }) => name === "tr")
    )

const widthOf = (word: string): number =>
  SIGN * word.length + (CAPITAL - SIGN) * (word.match(CAPITALS)?.length ?? 0)

/**
 * True when a table fits on a narrow page with its words whole, since cells break none: one that does not gets a frame that scrolls by
 * itself.
 */
export const fits = (rows: ReadonlyArray<HtmlElement>): boolean => {
  const widest: Array<number> = []
  for (const { children } of rows)
    for (const [at, cell] of children.filter(isElement).entries())
      for (const word of lineOf([cell]).match(UNBROKEN) ?? [""])
        widest[at] = Math.max(widest[at] ?? 0, widthOf(word))
  return widest.reduce((sum, width) => sum + EDGES + width, 0) <= ROOM
}

/** Whether it contains block elements. */
export const holdsBlocks = (nodes: ReadonlyArray<HtmlNode>): boolean =>
  nodes.some(
    (node) =>
      isElement(node) && (BLOCKS.has(node.name) || (node.name !== "math" && holdsBlocks(node.children)))
  )

const collectIds = (nodes: ReadonlyArray<HtmlNode>, ids: Set<string>, depth = 0): void => {
  for (const node of nodes) {
    if (!isElement(node) || depth > MAX_DEPTH) continue
    const id = node.attributes["id"]
    if (id !== undefined && id !== "") ids.add(id)
    collectIds(node.children, ids, depth + 1)
  }
}

/** The ids of nodes. */
export const idsIn = (nodes: ReadonlyArray<HtmlNode>): ReadonlySet<string> => {
  const ids = new Set<string>()
  collectIds(nodes, ids)
  return ids
}

/** What a heading holds: headings, paragraphs and groups in it are words of its line, so that it is one heading. */
export const phrases = (nodes: ReadonlyArray<HtmlNode>): ReadonlyArray<HtmlNode> =>
  nodes.flatMap((node) => {
    if (!isElement(node)) return [node]
    const children = phrases(node.children)
    if (!isHeading(node) && node.name !== "p" && node.name !== "div") return [{ ...node, children }]
    const { id, lang } = node.attributes
    return [" ", element("span", { id, lang }, children), " "]
  })

/** Replaces links to targets that were left out by their words; `prefix` begins all links within the page. */
export const withoutLostLinks = (
  blocks: ReadonlyArray<HtmlElement>,
  prefix: string
): ReadonlyArray<HtmlElement> => {
  const ids = idsIn(blocks)
  const kept = (nodes: ReadonlyArray<HtmlNode>): ReadonlyArray<HtmlNode> =>
    nodes.flatMap((node) => {
      if (!isElement(node)) return [node]
      const children = kept(node.children)
      const { href = "", id } = node.attributes
      if (node.name !== "a" || !href.startsWith(prefix) || ids.has(href.slice(1)))
        return [{ ...node, children }]
      return id === undefined ? children : [element("span", { id }, children)]
    })
  return blocks.map((block) => ({ ...block, children: kept(block.children) }))
}

/** Splits a group without meaning into its blocks, and paragraphs of the loose content between them. */
export const grouped = (children: ReadonlyArray<HtmlNode>): ReadonlyArray<HtmlNode> => {
  const all: Array<HtmlNode> = []
  let inline: Array<HtmlNode> = []
  const close = () => {
    if (!isEmpty(inline)) all.push(element("p", {}, inline))
    inline = []
  }
  for (const child of children) {
    if (isElement(child) && BLOCKS.has(child.name)) {
      close()
      all.push(child)
    } else inline.push(child)
  }
  close()
  return all
}

/** Longest description made of a caption. */
const MAX_SENTENCE = 160

/** The first sentence of a figure's caption, or the beginning of a long one: it says what an undescribed picture shows. */
export const captionOf = (figure: HtmlElement): string => {
  const caption = figure.children.find((child) => isElement(child) && child.name === "figcaption")
  const text = caption === undefined ? "" : lineOf([caption])
  const [sentence = text] = /^.{12,}?[.!?](?=\s\p{Lu})/u.exec(text) ?? []
  return sentence.length <= MAX_SENTENCE ? sentence : sentence.slice(0, MAX_SENTENCE).replace(/\s\S*$/, " …")
}

/** Picture names made by programs, and file names. */
const PROGRAMS_NAME =
  /^(?:(?:image|imagen|picture|graphics?|grafik|bild|afbeelding|obraz|immagine|photo)\s*\d*|\S+\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp))$/i
/** The same with the folders that it lay in, which may have spaces in their names. */
const PATH = /^(?:[a-z]:[\\/]|[\\/]{1,2}|file:)[^\n]+$/i
/** Phrases that Word adds to descriptions that it guessed. */
const GUESSED = /(?:description automatically generated|ai-generated content may be incorrect\.?)$/i

/** The description of a picture; undefined where it came from a program that does not know the picture. */
export const descriptionIn = (alt: string | undefined): string | undefined => {
  const text = alt?.trim().replace(GUESSED, "").trimEnd() ?? ""
  return text === "" || PROGRAMS_NAME.test(text) || PATH.test(text) ? undefined : text
}

const isList = (node: HtmlNode | undefined): node is HtmlElement =>
  isElement(node) && (node.name === "ul" || node.name === "ol")

/**
 * A list of these nodes; empty where they are. A node that is not an item becomes one, and a list that has one item
 * with nothing but a list becomes that list.
 */
export const listOf = (
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  children: ReadonlyArray<HtmlNode>
): ReadonlyArray<HtmlElement> => {
  const items = children.flatMap((child): ReadonlyArray<HtmlElement> =>
    isElement(child) && child.name === "li" ? [child] : isEmpty([child]) ? [] : [element("li", {}, [child])]
  )
  const [item, ...others] = items
  if (item === undefined) return []
  const [inner, ...more] = item.children
  return others.length === 0 && isList(inner) && more.length === 0
    ? [inner]
    : [element(name, attributes, items)]
}

const isLink = (node: HtmlNode): boolean => isElement(node) && node.name === "a"

/** A row of links is a row of touch targets, which need distance; links in a text do not. */
export const isLinksOnly = (nodes: ReadonlyArray<HtmlNode>): boolean =>
  nodes.filter(isLink).length > 1 && nodes.every((node) => isLink(node) || lineOf([node]) === "")

/** The terms and definitions of a list: terms first, then their definitions; undefined where anything else is in it. */
export const definitionsIn = (list: HtmlElement): ReadonlyArray<HtmlElement> | undefined => {
  const parts = list.children.filter(isElement).filter(({ name }) => name === "dt" || name === "dd")
  const whole = list.children.every((child) => isElement(child) && parts.includes(child))
  return whole && parts[0]?.name === "dt" && parts.at(-1)?.name === "dd" ? parts : undefined
}

/**
 * A printed table of contents: a landmark separate from that of the result, named by its heading and its page, and by a
 * number where a page has several, or two pages have one label.
 */
export const printedContents = (
  children: ReadonlyArray<HtmlNode>,
  {
    contents,
    label,
    words
  }: {
    readonly label: string | undefined
    readonly words: InterfaceWords
    readonly contents: Map<string, number>
  }
): ReadonlyArray<HtmlNode> => {
  if (isEmpty(children)) return []
  const [first] = children
  const title = isElement(first) && isHeading(first) ? lineOf(first.children) : words.contents
  const named = label === undefined ? title : `${title}, ${filled(words.page, label)}`
  const count = (contents.get(named) ?? 0) + 1
  contents.set(named, count)
  const own = count === 1 ? named : `${named} (${count})`
  return [element("nav", { role: "doc-toc", "aria-label": own }, grouped(children))]
}

/** Signs of a formula that may be wider than a small screen. */
const LONG_FORMULA = 12

/** Makes a displayed formula scroll where it is too wide: by keyboard, too, which HTML lets no formula do by itself. */
export const scrollable = (math: HtmlElement, { formula }: InterfaceWords): HtmlElement =>
  math.attributes["display"] === "block" && textOf(math.children).length > LONG_FORMULA
    ? element("span", { class: "scroll", role: "group", tabindex: "0", "aria-label": formula }, [math])
    : math

const isDisplayed = (node: HtmlNode | undefined): boolean =>
  isElement(node) && node.name === "math" && node.attributes["display"] === "block"

/** True for a displayed formula and its number, and nothing else: the number is printed next to it. */
export const isNumberedFormula = ([formula, number, ...rest]: ReadonlyArray<HtmlNode>): boolean =>
  rest.length === 0 &&
  isElement(formula) &&
  (isDisplayed(formula) || isDisplayed(formula.children[0])) &&
  typeof number === "string" &&
  EQUATION_NUMBER.test(number)
