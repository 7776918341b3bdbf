import { languageTag, pageId, safeAddress } from "../../html/allowed.ts"
import type {
  Block,
  Cell,
  Field,
  Figure,
  Footnote,
  Formula,
  List,
  ListItem,
  Seam,
  Span,
  Table,
  TextSpan
} from "../../model/block.ts"
import { element, type HtmlNode } from "../../model/html-tree.ts"
import type { Places } from "../document/places.ts"
import { imagePicture, regionPicture, type Turned } from "./pictures.ts"
import { tableParts } from "./table-parts.ts"

/** What a page's blocks are written with. */
interface Notes {
  /** The notes of the page: their ids by their marks. */
  readonly marks: ReadonlyMap<string, string>
  readonly places: Places
  /** How the page was turned to be read. */
  readonly turned: Turned
}

const styled = ({ bold, code, expansion, italic, lang, struck, text }: TextSpan): HtmlNode => {
  let node: HtmlNode = text
  if (expansion !== undefined) node = element("abbr", { title: expansion }, [node])
  if (code) node = element("code", {}, [node])
  if (italic) node = element("em", {}, [node])
  if (bold) node = element("strong", {}, [node])
  if (struck === true) node = element("s", {}, [node])
  const language = languageTag(lang)
  return language === undefined ? node : element("span", { lang: language }, [node])
}

/** The spans from one on with the same script position: they form one script, whatever their faces. */
const scriptFrom = (
  spans: ReadonlyArray<Span>,
  at: number,
  raise: TextSpan["raise"]
): ReadonlyArray<TextSpan> => {
  const script: Array<TextSpan> = []
  for (let next = spans[at]; next?.kind === "text" && next.raise === raise; next = spans[at + script.length])
    script.push(next)
  return script
}

const inline = (span: Span, notes: Notes): ReadonlyArray<HtmlNode> => {
  switch (span.kind) {
    case "text":
      return [styled(span)]
    case "break":
      return [element("br", {})]
    case "noteref": {
      const id = notes.marks.get(span.mark)
      const mark = element("sup", {}, [span.mark])
      return [id === undefined ? mark : element("a", { role: "doc-noteref", href: `#${id}` }, [mark])]
    }
    case "link": {
      const inside = words(span.spans, notes)
      const { target } = span
      const href =
        target.kind === "uri"
          ? safeAddress(target.uri)
          : target.kind === "named"
            ? `#named-${target.name.replace(" ", "-")}`
            : `#${notes.places.targets.get(target) ?? pageId(target.page)}`
      return href === undefined ? inside : [element("a", { href }, inside)]
    }
  }
}

const words = (spans: ReadonlyArray<Span>, notes: Notes): ReadonlyArray<HtmlNode> =>
  spans.flatMap((span, at) => {
    if (span.kind !== "text" || span.raise === undefined) return inline(span, notes)
    const before = spans[at - 1]
    return before?.kind === "text" && before.raise === span.raise
      ? []
      : [element(span.raise, {}, scriptFrom(spans, at, span.raise).map(styled))]
  })

/** The attributes that assembly joins by, and removes. */
const seamAttributes = ({
  element: structure,
  hyphenated,
  open
}: Seam): Readonly<Record<string, string | undefined>> => ({
  "data-open": open ? "" : undefined,
  "data-cut": hyphenated ? "" : undefined,
  "data-element": structure?.toString()
})

const item = (name: "li" | "dd", { blocks }: ListItem, notes: Notes): HtmlNode => {
  const [first, ...rest] = blocks
  // The first paragraph is written into the item itself: a tight list.
  if (first?.kind !== "paragraph") return element(name, {}, writeAll(blocks, notes))
  const loose = rest.some(({ kind }) => kind === "paragraph")
  const own = loose ? writeAll([first], notes) : words(first.spans, notes)
  const id = loose ? undefined : notes.places.ids.get(first)
  return element(name, { id, ...(rest.length === 0 ? seamAttributes(first.seam) : {}) }, [
    ...own,
    ...writeAll(rest, notes)
  ])
}

const list = ({ items, ordered, seam, start, style }: List, notes: Notes): HtmlNode =>
  items.some(({ term }) => term !== undefined)
    ? element(
        "dl",
        seamAttributes(seam),
        items.flatMap((one) => [element("dt", {}, words(one.term ?? [], notes)), item("dd", one, notes)])
      )
    : element(
        ordered ? "ol" : "ul",
        { start: start?.toString(), type: style, ...seamAttributes(seam) },
        items.map((one) => item("li", one, notes))
      )

const cell = ({ blocks, colSpan, header, rowSpan }: Cell, notes: Notes): HtmlNode => {
  const [only] = blocks
  const inside =
    blocks.length === 1 && only?.kind === "paragraph" ? words(only.spans, notes) : writeAll(blocks, notes)
  const spans = {
    colspan: colSpan > 1 ? String(colSpan) : undefined,
    rowspan: rowSpan > 1 ? String(rowSpan) : undefined
  }
  // An empty header names nothing.
  if (header === undefined || blocks.length === 0) return element("td", spans, inside)
  const scope = header === "column" ? (colSpan > 1 ? "colgroup" : "col") : rowSpan > 1 ? "rowgroup" : "row"
  return element("th", { scope, ...spans }, inside)
}

const table = (block: Table, notes: Notes): HtmlNode => {
  const [head, body] = tableParts(block)
  const rowOf = (row: ReadonlyArray<Cell>) =>
    element(
      "tr",
      {},
      row.map((one) => cell(one, notes))
    )
  const part = (name: string, rows: ReadonlyArray<ReadonlyArray<Cell>>): ReadonlyArray<HtmlNode> =>
    rows.length === 0 ? [] : [element(name, {}, rows.map(rowOf))]
  return element("table", { id: notes.places.ids.get(block), ...seamAttributes(block.seam) }, [
    ...(block.caption.length === 0 ? [] : [element("caption", {}, words(block.caption, notes))]),
    ...part("thead", head),
    ...part("tbody", body)
  ])
}

/** A table, its notes as paragraphs below it: assembly takes the group apart. */
const notedTable = (block: Table, notes: Notes): HtmlNode => {
  const own = block.notes ?? []
  if (own.length === 0) return table(block, notes)
  const marks = new Map([...notes.marks, ...own.map(({ id, mark }) => [mark, id] as const)])
  return element("div", {}, [
    table(block, { ...notes, marks }),
    ...own.map(({ id, spans }) => element("p", { id }, words(spans, notes)))
  ])
}

const optionsOf = ({ chosen, options }: Field): ReadonlyArray<HtmlNode> => {
  const known = new Set(options)
  return [...chosen.filter((one) => !known.has(one)), ...options].map((option) =>
    // An option without words has no name.
    element("option", { selected: chosen.includes(option) ? "" : undefined }, [option.trim() || "–"])
  )
}

const controlOf = (block: Field, label: string | undefined): HtmlNode => {
  const { checked, control, multiline, maxLength, readOnly, required, value } = block
  const state = { required: required ? "" : undefined, disabled: "", "aria-label": label }
  const readonly = readOnly ? "" : undefined
  const maxlength = maxLength?.toString()
  switch (control) {
    case "checkbox":
    case "radio":
      return element("input", { type: control, checked: checked ? "" : undefined, ...state })
    case "choice":
      return element(
        "select",
        { multiple: block.chosen.length > 1 ? "" : undefined, ...state },
        optionsOf(block)
      )
    case "button":
      return element("button", { type: "button", disabled: "" }, [block.label])
    case "signature":
    case "text":
      return multiline
        ? element("textarea", { readonly, maxlength, ...state }, [value])
        : element("input", { type: "text", value, readonly, maxlength, ...state })
  }
}

const field = (block: Field): HtmlNode => {
  if (block.control === "button") return element("p", {}, [controlOf(block, undefined)])
  if (block.spoken) return element("p", {}, [controlOf(block, block.label)])
  const control = controlOf(block, undefined)
  const isTick = block.control === "checkbox" || block.control === "radio"
  const inside = isTick ? [control, ` ${block.label}`] : [`${block.label} `, control]
  return element("p", {}, [element("label", {}, inside)])
}

/** Longest description made of the words in a picture; more of them are folded away below it. */
const MAX_DESCRIPTION = 300
const figure = (block: Figure, notes: Notes): HtmlNode => {
  const { alt, caption, image, labels, region } = block
  const inside = labels.join(", ")
  const folded = inside.length > MAX_DESCRIPTION
  const said = folded ? `${inside.slice(0, MAX_DESCRIPTION).replace(/,[^,]*$/, "")}, …` : inside
  const described = alt ?? (inside === "" ? undefined : said)
  const shown =
    region !== undefined
      ? [regionPicture(region, described, notes.turned)]
      : image === undefined && alt === undefined
        ? []
        : [imagePicture(image, described)]
  const kept =
    inside === "" || (described === inside && shown.length > 0)
      ? []
      : [
          element(
            "p",
            {},
            labels.flatMap((label, at) => (at === 0 ? [label] : [element("br", {}), label]))
          )
        ]
  return element("figure", { id: notes.places.ids.get(block) }, [
    ...shown,
    ...(kept.length > 0 && shown.length > 0 ? [element("details", {}, kept)] : kept),
    ...(caption.length === 0 ? [] : [element("figcaption", {}, words(caption, notes))])
  ])
}

const formula = (block: Formula, { places, turned }: Notes): HtmlNode => {
  const { label, math, region, text } = block
  const shown =
    math ??
    (region === undefined ? element("span", { role: "math" }, [text]) : regionPicture(region, text, turned))
  return element("p", { id: places.ids.get(block) }, label === undefined ? [shown] : [shown, ` ${label}`])
}

const footnote = ({ blocks, mark }: Footnote, id: string, notes: Notes): HtmlNode => {
  const [first, ...rest] = blocks
  const sign = element("sup", {}, [mark])
  const body: ReadonlyArray<HtmlNode> =
    first?.kind === "paragraph"
      ? [element("p", {}, [sign, " ", ...words(first.spans, notes)]), ...writeAll(rest, notes)]
      : [element("p", {}, [sign]), ...writeAll(blocks, notes)]
  return element("div", { role: "doc-footnote", id }, body)
}

const write = (block: Block, notes: Notes): HtmlNode => {
  const id = notes.places.ids.get(block)
  switch (block.kind) {
    case "heading":
      return element(
        `h${Math.min(6, Math.max(1, block.level))}`,
        { id, "data-title": block.level === 0 ? "" : undefined },
        words(block.spans, notes)
      )
    case "paragraph":
      return element(
        "p",
        { id, lang: languageTag(block.lang), ...seamAttributes(block.seam) },
        words(block.spans, notes)
      )
    case "list":
      return list(block, notes)
    case "table":
      return notedTable(block, notes)
    case "figure":
      return figure(block, notes)
    case "code":
      return element("pre", {}, [element("code", {}, [block.text])])
    case "field":
      return field(block)
    case "fields":
      return element("fieldset", {}, [element("legend", {}, [block.legend]), ...block.fields.map(field)])
    case "quote":
      return element("blockquote", {}, writeAll(block.blocks, notes))
    case "aside":
      return element("div", { role: "note" }, writeAll(block.blocks, notes))
    case "contents":
      return element("nav", {}, writeAll(block.blocks, notes))
    case "formula":
      return formula(block, notes)
    case "footnote":
      return footnote(block, notes.marks.get(block.mark) ?? "fn", notes)
  }
}

const writeAll = (blocks: ReadonlyArray<Block>, notes: Notes): ReadonlyArray<HtmlNode> =>
  blocks.map((block) => write(block, notes))

/** A page's blocks as the nodes of a fragment. Ids are the page's own; assembly makes them the document's. */
export const writeBlocks = (
  blocks: ReadonlyArray<Block>,
  places: Places,
  turned: Turned
): ReadonlyArray<HtmlNode> => {
  const marks = new Map<string, string>()
  const notes: Notes = { marks, places, turned }
  const nodes: Array<HtmlNode> = []
  for (const block of blocks)
    if (block.kind === "footnote" && !marks.has(block.mark)) marks.set(block.mark, `fn-${marks.size + 1}`)
  const used = new Set<string>()
  for (const [at, block] of blocks.entries()) {
    if (block.kind !== "footnote") {
      nodes.push(write(block, notes))
      continue
    }
    const known = marks.get(block.mark) ?? ""
    const id = used.has(known) ? `${known}-${at}` : known
    used.add(id)
    nodes.push(footnote(block, id, notes))
  }
  return nodes
}
