import { hull, middleY } from "../../../model/geometry.ts"
import { element, type HtmlElement, isElement, textOf } from "../../../model/html-tree.ts"
import type { Box } from "../../../model/page-content.ts"
import { isFunctionName } from "./mathematical.ts"
import { AXIS, CLOSE, type Item, OPEN } from "./signs.ts"

/** True when a bar separates two signs: they are in a numerator and its denominator. */
const areParted = (a: Item, b: Item, bars: ReadonlyArray<Box>): boolean =>
  bars.some(
    (bar) =>
      bar.x0 < a.x1 &&
      bar.x1 > a.x0 &&
      middleY(bar) > Math.min(middleY(a), middleY(b)) &&
      middleY(bar) < Math.max(middleY(a), middleY(b))
  )

/** Joins the pieces that a tall bracket is drawn with, from above: those of one that closes may begin further and further to the right. */
export const withBrackets = (items: ReadonlyArray<Item>, bars: ReadonlyArray<Box>): ReadonlyArray<Item> => {
  const done: Array<Item> = []
  for (const item of [...items].sort((a, b) => a.y0 - b.y0)) {
    const same =
      item.isPart === true || /^[|‖∥]$/u.test(item.text)
        ? done.findLastIndex(
            (other) =>
              other.text === item.text &&
              Math.abs(other.x0 - item.x0) < 0.35 * item.size &&
              item.y0 - other.y1 < 0.7 * item.size &&
              Math.abs(middleY(other) - middleY(item)) > 0.3 * item.size &&
              !areParted(other, item, bars)
          )
        : -1
    const other = done[same]
    if (other === undefined) done.push(item)
    else {
      const box = hull([other, item])
      done[same] = { ...other, ...box, baseline: middleY(box) + AXIS * item.size }
    }
  }
  return done
}

/** Whether a node is the name of a function, with its scripts. */
const isFunction = (node: HtmlElement | undefined): boolean => {
  const base = node?.name === "mi" ? node : node?.children[0]
  const name = isElement(base) && base.name === "mi" ? textOf([base]) : ""
  // These names are written between the things that they relate.
  return isFunctionName(name) && !/^(?:mod|iff)$/i.test(name)
}

/**
 * The invisible sign for function application, which distinguishes it from a product; a bracket needs no room before
 * it.
 */
const applied = (text: string): HtmlElement =>
  element("mo", OPEN.test(text) ? {} : { rspace: "0.167em" }, ["\u2061"])

/** Limit on nested brackets that become separate rows. */
const MAX_NESTED = 9

/**
 * The nodes of a line. Brackets and their content form a separate row, so that they are as tall as it is, and a script
 * belongs to the whole row.
 */
export class LineOfSigns {
  readonly nodes: Array<HtmlElement> = []
  readonly #open: Array<number> = []

  /** Adds a sign with its scripts, which `scripted` puts on it. */
  add(node: HtmlElement, text: string, scripted: (base: HtmlElement) => HtmlElement): void {
    const isOperand = node.name !== "mo" || OPEN.test(text)
    if (isOperand && isFunction(this.nodes.at(-1))) this.nodes.push(applied(text))
    const start = CLOSE.test(text) ? this.#open.pop() : undefined
    // Limits the depth of rows within rows.
    const isRow = start !== undefined && this.#open.length < MAX_NESTED
    this.nodes.push(scripted(isRow ? element("mrow", {}, [...this.nodes.splice(start), node]) : node))
    if (OPEN.test(text)) this.#open.push(this.nodes.length - 1)
  }
}
