import type { Box, PageContent, TextRun } from "../../model/page-content.ts"

/** How far off a quarter text may be written, degrees, as a page is that was laid askew on a scanner. */
const ASKEW = 15

/**
 * Quarter turns; 0 is horizontal. Slanted text, such as a watermark, is in no line of the text: it counts as turned.
 */
export const quarterOf = (angle: number): number => {
  const quarter = Math.round(angle / 90) * 90
  if (Math.abs(angle - quarter) <= ASKEW) return quarter % 360
  return angle % 180 < 90 ? 90 : 270
}

const uprightBox = ({ x0, x1, y0, y1 }: Box, turn: number): Box => {
  switch (turn) {
    case 90:
      return { x0: y0, y0: -x1, x1: y1, y1: -x0 }
    case 180:
      return { x0: -x1, y0: -y1, x1: -x0, y1: -y0 }
    case 270:
      return { x0: -y1, y0: x0, x1: -y0, y1: x1 }
    default:
      return { x0, y0, x1, y1 }
  }
}

/** Turns a run that is written upwards, downwards or upside down into a horizontal one. */
export const uprightRun = (run: TextRun, turn: number): TextRun => {
  const box = uprightBox(run.box, turn)
  // The baseline of turned text is not known: a fifth of the height is below it.
  const baseline = turn === 180 ? -run.baseline : turn === 0 ? run.baseline : (box.y0 + 4 * box.y1) / 5
  return { ...run, angle: 0, box, baseline }
}

/** A page that is written sideways, upright: its rules, pictures, links and fields are turned with the text. */
export const uprightPage = (page: PageContent, turn: number): PageContent => {
  const sideways = turn === 90 || turn === 270
  const right = turn === 90 ? 0 : sideways ? page.height : page.width
  const down = turn === 270 ? 0 : sideways ? page.width : page.height
  const moved = <A extends { readonly box: Box }>(one: A): A => {
    const { x0, x1, y0, y1 } = uprightBox(one.box, turn)
    return { ...one, box: { x0: x0 + right, y0: y0 + down, x1: x1 + right, y1: y1 + down } }
  }
  return {
    ...page,
    width: sideways ? page.height : page.width,
    height: sideways ? page.width : page.height,
    runs: page.runs.map((run) => {
      const { baseline } = uprightRun(run, turn)
      const edges = run.edges.map((edge) => edge + right)
      return { ...moved(run), edges, angle: (run.angle - turn + 360) % 360, baseline: baseline + down }
    }),
    drawings: page.drawings.map(moved),
    groups: page.groups.map((box) => moved({ box }).box),
    links: page.links.map(moved),
    fields: page.fields.map(moved)
  }
}
