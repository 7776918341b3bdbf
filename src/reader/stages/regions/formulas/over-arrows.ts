import { hull, middleX } from "../../../model/geometry.ts"
import { element, type HtmlElement } from "../../../model/html-tree.ts"
import { greatest } from "../../../model/lists.ts"
import { type Item, mainLine } from "./signs.ts"

const ARROW: ReadonlyMap<string, string> = new Map([
  ["→", "→"],
  ["⟶", "→"],
  ["←", "←"],
  ["⟵", "←"],
  ["↔", "↔"],
  ["⟷", "↔"]
])
/**
 * Height of an arrow over letters above their line, in font sizes: a lower one is between them, a higher one in the
 * line above.
 */
const OVER = { least: 0.45, most: 1.2 } as const
/**
 * Greatest overhang of letters beyond their arrow, and greatest difference between baselines of one line, in font
 * sizes.
 */
const SLACK = 0.15

/** Puts arrows over the letters below them: vectors. On a line with other signs they are relations. */
export const withOverArrows = (
  items: ReadonlyArray<Item>,
  inside: (part: ReadonlyArray<Item>) => HtmlElement
): ReadonlyArray<Item> => {
  const arrows = items.filter(({ text }) => ARROW.has(text))
  let left = items
  for (const arrow of arrows) {
    const { baseline, size, text, x0, x1 } = arrow
    const beside = left.some(
      (item) =>
        !ARROW.has(item.text) && Math.abs(item.baseline - baseline) < SLACK * size && item.size > size / 2
    )
    if (beside) continue
    const under = left.filter((item) => {
      const down = item.baseline - baseline
      const middle = middleX(item)
      return (
        !ARROW.has(item.text) &&
        down > OVER.least * size &&
        down < OVER.most * size &&
        middle > x0 - SLACK * size &&
        middle < x1 + SLACK * size
      )
    })
    const { x0: from, x1: to } = hull(under)
    if (under.length === 0 || from < x0 - 2 * SLACK * size || to > x1 + 2 * SLACK * size) continue
    const node = element("mover", { accent: "true" }, [
      inside(under),
      element("mo", {}, [ARROW.get(text) ?? text])
    ])
    const taken = new Set([arrow, ...under])
    const whole = {
      ...hull([...taken]),
      baseline: mainLine(under),
      size: greatest(under.map((one) => one.size))
    }
    left = [...left.filter((item) => !taken.has(item)), { ...whole, node, text: "" }]
  }
  return left
}
