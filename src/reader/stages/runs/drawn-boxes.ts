/** Boxes and ovals to be marked that are drawn and no form fields: which of them is marked is what the page says. */
import { countUp } from "../../model/lists.ts"
import type { Box, Drawing, PageContent, TextRun } from "../../model/page-content.ts"

/** Least and greatest side of a box, points. */
const [LEAST, GREATEST] = [6, 18]
/** Greatest difference of its sides, as a part of the longer one. */
const SQUARE = 0.15
/** Least longer side of an oval, points, and its greatest width by its height: a smaller one is a bullet. */
const LEAST_OVAL = 8
const LONG = 2.4
/** Least share of a page's ovals that have words next to them. Below it, they are dots of a drawing. */
const MOSTLY = 0.8
/** Greatest gap between a box and the words that it belongs to, in font sizes. */
const NEAR = 1.2
/** White space between them then, in font sizes. */
const SPACE = 0.3
/** Nearest that two boxes may be: nearer ones are a grid, points. */
const APART = 3
/** How much smaller a cross may be than its box, and how far it may reach beyond, points. */
const REACH = 2.5
/** Fewest boxes of a page, and most: fewer are a sign, more a drawing. */
const [FEWEST, MOST] = [2, 400]

type Path = Extract<Drawing, { readonly kind: "path" }>

const widthOf = ({ x0, x1 }: Box) => x1 - x0
const heightOf = ({ y0, y1 }: Box) => y1 - y0

const isBox = ({ box, curved, filled, stroked }: Path): boolean => {
  const [width, height] = [widthOf(box), heightOf(box)]
  const [least, greatest] = [Math.min(width, height), Math.max(width, height)]
  const isSquare = !filled && !curved && least >= LEAST && greatest - least <= SQUARE * greatest
  const isOval = curved && greatest >= LEAST_OVAL && least >= LEAST && width <= LONG * height
  return stroked && greatest <= GREATEST && (isSquare || isOval)
}

const isIn = (one: Box, box: Box): boolean =>
  one.x0 >= box.x0 - REACH && one.x1 <= box.x1 + REACH && one.y0 >= box.y0 - REACH && one.y1 <= box.y1 + REACH

const isNextTo = (one: Box, other: Box): boolean =>
  one.x0 < other.x1 + APART &&
  other.x0 < one.x1 + APART &&
  one.y0 < other.y1 + APART &&
  other.y0 < one.y1 + APART

/** Strokes that cross a box, or fill it in black. */
const isMark = ({ box, color, curved, filled }: Path, of: Path): boolean =>
  isIn(box, of.box) &&
  widthOf(box) > widthOf(of.box) / 3 &&
  heightOf(box) > heightOf(of.box) / 3 &&
  (of.curved ? filled && color === 0 : curved || (filled && color === 0))

/** The words that a box belongs to: right behind it on its line, else right before it. */
const wordsBeside = (box: Box, runs: ReadonlyArray<TextRun>): TextRun | undefined => {
  const middle = (box.y0 + box.y1) / 2
  const level = runs.filter((run) => run.angle === 0 && run.box.y0 < middle && run.box.y1 > middle)
  const near = (gap: number, { size }: TextRun) => gap > -1 && gap < NEAR * size
  return (
    level.find((run) => near(run.box.x0 - box.x1, run) && /[\p{L}\p{N}]/u.test(run.text)) ??
    level.find((run) => near(box.x0 - run.box.x1, run) && /[\p{L}\p{N}]/u.test(run.text))
  )
}

const isTick = ({ text }: TextRun) => /^\s*[xX✓✔✕✗✘]\s*$/u.test(text)

/** How high a letter is, in font sizes. */
const LETTER = 0.75

/** Where a letter is seen: its run is as high as the face's tallest sign, which is more than a box. */
const seen = ({ baseline, box, size }: TextRun): Box => ({
  ...box,
  y0: baseline - LETTER * size,
  y1: baseline
})

const holdsSign = (box: Box, runs: ReadonlyArray<TextRun>): boolean =>
  runs.some((run) => !isTick(run) && /\S/u.test(run.text) && isIn(seen(run), box))

/** Adds a run for each such box, and takes its drawing out. */
export const withDrawnBoxes = (page: PageContent): PageContent => {
  const paths = page.drawings.filter((drawing) => drawing.kind === "path")
  const found = paths.filter(isBox)
  if (found.length < FEWEST || found.length > MOST) return page
  const unlike = found.filter(
    ({ box }, at) => !found.some((other, index) => index < at && isIn(other.box, box))
  )
  const sides = new Map<number, number>()
  for (const { box } of unlike) countUp(sides, Math.round(widthOf(box)))
  const boxes = unlike.flatMap((shape) => {
    const { box } = shape
    const isAlone = unlike.every((other) => other.box === box || !isNextTo(other.box, box))
    const isKind = isAlone && (sides.get(Math.round(widthOf(box))) ?? 0) >= FEWEST
    // A sign in a circle is a number or a letter.
    const beside =
      isKind && !(shape.curved && holdsSign(box, page.runs)) ? wordsBeside(box, page.runs) : undefined
    return beside === undefined ? [] : [{ shape, box, beside }]
  })
  const ovals = unlike.filter(({ curved }) => curved).length
  const areOvals = boxes.filter(({ shape }) => shape.curved).length >= MOSTLY * ovals
  if (boxes.length < FEWEST || !areOvals) return page
  const taken = new Set<Drawing>()
  const ticks = new Set<TextRun>()
  const signs = boxes.map(({ beside, box, shape }): readonly [TextRun, TextRun] => {
    const marks = paths.filter((path) => isMark(path, shape))
    const written = page.runs.filter((run) => isTick(run) && isIn(seen(run), box))
    for (const path of [...marks, ...paths.filter((one) => isBox(one) && isIn(one.box, box))]) taken.add(path)
    for (const run of written) ticks.add(run)
    // As near as a word, so that no column begins between a box and its words.
    const near = SPACE * beside.size
    const x0 = beside.box.x1 < box.x0 ? Math.min(box.x0, beside.box.x1 + near) : box.x0
    const x1 = beside.box.x0 > box.x1 ? Math.max(box.x1, beside.box.x0 - near) : box.x1
    const sign = {
      ...beside,
      text: marks.length + written.length > 0 ? "☒" : "☐",
      box: { ...beside.box, x0, x1 },
      edges: [x0, x1],
      hyphenated: false
    }
    return [beside, sign]
  })
  // Tags have the runs of an element in their order: each box is next to its words.
  const by = Map.groupBy(signs, ([beside]) => beside)
  const withSigns = (run: TextRun): ReadonlyArray<TextRun> => {
    const own = (by.get(run) ?? []).map(([, sign]) => sign)
    const [before, after] = [
      own.filter((one) => one.box.x0 < run.box.x0),
      own.filter((one) => one.box.x0 >= run.box.x0)
    ]
    return [...before, run, ...after]
  }
  return {
    ...page,
    drawings: page.drawings.filter((drawing) => !taken.has(drawing)),
    runs: page.runs.filter((run) => !ticks.has(run)).flatMap(withSigns)
  }
}
