import type { Block } from "../../model/block.ts"
import { addTo } from "../../model/lists.ts"
import type { TextRun } from "../../model/page-content.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import type { Segment } from "../lines/segment.ts"
import { fieldsOf } from "../regions/fields/fields.ts"

/** Segments that are all of some marked content: a field may take them without tearing a paragraph. */
const wholeContents = (rows: PageAnalysis["rows"]): ReadonlySet<Segment> => {
  const holders = new Map<number, Segment | undefined>()
  const segments = rows.flatMap((row) => row.segments)
  const idsOf = (segment: Segment) => segment.pieces.map(({ run }) => run.mcid ?? -1)
  for (const segment of segments)
    for (const id of idsOf(segment))
      holders.set(id, holders.has(id) && holders.get(id) !== segment ? undefined : segment)
  return new Set(segments.filter((segment) => idsOf(segment).every((id) => holders.get(id) === segment)))
}

/** The page's fields by the marked content next to them, the other fields, and the runs that became their labels. */
export const fieldsByContent = ({ page, rows }: PageAnalysis) => {
  const beside = new Map<number, Array<Block>>()
  const rest: Array<Block> = []
  const labels = new Set<TextRun>()
  if (page.fields.length === 0) return { beside, rest, labels }
  const { anchors, echoes, placed, taken } = fieldsOf(page.fields, rows, wholeContents(rows))
  for (const segment of taken) for (const { run } of segment.pieces) labels.add(run)
  for (const one of placed) {
    const mcid = anchors.get(one)?.pieces[0]?.run.mcid
    const { block } = one
    const shown = block.kind === "field" && echoes.has(one) ? { ...block, spoken: true } : block
    if (mcid === undefined) rest.push(shown)
    else addTo(beside, mcid, shown)
  }
  return { beside, rest, labels }
}
