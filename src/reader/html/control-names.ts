import { type HtmlElement, type HtmlNode, isElement, textOf } from "../model/html-tree.ts"
import { BLOCKS, HELD, MAX_DEPTH } from "./repair.ts"

const CONTROLS: ReadonlySet<string> = new Set(["input", "select", "textarea"])
const TICK = /^(?:checkbox|radio)$/

/** Longest name, characters. */
const MAX_NAME = 120

const isControl = (node: HtmlNode): boolean => isElement(node) && CONTROLS.has(node.name)

const wordsOf = (nodes: ReadonlyArray<HtmlNode>): string =>
  nodes
    .map((node) => (typeof node === "string" ? node : isControl(node) ? " " : textOf([node])))
    .join("")
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/[:：]$/, "")
    .trimEnd()
    .slice(0, MAX_NAME)

/** Names the controls of one line: by the words around one that is alone, else by those next to each. */
const nameLine = (line: ReadonlyArray<HtmlNode>, names: Map<HtmlElement, string>): void => {
  const places = line.flatMap((node, at) => (isControl(node) ? [at] : []))
  for (const [index, at] of places.entries()) {
    const control = line[at]
    if (!isElement(control)) continue
    const before = wordsOf(line.slice((places[index - 1] ?? -1) + 1, at))
    const behind = wordsOf(line.slice(at + 1, places[index + 1]))
    const isTick = TICK.test(control.attributes["type"] ?? "")
    const [first, second] = isTick ? [behind, before] : [before, behind]
    const name = places.length === 1 ? wordsOf(line) : first || second
    if (name !== "") names.set(control, name)
  }
}

/** What the words of their line call the controls that no label names. */
export const controlNames = (nodes: ReadonlyArray<HtmlNode>): ReadonlyMap<HtmlElement, string> => {
  const names = new Map<HtmlElement, string>()
  const look = (siblings: ReadonlyArray<HtmlNode>, outer: number): void => {
    let line: Array<HtmlNode> = []
    const close = () => {
      nameLine(line, names)
      line = []
    }
    const add = (node: HtmlNode, depth: number): void => {
      if (typeof node === "string" || isControl(node)) line.push(node)
      else if (depth > MAX_DEPTH) return
      else if (BLOCKS.has(node.name) || HELD.has(node.name) || node.name === "br") {
        close()
        look(node.children, depth + 1)
      } else for (const child of node.children) add(child, depth + 1)
    }
    for (const node of siblings) add(node, outer)
    close()
  }
  look(nodes, 0)
  return names
}
