import type { DocxPart } from "../../model/word-document.ts"

/** Blocks are gathered until they are this long. */
const PART_LENGTH = 90_000

const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s[^<>]*?)?)(\/?)>/g

/** What may be closed behind a row or an item and opened again. */
const CONTINUED: ReadonlySet<string> = new Set(["table", "thead", "tbody", "ul", "ol"])

/**
 * Cuts well-formed HTML into parts of whole blocks; tables and lists that are longer are cut between rows and items, and closed
 * and opened again there. Undefined where a part is longer than `most` all the same.
 */
export const splitBlocks = (html: string, most: number): ReadonlyArray<DocxPart> | undefined => {
  const parts: Array<DocxPart> = []
  const open: Array<string> = []
  let from = 0
  let goesOn = ""
  const cut = (end: number) => {
    const closing = open.toReversed().map((name) => `</${name}>`)
    parts.push({ html: goesOn + html.slice(from, end) + closing.join(""), goesOn })
    from = end
    goesOn = open.map((name) => `<${name}>`).join("")
  }
  for (const { 0: tag, 1: closing, 2: name = "", 3: attributes, 4: alone, index } of html.matchAll(TAG)) {
    if (closing === "/") open.pop()
    else if (alone !== "/") open.push(attributes === "" ? name : `${name} `)
    const end = index + tag.length
    if (end - from < PART_LENGTH || closing !== "/") continue
    const isItem = name === "tr" || name === "li"
    if (open.length === 0 || (isItem && open.every((one) => CONTINUED.has(one)))) cut(end)
  }
  if (from < html.length) cut(html.length)
  return parts.some((part) => part.html.length > most) ? undefined : parts
}
