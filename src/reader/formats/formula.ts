import { type HtmlElement, type HtmlNode, isElement, textOf } from "../model/html-tree.ts"

const words = (node: HtmlNode | undefined): string =>
  node === undefined ? "" : isElement(node) ? formulaText(node) : node.replaceAll(/\s+/g, " ").trim()

/** In parentheses where it is more than one sign or number. */
const grouped = (text: string): string => (/^(?:[\p{L}\p{N}]*|.)$/u.test(text) ? text : `(${text})`)

/** A formula in one line: `a/b`, `x^2`, `a_1`, `√(x+1)`. */
export const formulaText = ({ children, name }: HtmlElement): string => {
  const parts = children.filter((child) => isElement(child) || child.trim() !== "")
  const [first, second, third] = parts.map(words)
  if (first !== undefined && second !== undefined)
    switch (name) {
      case "mfrac":
        return `${grouped(first)}/${grouped(second)}`
      case "msup":
      case "mover":
        return `${first}^${grouped(second)}`
      case "msub":
      case "munder":
        return `${first}_${grouped(second)}`
      case "msubsup":
      case "munderover":
        return `${first}_${grouped(second)}^${grouped(third ?? "")}`
      case "mroot":
        return `${grouped(second)}√${grouped(first)}`
    }
  const inside = parts.map(words)
  switch (name) {
    case "msqrt":
      return `√${grouped(inside.join(""))}`
    case "mtable":
      return inside.join("; ")
    case "mtr":
      return inside.join(", ")
    case "mtext":
      return textOf(children).replaceAll(/\s+/g, " ")
    default:
      return inside.join("")
  }
}
