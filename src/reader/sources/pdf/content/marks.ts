import { textOf } from "../engine/pdf-objects.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { isInOffLayer, type Layers } from "./layers.ts"

/** What the marked content around a page object declares. */
export interface Mark {
  readonly mcid: number | undefined
  readonly artifact: boolean
  /** What the words are short for. */
  readonly expansion?: string
  /** The order of the content is in doubt. */
  readonly suspect?: boolean
}

export const UNMARKED: Mark = { mcid: undefined, artifact: false }
/** Mark of content in a layer that is switched off, and therefore invisible. */
export const OFF: Mark = { mcid: undefined, artifact: true }

/** Longest expansion that is kept. */
const LONGEST_EXPANSION = 200

const expansionOf = ({ call, memory }: Pdfium, mark: number): string | undefined =>
  memory.withString("E", (key) => {
    if (call.FPDFPageObjMark_GetParamValueType(mark, key) === 0) return undefined
    const bytes = memory.bytesBy((buffer, size, length) =>
      call.FPDFPageObjMark_GetParamBlobValue(mark, key, buffer, size, length)
    )
    const text = textOf(bytes).trim()
    return text === "" || text.length > LONGEST_EXPANSION ? undefined : text
  })

/** Marks around one object; more are nested by mistake or malice. */
const MAX_MARKS = 32

/**
 * The marks of an object in its content stream; {@link UNMARKED} itself where it has no marks, {@link OFF} itself in a
 * layer that is off.
 */
export const markOf = (pdfium: Pdfium, object: number, layers: Layers): Mark => {
  const { call, memory } = pdfium
  const count = Math.min(MAX_MARKS, call.FPDFPageObj_CountMarks(object))
  if (count <= 0) return UNMARKED
  const mcid = call.FPDFPageObj_GetMarkedContentID(object)
  let artifact = false
  let suspect = false
  let expansion: string | undefined
  for (let at = 0; at < count; at++) {
    const mark = call.FPDFPageObj_GetMark(object, at)
    const name = memory.utf16By((buffer, size, length) =>
      call.FPDFPageObjMark_GetName(mark, buffer, size, length)
    )
    if (name === "OC" && isInOffLayer(pdfium, mark, layers)) return OFF
    artifact ||= name === "Artifact" && mcid < 0
    suspect ||= name === "TagSuspect"
    if (name === "Span") expansion ??= expansionOf(pdfium, mark)
  }
  if (mcid < 0 && !artifact && !suspect && expansion === undefined) return UNMARKED
  const more = { ...(suspect && { suspect }), ...(expansion !== undefined && { expansion }) }
  return { mcid: mcid < 0 ? undefined : mcid, artifact, ...more }
}

/** The mark of an object within others: its own, unless it has none, or they are off. */
export const markWithin = (own: Mark, outer: Mark): Mark => (outer === OFF || own === UNMARKED ? outer : own)
