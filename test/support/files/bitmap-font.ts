import { type PdfWriter, ref } from "./pdf-writer.ts"

const LETTERS = Array.from("abcdefghijklmnopqrstuvwxyz")

/** A font of bitmaps without a name, by how far its letters from a to z move the pen; its codes 28, 159 and 255 have no names that tell what they are. */
export const bitmapFont = (writer: PdfWriter, widths: ReadonlyArray<number>): number => {
  const procedures = ["a28", ...LETTERS, "a159", "a255"].map((name, at) => {
    const glyph = writer.stream(`${widths[at - 1] ?? 52} 0 0 0 20 60 d1\n0 0 20 60 re f\n`)
    return `/${name} ${ref(glyph)}`
  })
  return writer.object(
    "<< /Type /Font /Subtype /Type3 /FontMatrix [.01 0 0 .01 0 0] /FontBBox [0 0 60 70] /FirstChar 28 /LastChar 255 " +
      `/Widths [52 ${"0 ".repeat(68)}${widths.join(" ")} ${"0 ".repeat(36)}52 ${"0 ".repeat(95)}52] /CharProcs << ${procedures.join(" ")} >> ` +
      `/Encoding << /Type /Encoding /Differences [28 /a28 97 ${LETTERS.map((letter) => `/${letter}`).join(" ")} 159 /a159 255 /a255] >> >>`
  )
}
