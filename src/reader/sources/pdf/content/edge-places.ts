import type { Box, Drawing, PageLink } from "../../../model/page-content.ts"
import { tableFrames } from "../../../stages/regions/tables/grid/rules.ts"
import { strikePlaces } from "../../../stages/runs/strikes.ts"

/** Where a page's layout needs the places of single characters: under links, in tables, and where words may be struck out. */
export const edgePlaces = (
  links: ReadonlyArray<PageLink>,
  drawings: ReadonlyArray<Drawing>,
  { height, width }: { readonly width: number; readonly height: number }
): ReadonlyArray<{ readonly box: Box }> => [
  ...links,
  ...tableFrames(drawings, width, height),
  ...strikePlaces(drawings, width)
]
