import { isBoldLine, type Line } from "../lines/line.ts"
import type { Group } from "../lines/paragraphs.ts"
import { isNumbered } from "../lines/section-number.ts"
import { type DocumentProfile, levelOf } from "../profile/profile.ts"
import { styleKey } from "../profile/statistics.ts"
import { HARDLY_LARGER, MAX_LINES } from "./headings.ts"

/** Greatest white space within a stack of lines, in font sizes. */
const STACKED = 1.5

/** True when a group continues a stack: it has the style of the line above, at the usual line distance. */
const isStackedOn = ({ gap, lines: [line] }: Group, above: Line | undefined): boolean =>
  line !== undefined &&
  above !== undefined &&
  gap < STACKED &&
  styleKey(line.size, isBoldLine(line)) === styleKey(above.size, isBoldLine(above))

/**
 * Groups that are no headings, though bold or a little larger than text: as many lines in one style as the longest heading has, right
 * below each other and yet not one. An address, a list of what follows. What is larger and has no numbers is a title, and its lines.
 */
export const stackedGroups = (groups: ReadonlyArray<Group>, profile: DocumentProfile): ReadonlySet<Group> => {
  const stacked = new Set<Group>()
  let open: Array<Group> = []
  const close = () => {
    const all = open.reduce((sum, { lines }) => sum + lines.length, 0)
    if (open.length > 1 && all >= MAX_LINES) for (const group of open) stacked.add(group)
    open = []
  }
  for (const group of groups) {
    const [first] = group.lines
    if (!isStackedOn(group, open.at(-1)?.lines.at(-1))) close()
    if (first === undefined) continue
    if (first.size >= HARDLY_LARGER * profile.bodySize && !isNumbered(first.text)) continue
    if (levelOf(profile, first) !== undefined) open.push(group)
  }
  close()
  return stacked
}
