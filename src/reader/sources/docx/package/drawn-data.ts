import { parseFragment } from "../../../html/parse-fragment.ts"
import { element, type HtmlNode, serialize } from "../../../model/html-tree.ts"
import type { Archive } from "./archive.ts"
import { orNothing } from "./package.ts"
import type { Relation } from "./relations.ts"
import { readXml } from "./xml.ts"

/** What charts, diagrams and parts in other formats show, as HTML, by the relation that the document has to them. */
export type DrawnData = (relation: string | undefined) => string | undefined

/** Values and words of one drawing that are read. */
const MOST = 1_000
/** Limit on cells of a chart's table. Series may have values at different places. */
const MOST_CELLS = 10_000
/** Digits of a value. */
const DIGITS = 6

/** Texts by position: series omit empty ones. */
type Cache = Map<number, string>

interface Series {
  readonly name: Cache
  readonly categories: Cache
  readonly values: Cache
}

/** A value as charts keep it, which may have the error of its calculation in it. */
const valueOf = (text: string): string => {
  const value = Number(text)
  return text.trim() === "" || !Number.isFinite(value) ? text : String(Number(value.toPrecision(DIGITS)))
}

const firstOf = (cache: Cache | undefined): string => [...(cache?.values() ?? [])].join(" ")

const chartTable = (title: string, all: ReadonlyArray<Series>): string => {
  const places = [
    ...new Set(all.flatMap(({ categories, values }) => [...categories.keys(), ...values.keys()]))
  ].toSorted((a, b) => a - b)
  const series = all.slice(0, Math.ceil(MOST_CELLS / Math.max(1, places.length)))
  if (places.length === 0) return title === "" ? "" : serialize([element("p", {}, [title])])
  const categories = series.find((one) => one.categories.size > 0)?.categories
  const names = series.map(({ name }) => firstOf(name))
  const row = (cells: ReadonlyArray<HtmlNode>) => element("tr", {}, cells)
  const head = names.map((name) =>
    element(name === "" ? "td" : "th", name === "" ? {} : { scope: "col" }, [name])
  )
  const rows = places.map((place) =>
    row([
      element("th", { scope: "row" }, [categories?.get(place) ?? String(place + 1)]),
      ...series.map(({ values }) => element("td", {}, [valueOf(values.get(place) ?? "")]))
    ])
  )
  return serialize([
    element("table", {}, [
      ...(title === "" ? [] : [element("caption", {}, [title])]),
      ...(names.every((name) => name === "")
        ? []
        : [element("thead", {}, [row([element("td", {}), ...head])])]),
      element("tbody", {}, rows)
    ])
  ])
}

/** Reads a chart's title and the values that the document caches from the chart's workbook. */
const readChart = async (bytes: AsyncIterable<Buffer>): Promise<string> => {
  const open: Array<string> = []
  const series: Array<Series> = []
  let title = ""
  let place = 0
  let count = 0
  await readXml(bytes, {
    open: (name, attributes) => {
      open.push(name)
      if (name === "ser") series.push({ name: new Map(), categories: new Map(), values: new Map() })
      if (name === "pt") place = Number(attributes.get("idx") ?? 0)
    },
    close: () => void open.pop(),
    text: (text) => {
      const [inner] = open.slice(-1)
      // Axes have titles, too.
      if (inner === "t" && open[open.indexOf("title") - 1] === "chart") title += text
      const one = series.at(-1)
      if (inner !== "v" || one === undefined || count > MOST || !Number.isSafeInteger(place)) return
      count += 1
      if (open.includes("tx")) one.name.set(place, text)
      else if (open.includes("cat") || open.includes("xVal")) one.categories.set(place, text)
      else if (open.includes("val") || open.includes("yVal")) one.values.set(place, text)
    }
  })
  return chartTable(title.trim(), series)
}

/** The words of a diagram, box by box. */
const readDiagram = async (bytes: AsyncIterable<Buffer>): Promise<string> => {
  const boxes: Array<string> = []
  let inBox = ""
  let isText = false
  await readXml(bytes, {
    open: (name) => {
      isText = name === "t"
      if (name === "pt") inBox = ""
      if (name === "p" && inBox !== "") inBox += " "
    },
    close: (name) => {
      isText = false
      if (name === "pt" && inBox.trim() !== "" && boxes.length < MOST) boxes.push(inBox.trim())
    },
    text: (text) => {
      if (isText) inBox += text
    }
  })
  return boxes.length === 0
    ? ""
    : serialize([
        element(
          "ul",
          {},
          boxes.map((words) => element("li", {}, [words]))
        )
      ])
}

/** Bytes of a part in HTML or text. */
const MAX_CHUNK = 4 * 1024 * 1024

/** Text of a part in another format: that of HTML and of plain text. */
const readChunk = async (bytes: AsyncIterable<Buffer>, part: string): Promise<string> => {
  const kind = /\.(x?html?|txt)$/i.exec(part)?.[1]?.toLowerCase()
  if (kind === undefined) return ""
  const all: Array<Buffer> = []
  let length = 0
  for await (const some of bytes) {
    length += some.length
    if (length > MAX_CHUNK) return ""
    all.push(some)
  }
  const text = new TextDecoder().decode(Buffer.concat(all))
  return serialize(kind === "txt" ? paragraphsOf(text) : parseFragment(text))
}

const paragraphsOf = (text: string): ReadonlyArray<HtmlNode> =>
  text.split(/\r?\n/).flatMap((line) => (line.trim() === "" ? [] : [element("p", {}, [line.trim()])]))

type PartReader = (bytes: AsyncIterable<Buffer>, part: string) => Promise<string>

const READERS: ReadonlyMap<string, PartReader> = new Map<string, PartReader>([
  ["chart", readChart],
  ["diagramData", readDiagram],
  ["aFChunk", readChunk]
])

/** Most charts, diagrams and parts in other formats of a document that are read. */
const MOST_DRAWN = 200

/** Reads the charts, diagrams and parts in other formats that a part has relations to, each once. */
export const readDrawn = async (archive: Archive, relations: ReadonlyArray<Relation>): Promise<DrawnData> => {
  const shown = new Map<string, string>()
  const read = new Map<string, string>()
  for (const { id, kind, part } of relations) {
    const reader = READERS.get(kind)
    if (reader === undefined || part === undefined) continue
    if (!read.has(part) && read.size < MOST_DRAWN)
      read.set(part, (await orNothing(reader(archive.stream(part), part))) ?? "")
    shown.set(id, read.get(part) ?? "")
  }
  return (relation) => (relation === undefined ? undefined : shown.get(relation))
}

/** What stands for a part in a format that is not read. */
const NO_CHUNK = "<p>[A part of this document, kept in another format, is left out here.]</p>"

/** A part in another format, as HTML. */
export const chunkOf = (drawn: DrawnData, relation: string | undefined): string => drawn(relation) || NO_CHUNK
