import { isOff, numberIn, type Styles } from "../package/styles.ts"
import type { Later, PartOutput } from "./part-output.ts"

/** Limit on columns of a Word table. */
const MOST_COLUMNS = 63

interface TableState {
  style: string | undefined
  marksFirstRow: boolean
  rows: number
  /** The row that is open has to be said to be a head. */
  isAsked: boolean
  /** Place of the property in the output. */
  said: Later | undefined
  /** Place of the property that says that its rows have headers. */
  named: Later | undefined
  /** Columns that the open row leaves out at its beginning. */
  left: number
  /** The open cell, and the one that those behind it are merged into, as older programs say it cell by cell. */
  cell: Cell | undefined
  merged: Cell | undefined
}

interface Cell {
  /** Its place in the output. */
  readonly from: number
  /** The columns that it covers, and the place to say so once others are merged into it. */
  columns: number
  readonly said: Later
  isJoined: boolean
}

/** The style of tables that have row headers in their first column. */
export const NAMED_ROWS = "postlane named rows"

/** A table says that it shows its first row or column as its style wants, in the older way by a bit. */
const marks = (attributes: ReadonlyMap<string, string>, part: string, bit: number): boolean => {
  const said = attributes.get(part)
  if (said !== undefined) return !isOff(said)
  return (Number.parseInt(attributes.get("val") ?? "0", 16) & bit) !== 0
}

/** Says of first rows that they are heads, where the table's style shows them as such. */
export class PartTables {
  readonly #tables: Array<TableState> = []
  readonly #out: PartOutput
  readonly #styles: Styles

  constructor(out: PartOutput, styles: Styles) {
    this.#out = out
    this.#styles = styles
  }

  /** Before an element is written. */
  open(name: string, attributes: ReadonlyMap<string, string>): void {
    const table = this.#tables.at(-1)
    if (name === "tbl")
      this.#tables.push({
        style: undefined,
        marksFirstRow: false,
        rows: 0,
        isAsked: false,
        said: undefined,
        named: undefined,
        left: 0,
        cell: undefined,
        merged: undefined
      })
    else if (table === undefined) return
    else if (name === "tblStyle") table.style = attributes.get("val")
    else if (name === "tblLook") {
      table.marksFirstRow = marks(attributes, "firstRow", 0x20)
      const isNamed = marks(attributes, "firstColumn", 0x80) && this.#styles(table.style).hasHeadColumn
      if (isNamed && table.named !== undefined) table.named.text = this.#out.value("tblStyle", NAMED_ROWS)
    } else if (name === "tr") {
      table.rows += 1
      table.merged = undefined
      table.isAsked = table.rows === 1 && table.marksFirstRow && this.#styles(table.style).hasHeadRow
    } else if (name === "gridBefore") table.left = numberIn(attributes.get("val")) ?? 0
    else if (name === "tc") {
      this.#say((head) => this.#out.element("trPr", head))
      table.cell = { from: this.#out.length, columns: 1, said: { text: "" }, isJoined: false }
    } else if (name === "gridSpan" && table.cell !== undefined)
      table.cell.columns = numberIn(attributes.get("val")) ?? 1
    else if (name === "hMerge" && table.cell !== undefined) {
      if (attributes.get("val") === "restart") table.merged = table.cell
      else table.cell.isJoined = table.merged !== undefined
    }
  }

  /** Behind the tag of an element. */
  opened(name: string): void {
    if (name === "trPr") this.#say((head) => head)
    const table = this.#tables.at(-1)
    if (name === "tcPr" && table?.cell !== undefined) this.#out.add(table.cell.said)
    if (name !== "tblPr" || table === undefined) return
    // The first of two is read.
    table.named = { text: "" }
    this.#out.add(table.named)
  }

  close(name: string): void {
    if (name === "trPr") this.#leave()
    if (name === "tc") this.#join()
    if (name !== "tbl") return
    const table = this.#tables.pop()
    // A table of one row has nothing below its head.
    if (table?.said !== undefined && table.rows === 1) table.said.text = ""
  }

  /** Drops a cell that is merged into the one before it, and widens that one. */
  #join(): void {
    const { cell, merged } = this.#tables.at(-1) ?? {}
    if (cell === undefined || merged === undefined || !cell.isJoined) return
    this.#out.cut(cell.from)
    merged.columns += cell.columns
    merged.said.text = this.#out.value("gridSpan", Math.min(merged.columns, MOST_COLUMNS))
  }

  /** A row that begins further in has a cell before its own. */
  #leave(): void {
    const table = this.#tables.at(-1)
    if (table === undefined || table.left === 0) return
    const properties = this.#out.element(
      "tcPr",
      this.#out.value("gridSpan", Math.min(table.left, MOST_COLUMNS))
    )
    this.#out.add(this.#out.element("tc", properties))
    table.left = 0
  }

  #say(how: (head: string) => string): void {
    const table = this.#tables.at(-1)
    if (table?.isAsked !== true) return
    table.isAsked = false
    table.said = { text: how(this.#out.element("tblHeader")) }
    this.#out.add(table.said)
  }
}
