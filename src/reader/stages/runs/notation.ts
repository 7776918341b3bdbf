import { countUp } from "../../model/lists.ts"
import type { Box, Drawing, FontFace, PageContent, TextRun } from "../../model/page-content.ts"
import { THIN } from "./strokes.ts"

/** Faces of notes, rests and clefs: those of LilyPond, MuseScore, Finale, Sibelius, Dorico and MusiXTeX. Their codes are no letters. */
const MUSICAL =
  /^(?:Emmentaler|Feta|Gonville|Gootville|Bravura|Leland|Petaluma|Sebastian|Finale(?:Maestro|Jazz|Broadway|Engraver|Legacy|Ash)|Maestro|Petrucci|Sonata|MScore|Opus|Helsinki|Norfolk|Inkpen2|Reprise|musix\d|xsl[du])(?!.*(?:Text|Chords))/i

/** A note's height above and below its line, in font sizes: four spaces of a staff. */
const NOTE = 0.3

const noteBox = ({ baseline, box: { x0, x1 }, size }: TextRun): Box => ({
  x0,
  x1,
  y0: baseline - NOTE * size,
  y1: baseline + NOTE * size
})

/** Lines of a staff. */
const STAFF = 5

/** Where a line begins and ends across the page. */
export const endsOf = ({ x0, x1 }: Box): string => `${Math.round(x0)} ${Math.round(x1)}`

/** From where to where the lines of staffs go: five or more that begin and end alike. */
export const staffsOf = (drawings: ReadonlyArray<Drawing>): ReadonlySet<string> => {
  const lines = new Map<string, number>()
  for (const { box } of drawings) if (box.y1 - box.y0 < THIN) countUp(lines, endsOf(box))
  return new Set([...lines].flatMap(([ends, found]) => (found >= STAFF ? [ends] : [])))
}

/** Whether a drawing is a note of music. */
export const isNote = (drawing: Drawing): boolean => drawing.kind === "path" && drawing.note === true

/**
 * Turns musical notes on staff lines into drawings. Without such lines the text of a musical face stays text: a face of
 * letters may have the same name.
 */
export const withDrawnNotes = (page: PageContent, fonts: ReadonlyArray<FontFace>): PageContent => {
  const musical = new Set(fonts.flatMap(({ name }, at) => (MUSICAL.test(name) ? [at] : [])))
  if (musical.size === 0 || !page.runs.some(({ font }) => musical.has(font))) return page
  if (staffsOf(page.drawings).size === 0) return page
  const notes = page.runs.filter(({ font }) => musical.has(font))
  return {
    ...page,
    runs: page.runs.filter(({ font }) => !musical.has(font)),
    drawings: [
      ...page.drawings,
      ...notes.map((note) => ({
        kind: "path" as const,
        box: noteBox(note),
        stroked: false,
        filled: true,
        curved: true,
        note: true,
        color: note.color,
        mcid: note.mcid,
        artifact: note.artifact
      }))
    ]
  }
}
