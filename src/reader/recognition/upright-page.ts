import type { Box, FormField, PageContent, PageLink, TextRun } from "../model/page-content.ts"
import type { RecognisedLine, RecognisedText, Turn } from "../model/recognised-text.ts"

/** A line's height, from descenders to ascenders, as a share of its font size. */
const HEIGHT = 0.92
/** Sizes that differ by less are one: the height of a line depends on its letters. */
const SAME_SIZE = 0.13
/** Characters below which a line's size is unreliable: it gets the most frequent one. */
const FEW = 4
/** Sizes are multiples of this, points. */
const STEP = 0.5
/** A word of which more lies under text of the page's own is that text. */
const REPEATED = 0.5
/** Height of the rows in which text of the page's own is looked up, points. */
const ROW = 12
const MAX_ROWS = 1_300

/** Moves a point of a page to the page turned upright and straightened. */
type Move = (x: number, y: number) => readonly [x: number, y: number]

const moveOf = ({ height, width }: PageContent, turn: Turn, skew: number): Move => {
  const [across, down] = turn % 180 === 0 ? [width, height] : [height, width]
  const [cos, sin] = [Math.cos(skew), Math.sin(skew)]
  return (x, y) => {
    const [tx, ty] =
      turn === 90
        ? [height - y, x]
        : turn === 180
          ? [width - x, height - y]
          : turn === 270
            ? [y, width - x]
            : [x, y]
    // Turned back around the middle.
    const [dx, dy] = [tx - across / 2, ty - down / 2]
    return [across / 2 + dx * cos + dy * sin, down / 2 - dx * sin + dy * cos]
  }
}

/** A box keeps its size; its middle moves. */
const movedBox = (box: Box, move: Move, turn: Turn): Box => {
  const [x, y] = move((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
  const [across, down] = [(box.x1 - box.x0) / 2, (box.y1 - box.y0) / 2]
  const [w, h] = turn % 180 === 0 ? [across, down] : [down, across]
  return { x0: x - w, y0: y - h, x1: x + w, y1: y + h }
}

/** The font size of each line, points: heights that are nearly the same are the same, the commonest first. */
const sizesOf = (
  lines: ReadonlyArray<RecognisedLine>,
  scale: number
): ReadonlyMap<RecognisedLine, number> => {
  const weights = new Map<number, number>()
  const raw = lines.map((line) => {
    const size = Math.max(STEP, Math.round(line.height / scale / HEIGHT / STEP) * STEP)
    const characters = line.words.reduce((sum, { text }) => sum + text.length, 0)
    weights.set(size, (weights.get(size) ?? 0) + characters)
    return { line, size, characters }
  })
  const common: Array<number> = []
  for (const [size] of [...weights].sort(([a, m], [b, n]) => n - m || a - b))
    if (!common.some((other) => Math.abs(other / size - 1) < SAME_SIZE)) common.push(size)
  return new Map(
    raw.map(({ characters, line, size }) => [
      line,
      characters < FEW
        ? (common[0] ?? size)
        : (common.find((other) => Math.abs(other / size - 1) < SAME_SIZE) ?? size)
    ])
  )
}

const HYPHEN_AT_END = /\p{L}[-\u2010\u00ac]$/u

/** Each line's words as runs, a word cut at its end joined with the next line's. */
const runsOf = (text: RecognisedText, scale: number): Array<TextRun> => {
  const sizes = sizesOf(text.lines, scale)
  return text.lines.flatMap((line, at) => {
    const next = text.lines[at + 1]?.words[0]?.text ?? ""
    return line.words.map((word, place): TextRun => {
      const isCut = place === line.words.length - 1 && HYPHEN_AT_END.test(word.text) && /^\p{Ll}/u.test(next)
      const box = {
        x0: word.box.x0 / scale,
        y0: word.box.y0 / scale,
        x1: word.box.x1 / scale,
        y1: word.box.y1 / scale
      }
      return {
        text: isCut ? word.text.slice(0, -1) : word.text,
        box,
        baseline: line.baseline / scale,
        edges: [],
        font: -1,
        size: sizes.get(line) ?? STEP,
        angle: 0,
        color: 0,
        mcid: undefined,
        artifact: false,
        hyphenated: isCut,
        invisible: false
      }
    })
  })
}

const overlap = (a: Box, b: Box): number =>
  Math.max(0, Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0)) *
  Math.max(0, Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0))

/** Without those that lie under the page's own text. */
const notUnder = (runs: ReadonlyArray<TextRun>, own: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => {
  if (own.length === 0) return runs
  const rows = new Map<number, Array<TextRun>>()
  const row = (y: number) => Math.min(MAX_ROWS, Math.max(0, Math.floor(y / ROW)))
  for (const run of own)
    for (let y = row(run.box.y0); y <= row(run.box.y1); y++) {
      const same = rows.get(y)
      if (same === undefined) rows.set(y, [run])
      else same.push(run)
    }
  return runs.filter(({ box }) => {
    const area = (box.x1 - box.x0) * (box.y1 - box.y0)
    const near = rows.get(row((box.y0 + box.y1) / 2)) ?? []
    return !near.some((other) => overlap(box, other.box) > REPEATED * area)
  })
}

/**
 * The page as it reads: upright and straight, its words those that were recognised and, with `keepsOwn`, its own visible ones. The
 * picture that they were read from is no part of it, nor is its structure, which knows nothing of them.
 */
export const uprightPage = (page: PageContent, text: RecognisedText, keepsOwn: boolean): PageContent => {
  const { skew, turn } = text
  const move = moveOf(page, turn, skew)
  const [width, height] = turn % 180 === 0 ? [page.width, page.height] : [page.height, page.width]
  const scale = text.width / width
  const own = keepsOwn
    ? page.runs
        .filter(({ artifact, invisible }) => !artifact && !invisible)
        .map((run): TextRun => {
          const box = movedBox(run.box, move, turn)
          const baseline = turn === 0 ? move((run.box.x0 + run.box.x1) / 2, run.baseline)[1] : box.y1
          return { ...run, box, baseline, angle: (run.angle - turn + 360) % 360, edges: [], mcid: undefined }
        })
    : []
  return {
    ...page,
    width,
    height,
    runs: [...own, ...notUnder(runsOf(text, scale), own)],
    drawings: [],
    groups: [],
    links: page.links.map((link): PageLink => ({ ...link, box: movedBox(link.box, move, turn) })),
    fields: page.fields.map((field): FormField => ({ ...field, box: movedBox(field.box, move, turn) })),
    structure: []
  }
}
