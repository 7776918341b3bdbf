import { element, type HtmlElement, type HtmlNode, isElement, lineOf, textOf } from "../model/html-tree.ts"
import { CAPTION, isTableCaption } from "../stages/lines/markers.ts"
import { isUnspaced } from "../stages/lines/script-direction.ts"
import { beginsLow, goesOnWith } from "../stages/page/seams.ts"
import { isHeading } from "./repair.ts"

const SENTENCE_END = /[.!?:;…]["'”’»)\]]*$/
const CUT = /[\p{L}]-$/u

/** Characters of a cell that is more than a name. */
const WORDS = 20

/** The table of a block, in its frame or bare. */
const tableIn = (block: HtmlElement): HtmlElement | undefined => {
  if (block.name === "table") return block
  const only = block.attributes["class"] === "wide" ? block.children[0] : undefined
  return isElement(only) && only.name === "table" ? only : undefined
}

const partOf = (table: HtmlElement, name: string): HtmlElement | undefined =>
  table.children.find((child): child is HtmlElement => isElement(child) && child.name === name)

/** True when the structure joins both, false when it separates them; undefined where it does not cover one of them. */
const byStructure = (a: HtmlElement, b: HtmlElement): boolean | undefined => {
  const [one, other] = [a.attributes["data-element"], b.attributes["data-element"]]
  return one === undefined || other === undefined ? undefined : one === other
}

/** What is inserted between the halves: the page's anchor, and a space unless a word was cut. */
const glued = (a: HtmlElement, b: HtmlElement, mark: HtmlNode): ReadonlyArray<HtmlNode> => {
  if (a.attributes["data-cut"] !== undefined) return [...a.children, mark, ...b.children]
  const last = a.children.at(-1)
  // A hyphen that the pages show at a line's end, before a word that continues.
  if (typeof last === "string" && CUT.test(last) && /^\p{Ll}/u.test(textOf(b.children)))
    return [...a.children.slice(0, -1), last.slice(0, -1), mark, ...b.children]
  return isUnspaced(lineOf(a.children), lineOf(b.children))
    ? [...a.children, mark, ...b.children]
    : [...a.children, " ", mark, ...b.children]
}

/** The second half's attributes remain: it may continue. */
const seamOf = ({ attributes }: HtmlElement): Readonly<Record<string, string | undefined>> => ({
  "data-open": attributes["data-open"],
  "data-cut": attributes["data-cut"],
  "data-element": attributes["data-element"]
})

const paragraphs = (a: HtmlElement, b: HtmlElement, mark: HtmlNode): HtmlElement | undefined => {
  const same = byStructure(a, b)
  if (same === false) return undefined
  if (same === undefined) {
    const cut = a.attributes["data-cut"] !== undefined
    const [text, below] = [lineOf(a.children), lineOf(b.children)]
    // Pages that a model wrote do not describe their edges: there a lower-case letter after no full stop decides alone.
    const goesOn =
      a.attributes["data-open"] === undefined
        ? text.length > 60 && !SENTENCE_END.test(text) && beginsLow(below)
        : goesOnWith(text, below)
    if (!cut && !goesOn) return undefined
  }
  return element(a.name, { ...a.attributes, ...seamOf(b) }, glued(a, b, mark))
}

const isItem = (node: HtmlNode): node is HtmlElement => isElement(node) && node.name === "li"

const marked = (node: HtmlElement, mark: HtmlNode): HtmlElement => {
  const [first, ...rest] = node.children
  return isElement(first) && /^(p|tr|td|th)$/.test(first.name)
    ? element(node.name, node.attributes, [marked(first, mark), ...rest])
    : element(node.name, node.attributes, [mark, ...node.children])
}

const lists = (a: HtmlElement, b: HtmlElement, mark: HtmlNode): HtmlElement | undefined => {
  if (a.name !== b.name || a.attributes["type"] !== b.attributes["type"]) return undefined
  const same = byStructure(a, b)
  if (same === false) return undefined
  const before = Number(a.attributes["start"] ?? 1) + a.children.filter(isItem).length
  const start = Number(b.attributes["start"] ?? 1)
  if (same === undefined && a.name === "ol" && start !== before) return undefined
  const [first, ...rest] = b.children
  if (!isElement(first)) return undefined
  return element(a.name, { ...a.attributes, ...seamOf(b) }, [...a.children, marked(first, mark), ...rest])
}

/** A paragraph after a list continues the list's last item. */
const listAndParagraph = (a: HtmlElement, b: HtmlElement, mark: HtmlNode): HtmlElement | undefined => {
  const last = a.children.at(-1)
  if (!isElement(last) || last.name !== "li" || last.attributes["data-open"] === undefined) return undefined
  const joined = paragraphs(last, b, mark)
  return joined === undefined
    ? undefined
    : element(a.name, a.attributes, [...a.children.slice(0, -1), joined])
}

const width = (row: HtmlNode | undefined): number =>
  isElement(row)
    ? row.children.reduce(
        (sum, cell) => sum + (isElement(cell) ? Number(cell.attributes["colspan"] ?? 1) : 0),
        0
      )
    : 0

const asBody = (node: HtmlNode): HtmlNode =>
  !isElement(node)
    ? node
    : node.name === "th"
      ? element("td", { ...node.attributes, scope: undefined }, node.children)
      : element(node.name, node.attributes, node.children.map(asBody))

const cellsOf = (row: HtmlNode | undefined): ReadonlyArray<HtmlElement> =>
  isElement(row) ? row.children.filter(isElement) : []

/**
 * Joins a row that continues on the next page: its first cell is on the page before, no cell is new, and words continue
 * in small letters. Undefined where the rows are two.
 */
const rowsOfOne = (above: HtmlNode | undefined, below: HtmlElement): HtmlElement | undefined => {
  const [cells, more] = [cellsOf(above), cellsOf(below)]
  if (!isElement(above) || cells.length !== more.length || cells.length < 2) return undefined
  const pairs = more.flatMap((cell, at) => {
    const [text, before] = [lineOf(cell.children).trim(), lineOf(cells[at]?.children ?? []).trim()]
    return text === "" ? [] : [{ at, before, text }]
  })
  const isNew = pairs.some(({ at, before }) => at === 0 || before === "")
  const goesOn = pairs.some(
    ({ before, text }) => before.length > WORDS && /^\p{Ll}/u.test(text) && !SENTENCE_END.test(before)
  )
  if (isNew || !goesOn) return undefined
  return element(
    above.name,
    above.attributes,
    cells.map((cell, at) =>
      pairs.some((pair) => pair.at === at)
        ? element(cell.name, cell.attributes, [...cell.children, " ", ...(more[at]?.children ?? [])])
        : cell
    )
  )
}

/** Longest line that announces the continuation of a table. */
const MAX_SAYS_ON = 60
const SAYS_ON =
  /^[\s(—–-]*(?:(?:this )?tab(?:le|elle|leau|la|ela)[ \d.:—–-]{0,12})?(?:is )?(?:continue[ds]|continuing|cont['’.]?d?|fortsetzung|fortgesetzt|wird fortgesetzt|forts|suite|continúa|continuación|continua|continuação|segue|sigue|vervolg)\b(?:\.? (?:on|from|at|over|to|auf|à|de|en|na|in|op|alla|nella|der|page)(?=\s|$).*)?[\s).…—–-]*$/iu

/** True when a line only announces the continuation of the table above. */
export const saysOn = (block: HtmlElement): boolean => {
  const text = lineOf([block])
  return block.name === "p" && text.length <= MAX_SAYS_ON && SAYS_ON.test(text)
}

/** Whether a table's row is such a line. */
const rowSaysOn = (row: HtmlNode | undefined): boolean => {
  const [only, ...others] = cellsOf(row).filter(({ children }) => lineOf(children) !== "")
  return only !== undefined && others.length === 0 && saysOn(element("p", {}, only.children))
}

/** Whether a table's caption is that of the one above, again: it has its number. */
const isCaptionAgain = (caption: HtmlElement | undefined, above: HtmlElement | undefined): boolean => {
  const [text, before] = [lineOf(caption?.children ?? []), lineOf(above?.children ?? [])]
  const number = CAPTION.exec(text)?.groups?.["number"]
  return number !== undefined && isTableCaption(text) && number === CAPTION.exec(before)?.groups?.["number"]
}

const tables = (a: HtmlElement, b: HtmlElement, mark: HtmlNode): HtmlElement | undefined => {
  const [one, other] = [tableIn(a), tableIn(b)]
  if (one === undefined || other === undefined) return undefined
  const same = byStructure(one, other)
  if (same === false) return undefined
  const [body, more] = [partOf(one, "tbody"), partOf(other, "tbody")]
  if (body === undefined || more === undefined) return undefined
  if (width(body.children[0]) !== width(more.children[0])) return undefined
  const [head, again] = [partOf(one, "thead"), partOf(other, "thead")]
  // A repeated head is dropped; a different one makes it another table, unless it is a guess: a row like others.
  const repeated = again !== undefined && head !== undefined && lineOf([again]) === lineOf([head])
  const guessed = other.attributes["data-open"] !== undefined
  if (again !== undefined && !repeated && !guessed) return undefined
  const rows =
    again === undefined || repeated ? more.children : [...again.children.map(asBody), ...more.children]
  const [first, ...rest] = rows
  if (!isElement(first)) return undefined
  const above = rowSaysOn(body.children.at(-1)) ? body.children.slice(0, -1) : body.children
  const whole = rowsOfOne(above.at(-1), first)
  const [caption, named] = [partOf(one, "caption"), partOf(other, "caption")]
  // A caption below a table comes where the table ends: under repeated column names, or under a row that continues.
  const isBelow = caption === undefined && named !== undefined && (repeated || whole !== undefined)
  if (named !== undefined && !isBelow && !isCaptionAgain(named, caption)) return undefined
  const joined = element("table", one.attributes, [
    ...(isBelow ? [named] : []),
    ...one.children.filter((child) => child !== body),
    element("tbody", {}, [
      ...(whole === undefined
        ? [...above, marked(first, mark)]
        : [...above.slice(0, -1), marked(whole, mark)]),
      ...rest
    ])
  ])
  // Either part may need a frame.
  const frame = a === one ? b : a
  return frame === other ? joined : element(frame.name, frame.attributes, [joined])
}

/** True when it begins with a heading. */
const isHeaded = ({ children: [first] }: HtmlElement): boolean => isElement(first) && isHeading(first)

/** Joins the parts of a table of contents, and their lists where possible. */
const printedContents = (a: HtmlElement, b: HtmlElement, mark: HtmlNode): HtmlElement => {
  const [last, [first, ...rest]] = [a.children.at(-1), b.children]
  const joined = isElement(last) && isElement(first) ? joinBlocks(last, first, mark) : undefined
  return element(
    a.name,
    a.attributes,
    joined === undefined
      ? [...a.children, mark, ...b.children]
      : [...a.children.slice(0, -1), joined, ...rest]
  )
}

/** Joins two blocks across a page break; undefined where they are separate. `anchor` is the page's. */
export const joinBlocks = (a: HtmlElement, b: HtmlElement, anchor: HtmlNode): HtmlElement | undefined => {
  // Links may lead to the second half.
  const id = b.attributes["id"] ?? tableIn(b)?.attributes["id"]
  const mark = id === undefined ? anchor : element("span", { id }, [anchor])
  if (a.name === "p" && b.name === "p") return paragraphs(a, b, mark)
  if (a.name === "nav" && b.name === "nav" && !isHeaded(b)) return printedContents(a, b, mark)
  if (a.name === "ul" || a.name === "ol" || a.name === "dl")
    return b.name === "p" ? listAndParagraph(a, b, mark) : lists(a, b, mark)
  return tables(a, b, mark)
}
