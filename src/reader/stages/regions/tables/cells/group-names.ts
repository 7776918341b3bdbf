import { least } from "../../../../model/lists.ts"
import { isBoldLine } from "../../../lines/line.ts"
import { ALL_ITALIC } from "../../../lines/paragraphs.ts"
import { type Segment, piecesOf } from "../../../lines/segment.ts"
import type { Row } from "./table-cells.ts"

const facesOf = (cell: ReadonlyArray<Segment>): ReadonlyArray<number> =>
  piecesOf(cell).map(({ run }) => run.font)

/**
 * The lines among a table's that name the group of rows below them: alone at the left, with a row right below, and set in bold or in
 * italics in a face that no row begins with. Such a name is above all columns, however short it is.
 */
export const groupNames = (rows: ReadonlyArray<Row>): ReadonlySet<Row> => {
  const names = rows.filter(
    ({ cells, line }, at) =>
      at > 0 &&
      cells.length === 1 &&
      (rows[at + 1]?.cells.length ?? 0) > 1 &&
      (isBoldLine(line) || line.italic > ALL_ITALIC)
  )
  if (names.length === 0) return new Set()
  const [, ...body] = rows.filter(({ cells }) => cells.length > 1)
  const left = least(body.map(({ line }) => line.x0))
  const faces = new Set(body.flatMap(({ cells: [first = []] }) => facesOf(first)))
  return new Set(
    names.filter(
      ({ cells: [cell = []], line }) =>
        line.x0 < left + line.size && !facesOf(cell).some((face) => faces.has(face))
    )
  )
}
