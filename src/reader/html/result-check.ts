import { Schema } from "effect"

import { unescaped } from "../model/html-tree.ts"
import { wordsFor } from "./words.ts"

/** Parts of a result that are checked; the rest holds by construction. */
const Checked = Schema.Literals(["title", "headings", "pictures", "tables", "fields", "formulas", "links"])
type Checked = typeof Checked.Type

/** What a machine can say of a result's accessibility, and where a person has to look (DOC-25). */
export const ResultCheck = Schema.Struct({
  /** The language that the result names (BCP 47). */
  lang: Schema.String,
  title: Schema.String,
  checks: Schema.Array(
    Schema.Struct({
      check: Checked,
      /** How many there are. */
      count: Schema.Int,
      /** How many of them need a look. */
      flagged: Schema.Int,
      /** Pages of the findings, from 1, the first {@link MAX_PAGES}; empty where the document has no pages. */
      pages: Schema.Array(Schema.Int)
    })
  )
}).annotate({ identifier: "ResultCheck" })
export type ResultCheck = typeof ResultCheck.Type

/** Most pages that are named with a check. */
const MAX_PAGES = 100

/** Limit on the kept part of an incomplete tag: a picture's data are inside one. */
const MAX_TAG = 8_192

/** Enough of a document's beginning for its language and title. */
const MAX_HEAD = 65_536

/** A document of fewer pages needs no headings to be found one's way in. */
const MIN_PAGES = 4

const shortened = (tag: string): string =>
  tag.length <= MAX_TAG ? tag : tag.slice(0, MAX_TAG / 2) + tag.slice(-MAX_TAG / 2)

const attribute = (tag: string, name: string): string | undefined =>
  new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]

interface Tally {
  count: number
  flagged: number
  readonly pages: Set<number>
}

/**
 * Reads a result while it is written: its tags one after the other, with quoted attributes that hold no `<` or `>`.
 * Linear, and memory does not grow with the document.
 */
export class ResultChecker {
  #rest = ""
  #head = ""
  #page = 0
  #inScan = false
  /** The open tables: whether each has a header cell. */
  readonly #tables: Array<boolean> = []
  readonly #tallies = new Map<Checked, Tally>(
    Checked.literals.map((check) => [check, { count: 0, flagged: 0, pages: new Set<number>() }])
  )

  /** Adds the next part of the document. */
  add(text: string): void {
    if (this.#head.length < MAX_HEAD) this.#head += text.slice(0, MAX_HEAD - this.#head.length)
    const all = this.#rest + text
    let at = all.indexOf("<")
    while (at !== -1) {
      const end = all.indexOf(">", at)
      if (end === -1) break
      this.#tag(shortened(all.slice(at + 1, end)))
      at = all.indexOf("<", end)
    }
    this.#rest = at === -1 ? "" : shortened(all.slice(at))
  }

  /** `name`: the file's, without its ending. */
  report(name: string): ResultCheck {
    const title = unescaped(/<title>([^<]*)/.exec(this.#head)?.[1] ?? "")
    const titled = this.#tallies.get("title")!
    titled.count = title === "" ? 0 : 1
    titled.flagged = title === "" || title === name ? 1 : 0
    const headings = this.#tallies.get("headings")!
    if (headings.count < 2 && this.#page >= MIN_PAGES) headings.flagged = 1
    return {
      lang: this.#lang(),
      title,
      checks: [...this.#tallies].map(([check, { count, flagged, pages }]) => ({
        check,
        count,
        flagged,
        pages: [...pages]
      }))
    }
  }

  #lang(): string {
    return /<html lang="([A-Za-z0-9-]{1,35})"/.exec(this.#head)?.[1] ?? "en"
  }

  #count(check: Checked, isFlagged: boolean): void {
    const tally = this.#tallies.get(check)!
    tally.count += 1
    if (!isFlagged) return
    tally.flagged += 1
    if (this.#page > 0 && tally.pages.size < MAX_PAGES) tally.pages.add(this.#page)
  }

  #tag(tag: string): void {
    const [name = ""] = /^\/?[a-z0-9]+/.exec(tag) ?? []
    const mark = tag.includes('role="doc-pagebreak"') ? attribute(tag, "id") : undefined
    if (mark !== undefined) this.#page = Number(/^page-(\d{1,7})$/.exec(mark)?.[1] ?? this.#page)
    switch (name) {
      case "h1":
      case "h2":
      case "h3":
      case "h4":
      case "h5":
      case "h6":
        return attribute(tag, "id") === "contents" ? undefined : this.#count("headings", false)
      case "details":
        this.#inScan = attribute(tag, "class") === "scan"
        return
      case "/details":
        this.#inScan = false
        return
      case "img":
        // The picture of a scanned page is shown next to its text.
        return this.#inScan ? undefined : this.#count("pictures", this.#isOwnWord(tag, "alt", "undescribed"))
      case "svg":
        return attribute(tag, "class") === "store"
          ? undefined
          : this.#count("pictures", this.#isOwnWord(tag, "aria-label", "undescribed"))
      case "table":
        this.#tables.push(false)
        return
      case "th":
        if (this.#tables.length > 0) this.#tables[this.#tables.length - 1] = true
        return
      case "/table":
        return this.#count("tables", this.#tables.pop() === false)
      case "input":
      case "select":
      case "textarea":
        return attribute(tag, "id") === "page-marks"
          ? undefined
          : this.#count("fields", this.#isOwnWord(tag, "aria-label", "field"))
      case "math":
        return this.#count("formulas", false)
      case "a":
        return attribute(tag, "class") === "skip" ? undefined : this.#count("links", false)
    }
  }

  /** Whether the converter named it by its kind, since the document did not name it. */
  #isOwnWord(tag: string, name: string, word: "undescribed" | "field"): boolean {
    const text = attribute(tag, name)
    return text !== undefined && unescaped(text) === wordsFor(this.#lang())[word]
  }
}
