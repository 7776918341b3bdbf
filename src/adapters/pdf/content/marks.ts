import type { Pdfium } from "../engine/pdfium.ts"

/** What the marked content around a page object declares. */
export interface Mark {
  readonly mcid: number | undefined
  readonly artifact: boolean
}

export const UNMARKED: Mark = { mcid: undefined, artifact: false }

/** Marks around one object; more are nested by mistake or malice. */
const MAX_MARKS = 32

/** The marks of an object's own content stream; {@link UNMARKED} itself where there are none. */
export const markOf = ({ call, memory }: Pdfium, object: number): Mark => {
  const count = Math.min(MAX_MARKS, call.FPDFPageObj_CountMarks(object))
  if (count <= 0) return UNMARKED
  const mcid = call.FPDFPageObj_GetMarkedContentID(object)
  let artifact = false
  for (let at = 0; at < count && !artifact && mcid < 0; at++) {
    const mark = call.FPDFPageObj_GetMark(object, at)
    artifact =
      memory.utf16By((buffer, size, length) => call.FPDFPageObjMark_GetName(mark, buffer, size, length)) ===
      "Artifact"
  }
  return mcid < 0 && !artifact ? UNMARKED : { mcid: mcid < 0 ? undefined : mcid, artifact }
}
