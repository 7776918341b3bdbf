import type { FormField } from "../../../domain/conversion/page-content.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { type Matrix, mapBox, roundBox } from "./geometry.ts"

const WIDGET = 20
/** Annotations of a page that are looked at, and options of a choice. */
const MAX_ANNOTATIONS = 20_000
const MAX_OPTIONS = 2_000

/** FPDF_FORMFIELD_… as the product calls them. */
const KINDS: Readonly<Record<number, FormField["kind"]>> = {
  1: "button",
  2: "checkbox",
  3: "radio",
  4: "choice",
  5: "choice",
  6: "text",
  7: "signature"
}

const readField = (
  { call, memory }: Pdfium,
  form: number,
  widget: number,
  matrix: Matrix
): FormField | undefined => {
  const kind = KINDS[call.FPDFAnnot_GetFormFieldType(form, widget)]
  if (kind === undefined || call.FPDFAnnot_GetRect(widget, memory.scratch) === 0) return undefined
  const [left, top, right, bottom] = [0, 4, 8, 12].map((offset) => memory.float(memory.scratch + offset))
  const box = mapBox(matrix, left ?? 0, bottom ?? 0, right ?? 0, top ?? 0)
  if (!Number.isFinite(box.x0 + box.y0 + box.x1 + box.y1)) return undefined
  const label = memory.utf16((buffer, size) =>
    call.FPDFAnnot_GetFormFieldAlternateName(form, widget, buffer, size)
  )
  const options = Math.min(MAX_OPTIONS, Math.max(0, call.FPDFAnnot_GetOptionCount(form, widget)))
  return {
    box: roundBox(box),
    kind,
    name: memory.utf16((buffer, size) => call.FPDFAnnot_GetFormFieldName(form, widget, buffer, size)),
    label: label === "" ? undefined : label,
    value: memory.utf16((buffer, size) => call.FPDFAnnot_GetFormFieldValue(form, widget, buffer, size)),
    checked: (kind === "checkbox" || kind === "radio") && call.FPDFAnnot_IsChecked(form, widget) !== 0,
    options: Array.from({ length: options }, (_, at) =>
      memory.utf16((buffer, size) => call.FPDFAnnot_GetOptionLabel(form, widget, at, buffer, size))
    )
  }
}

/** The page's form fields; `form` is pdfium's form environment. */
export const readFields = (
  pdfium: Pdfium,
  form: number,
  page: number,
  matrix: Matrix
): ReadonlyArray<FormField> => {
  const { call } = pdfium
  const fields: Array<FormField> = []
  const count = Math.min(MAX_ANNOTATIONS, call.FPDFPage_GetAnnotCount(page))
  for (let at = 0; at < count; at++) {
    const annotation = call.FPDFPage_GetAnnot(page, at)
    if (annotation === 0) continue
    if (call.FPDFAnnot_GetSubtype(annotation) === WIDGET) {
      const field = readField(pdfium, form, annotation, matrix)
      if (field !== undefined) fields.push(field)
    }
    call.FPDFPage_CloseAnnot(annotation)
  }
  return fields
}
