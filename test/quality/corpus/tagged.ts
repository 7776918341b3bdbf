/** Tagged PDFs with their tags taken away: their truth is the tags, as poppler reads them. */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"

import { bodyOf, documentOf, escaped, likeHeading, rewritten, tag } from "./tree.ts"

const read = (program: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] })

export const isTagged = (pdf: string): boolean => /^Tagged:\s+yes/m.test(read("pdfinfo", pdf))

/** A file's objects by their names, as qpdf writes them. */
type Objects = Readonly<Record<string, { readonly value: Readonly<Record<string, unknown>> }>>

/** Writes a copy without the tree of tags. Its pages stay as they are, with the marks that the tags pointed to. */
export const writeUntagged = (pdf: string, to: string): void => {
  const [, objects] = JSON.parse(read("qpdf", "--json=2", "--json-key=qpdf", pdf)).qpdf as readonly [
    object,
    Objects
  ]
  const root = String(objects["trailer"]?.value["/Root"])
  const { "/MarkInfo": _, "/StructTreeRoot": __, ...catalog } = objects[`obj:${root}`]!.value
  const header = { jsonversion: 2, pushedinheritedpageresources: false, calledgetallpages: false }
  const change = `${to}.json`
  writeFileSync(change, JSON.stringify({ qpdf: [header, { [`obj:${root}`]: { value: catalog } }] }))
  read("qpdf", "--deterministic-id", pdf, `--update-from-json=${change}`, to)
}

const plain = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

/** Lines that are bold as a whole: their tags do not tell. */
const boldLines = (pdf: string): ReadonlySet<string> => {
  const xml = read("pdftohtml", "-xml", "-i", "-stdout", pdf)
  const lines = xml.matchAll(/<text [^>]*>(?:<a [^>]*>)?<b>([^<]*)<\/b>(?:<\/a>)?<\/text>/g)
  return new Set(Array.from(lines, ([, line = ""]) => plain(line)))
}

/** What an element of the structure is in HTML; of others only what is inside counts. */
const NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((level) => [`H${level}`, `h${level}`])),
  H: "h1",
  P: "p",
  Caption: "p",
  Note: "p",
  L: "ul",
  LI: "li",
  Table: "table",
  THead: "thead",
  TBody: "tbody",
  TR: "tr",
  TH: "th",
  TD: "td",
  Code: "pre"
}

interface Tagged {
  readonly name: string
  readonly spans: Array<string>
  readonly inside: Array<Tagged | string>
}

const isText = (node: Tagged | string): node is string => typeof node === "string"

const wordsOf = (node: Tagged | string): string => (isText(node) ? node : node.inside.map(wordsOf).join(""))

/** The tree that poppler prints, two spaces a level: elements, their attributes, and text in quotes, which may have several lines. */
const treeOf = (printed: string): Tagged => {
  const path: [Tagged, ...Array<Tagged>] = [{ name: "", spans: [], inside: [] }]
  let text: string | undefined
  for (const line of printed.split("\n")) {
    const [, indent = "", said = ""] = /^( *)(.*)$/.exec(line) ?? []
    const level = indent.length / 2
    if (text !== undefined || said.startsWith('"')) {
      if (text === undefined) path.splice(level + 1)
      text = text === undefined ? said.slice(1) : `${text}\n${line}`
      if (!text.endsWith('"')) continue
      path.at(-1)!.inside.push(text.slice(0, -1))
      text = undefined
      continue
    }
    const span = /^\/((?:Row|Col)Span) (\d+)/.exec(said)
    if (span !== null) path.at(-1)!.spans.push(`${span[1]!.toLowerCase()}="${span[2]}"`)
    const name = /^[A-Z]\w*/.exec(said)?.[0]
    if (name === undefined || name === "Object") continue
    const made: Tagged = { name, spans: [], inside: [] }
    path.splice(level + 1)
    path.at(-1)!.inside.push(made)
    path.push(made)
  }
  return path[0]
}

/** Word tags each page's part of a table for itself. Tables with nothing between them are one, whose head stands once. */
const joined = (nodes: ReadonlyArray<Tagged | string>): ReadonlyArray<Tagged | string> => {
  const all: Array<Tagged | string> = []
  for (const node of nodes) {
    const above = all.at(-1)
    if (
      isText(node) ||
      above === undefined ||
      isText(above) ||
      node.name !== "Table" ||
      above.name !== "Table"
    ) {
      all.push(node)
      continue
    }
    const [head] = above.inside
    const again =
      head === undefined ? [] : node.inside.slice(0, 1).filter((one) => wordsOf(one) === wordsOf(head))
    all[all.length - 1] = { ...above, inside: [...above.inside, ...node.inside.slice(again.length)] }
  }
  return all
}

const htmlOf = (node: Tagged | string, bold: ReadonlySet<string>): string => {
  if (isText(node)) return escaped(node)
  const name = NAMES[node.name]
  const words = plain(wordsOf(node))
  // Contents are left out of every truth; an empty line may have any style, and so may a number on a line of its own.
  if (node.name === "TOC" || (name === "p" && words === "")) return ""
  if (name?.startsWith("h") === true && !/\p{L}/u.test(words)) return escaped(words)
  const inside = joined(node.inside)
    .map((one) => htmlOf(one, bold))
    .join("")
  if (name === undefined) return inside
  return tag(name, name === "p" && bold.has(words) ? tag("b", inside) : inside, node.spans.join(" "))
}

/** Truth of a tagged PDF; nothing where it has no heading and no table. */
export const readTagged = (pdf: string): string | undefined => {
  const tree = treeOf(read("pdfinfo", "-struct-text", pdf))
  const body = rewritten(bodyOf(htmlOf(tree, boldLines(pdf))), likeHeading)
  return /<(?:h[1-6]|table)[\s>]/.test(body) ? documentOf("", body) : undefined
}
