import type { Box, FontFace, PageContent, TextRun } from "../../page-content.ts"

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

/** A page whose notes of music are drawings, as the lines that they stand on are, instead of text. */
export const withDrawnNotes = (page: PageContent, fonts: ReadonlyArray<FontFace>): PageContent => {
  const musical = new Set(fonts.flatMap(({ name }, at) => (MUSICAL.test(name) ? [at] : [])))
  if (musical.size === 0 || !page.runs.some(({ font }) => musical.has(font))) return page
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
