import { middleX, middleY } from "../../../model/geometry.ts"
import { element, type HtmlElement } from "../../../model/html-tree.ts"
import type { Box, PageContent } from "../../../model/page-content.ts"
import { isPath } from "../../runs/strokes.ts"
import { AXIS, type Item, mainLine, mainSize, SCRIPT } from "./signs.ts"

/** Thickest bar of a fraction or a root, and the shortest and longest, points. */
const THICK = 1.6
const SHORT = 2.5
const LONG = 420
/** A page with more level lines is a form, a grid or a drawing. */
const MAX_BARS = 600

/** The thin level lines of a page that may be bars of fractions and roots. */
export const barsOf = ({ drawings }: PageContent): ReadonlyArray<Box> => {
  const bars = drawings.filter(isPath).filter(({ box }) => {
    const [width, height] = [box.x1 - box.x0, box.y1 - box.y0]
    return height < THICK && width > SHORT && width < LONG && width > 2 * height
  })
  return bars.length > MAX_BARS ? [] : bars.map(({ box }) => box)
}

/** Greatest distance of a formula's part from its bar, or from the part that is nearer to the bar, in font sizes. */
const NEAR_BAR = 0.75

/** Greatest difference between baselines of one line, in font sizes. */
const LINE = 0.1

/** The items over a bar, or under it: sign by sign away from it, up to the first gap. */
const besideBar = (items: ReadonlyArray<Item>, bar: Box, above: boolean): ReadonlyArray<Item> => {
  const y = middleY(bar)
  const near = items
    .filter((item) => {
      const x = middleX(item)
      return x > bar.x0 - 1 && x < bar.x1 + 1 && middleY(item) < y === above
    })
    .sort((a, b) => Math.abs(middleY(a) - y) - Math.abs(middleY(b) - y))
  let edge = y
  const end = near.findIndex((item) => {
    const gap = above ? edge - item.y1 : item.y0 - edge
    edge = above ? Math.min(edge, item.y0) : Math.max(edge, item.y1)
    return gap > NEAR_BAR * item.size
  })
  return end < 0 ? near : near.slice(0, end)
}

/** The size of the signs next to a bar: of those that reach into the height of the nearest. */
const sizeAtBar = (half: ReadonlyArray<Item>): number => {
  let [y0, y1] = [half[0]?.y0 ?? 0, half[0]?.y1 ?? 0]
  const end = half.findIndex((item) => {
    if (item.y0 > y1 || item.y1 < y0) return true
    ;[y0, y1] = [Math.min(y0, item.y0), Math.max(y1, item.y1)]
    return false
  })
  return mainSize(end < 0 ? half : half.slice(0, end))
}

/**
 * Half of a fraction without the line above or below it: that line is larger than the signs next to the bar, and
 * extends beyond it.
 */
const withoutLines = (
  half: ReadonlyArray<Item>,
  size: number,
  items: ReadonlyArray<Item>,
  bar: Box
): ReadonlyArray<Item> => {
  const end = half.findIndex(
    (item) =>
      SCRIPT * item.size > size &&
      items.some(
        (other) =>
          (middleX(other) < bar.x0 || middleX(other) > bar.x1) &&
          Math.abs(other.baseline - item.baseline) < LINE * item.size
      )
  )
  return end < 0 ? half : half.slice(0, end)
}

/** The items over a bar, and those under it. */
const halvesAt = (
  items: ReadonlyArray<Item>,
  bar: Box
): readonly [ReadonlyArray<Item>, ReadonlyArray<Item>] => {
  const [above, below] = [besideBar(items, bar, true), besideBar(items, bar, false)]
  const size = Math.max(sizeAtBar(above), sizeAtBar(below))
  return [withoutLines(above, size, items, bar), withoutLines(below, size, items, bar)]
}

/** Greatest distance between a root's sign and its bar, in font sizes. */
const AT_ROOT = 0.25

/** The sign of the root that a bar belongs to. */
const rootAt = (items: ReadonlyArray<Item>, bar: Box): Item | undefined =>
  items.find(
    ({ size, text, x1, y0 }) =>
      text === "√" && Math.abs(x1 - bar.x0) < AT_ROOT * size && Math.abs(y0 - middleY(bar)) < 0.8 * size
  )

/** Greatest distance of a hanging root sign's baseline from its bar, in font sizes. */
const HANGS = 0.2

/** Roots where their bars are: TeX's signs hang from their baseline, over which the box of their face is. */
export const withHungRoots = (items: ReadonlyArray<Item>, bars: ReadonlyArray<Box>): ReadonlyArray<Item> =>
  items.map((item) => {
    const { baseline, size, text, x1, y0 } = item
    if (text !== "√") return item
    const own = bars.filter((bar) => Math.abs(x1 - bar.x0) < AT_ROOT * size).map(middleY)
    const isAt = (y: number) => own.find((bar) => Math.abs(bar - y) < HANGS * size)
    const top = isAt(y0) === undefined ? isAt(baseline) : undefined
    return top === undefined ? item : { ...item, y0: top, y1: top + size }
  })

/**
 * The degree of a root: signs in its crook, into which a fraction before it does not reach. Lower ones are the script
 * of the sign before the root.
 */
const degreeOf = (items: ReadonlyArray<Item>, root: Item): ReadonlyArray<Item> => {
  const degree = items.filter(
    (item) =>
      item.size < 0.75 * root.size &&
      item.x1 < root.x1 &&
      middleX(item) > root.x0 - 0.5 * root.size &&
      middleY(item) > root.y0 - root.size &&
      middleY(item) < middleY(root)
  )
  return degree.some(({ x1 }) => x1 > root.x0) ? degree : []
}

/** What a bar puts together, and the signs that are used up by it. */
interface Built {
  readonly node: HtmlElement
  readonly baseline: number
  readonly taken: ReadonlyArray<Item>
}

/** A root, a fraction, or overlined and underlined signs; `inside` parses a part with the bars in it. */
export const built = (
  items: ReadonlyArray<Item>,
  bar: Box,
  inside: (part: ReadonlyArray<Item>) => HtmlElement
): Built | undefined => {
  const root = rootAt(items, bar)
  if (root !== undefined) {
    const reach = middleY(bar) + 0.6 * root.size + Math.max(root.size, root.y1 - root.y0)
    const others = items.filter((item) => item !== root && item.baseline < reach)
    const under = besideBar(others, bar, false)
    if (under.length === 0) return undefined
    const degree = degreeOf(
      others.filter((item) => !under.includes(item)),
      root
    )
    const node =
      degree.length === 0
        ? element("msqrt", {}, [inside(under)])
        : element("mroot", {}, [inside(under), inside(degree)])
    return { node, baseline: mainLine(under), taken: [root, ...under, ...degree] }
  }
  const [above, below] = halvesAt(items, bar)
  const taken = [...above, ...below]
  if (taken.length === 0) return undefined
  if (above.length > 0 && below.length > 0) {
    const size = mainSize(taken)
    const node = element("mfrac", {}, [inside(above), inside(below)])
    return { node, baseline: middleY(bar) + AXIS * size, taken }
  }
  const node =
    above.length > 0
      ? element("munder", { accentunder: "true" }, [inside(above), element("mo", {}, ["_"])])
      : element("mover", { accent: "true" }, [inside(below), element("mo", {}, ["¯"])])
  return { node, baseline: mainLine(taken), taken }
}

/** Bars of one height differ by less, in font sizes. */
const SAME_HEIGHT = 0.14

/** Whether a fraction, however small, has its bar where those of the line are. */
export const isLevelFraction = (one: Item, baseline: number, size: number): boolean =>
  one.node.name === "mfrac" &&
  Math.abs(one.baseline - AXIS * one.size - baseline + AXIS * size) < SAME_HEIGHT * size
