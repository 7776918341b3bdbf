import type { FormField } from "../../../model/page-content.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { type Matrix, mapBox, roundBox } from "./geometry.ts"

const WIDGET = 20
/** Limits on annotations of a page that are examined, and on fields that are read. */
const MAX_ANNOTATIONS = 20_000
const MAX_FIELDS = 2_000
/** Limits on options of a page's fields, and on characters of their texts. */
const MAX_OPTIONS = 10_000
const MAX_CHARACTERS = 4_000_000
const MAX_NAME = 2_000
const MAX_LENGTH = 100_000

// Annotation flags: hidden, and not to be shown.
const UNSEEN = 2 | 32
// Field flags, common ones and those of text fields and choices (ISO 32000-1, 12.7.3 and 12.7.4).
const READ_ONLY = 1
const REQUIRED = 2
const MULTILINE = 1 << 12
const PASSWORD = 1 << 13

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

/** What may still be read of a page's fields. */
interface Left {
  options: number
  characters: number
}

/** Reads one of a widget's texts into a buffer. */
type Write = (buffer: number, size: number) => number

const textOf = ({ memory }: Pdfium, left: Left, write: Write): string => {
  if (left.characters <= 0) return ""
  const text = memory.utf16(write)
  left.characters -= text.length
  return text.replaceAll("\0", "").replaceAll(/\r\n?/g, "\n")
}

const maxLengthOf = ({ call, memory }: Pdfium, widget: number): number | undefined => {
  const known = memory.withString(
    "MaxLen",
    (key) => call.FPDFAnnot_GetNumberValue(widget, key, memory.scratch) !== 0
  )
  const length = known ? Math.floor(memory.float(memory.scratch)) : 0
  return length > 0 && length < MAX_LENGTH ? length : undefined
}

const optionsOf = (pdfium: Pdfium, form: number, widget: number, left: Left) => {
  const { call } = pdfium
  const count = Math.min(left.options, Math.max(0, call.FPDFAnnot_GetOptionCount(form, widget)))
  left.options -= count
  const options: Array<string> = []
  const chosen: Array<string> = []
  for (let at = 0; at < count; at++) {
    const option = textOf(pdfium, left, (buffer, size) =>
      call.FPDFAnnot_GetOptionLabel(form, widget, at, buffer, size)
    )
    options.push(option)
    if (call.FPDFAnnot_IsOptionSelected(form, widget, at) !== 0) chosen.push(option)
  }
  // One alone is the field's value.
  return chosen.length > 1 ? { options, chosen } : { options }
}

const readField = (
  pdfium: Pdfium,
  form: number,
  widget: number,
  { left, matrix }: { readonly left: Left; readonly matrix: Matrix }
): FormField | undefined => {
  const { call, memory } = pdfium
  const kind = KINDS[call.FPDFAnnot_GetFormFieldType(form, widget)]
  if (kind === undefined || (call.FPDFAnnot_GetFlags(widget) & UNSEEN) !== 0) return undefined
  if (call.FPDFAnnot_GetRect(widget, memory.scratch) === 0) return undefined
  const [x0, y1, x1, y0] = [0, 4, 8, 12].map((offset) => memory.float(memory.scratch + offset))
  const box = mapBox(matrix, x0 ?? 0, y0 ?? 0, x1 ?? 0, y1 ?? 0)
  if (!Number.isFinite(box.x0 + box.y0 + box.x1 + box.y1)) return undefined
  const text = (write: Write) => textOf(pdfium, left, write)
  const label = text((buffer, size) => call.FPDFAnnot_GetFormFieldAlternateName(form, widget, buffer, size))
  const flags = call.FPDFAnnot_GetFormFieldFlags(form, widget)
  const isText = kind === "text"
  const maxLength = isText ? maxLengthOf(pdfium, widget) : undefined
  const secret = isText && (flags & PASSWORD) !== 0
  return {
    box: roundBox(box),
    kind,
    name: text((buffer, size) => call.FPDFAnnot_GetFormFieldName(form, widget, buffer, size)).slice(
      0,
      MAX_NAME
    ),
    label: label === "" ? undefined : label.slice(0, MAX_NAME),
    value: secret ? "" : text((buffer, size) => call.FPDFAnnot_GetFormFieldValue(form, widget, buffer, size)),
    checked: (kind === "checkbox" || kind === "radio") && call.FPDFAnnot_IsChecked(form, widget) !== 0,
    ...optionsOf(pdfium, form, widget, left),
    ...((flags & REQUIRED) !== 0 ? { required: true } : {}),
    ...((flags & READ_ONLY) !== 0 ? { readOnly: true } : {}),
    ...(isText && (flags & MULTILINE) !== 0 ? { multiline: true } : {}),
    ...(maxLength === undefined ? {} : { maxLength })
  }
}

/** The page's form fields that are shown; `form` is pdfium's form environment. */
export const readFields = (
  pdfium: Pdfium,
  form: number,
  page: number,
  matrix: Matrix
): ReadonlyArray<FormField> => {
  const { call } = pdfium
  const fields: Array<FormField> = []
  const left: Left = { options: MAX_OPTIONS, characters: MAX_CHARACTERS }
  const count = Math.min(MAX_ANNOTATIONS, call.FPDFPage_GetAnnotCount(page))
  for (let at = 0; at < count && fields.length < MAX_FIELDS; at++) {
    const annotation = call.FPDFPage_GetAnnot(page, at)
    if (annotation === 0) continue
    if (call.FPDFAnnot_GetSubtype(annotation) === WIDGET) {
      const field = readField(pdfium, form, annotation, { left, matrix })
      if (field !== undefined) fields.push(field)
    }
    call.FPDFPage_CloseAnnot(annotation)
  }
  return fields
}
