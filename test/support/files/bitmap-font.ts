import { type PdfWriter, ref } from "./pdf-writer.ts"

const LETTERS = Array.from("abcdefghijklmnopqrstuvwxyz")

/** A font of bitmaps without a name, by how far its letters from a to z move the pen; its code 28 has no name that tells what it is. */
export const bitmapFont = (writer: PdfWriter, widths: ReadonlyArray<number>): number => {
  const procedures = ["a28", ...LETTERS].map((name, at) => {
    const glyph = writer.stream(`${widths[at - 1] ?? 52} 0 0 0 20 60 d1\n0 0 20 60 re f\n`)
    return `/${name} ${ref(glyph)}`
  })
  return writer.object(
    "<< /Type /Font /Subtype /Type3 /FontMatrix [.01 0 0 .01 0 0] /FontBBox [0 0 60 70] /FirstChar 28 /LastChar 122 " +
      `/Widths [52 ${"0 ".repeat(68)}${widths.join(" ")}] /CharProcs << ${procedures.join(" ")} >> ` +
      `/Encoding << /Type /Encoding /Differences [28 /a28 97 ${LETTERS.map((letter) => `/${letter}`).join(" ")}] >> >>`
  )
}
