import type { PdfObjects, PdfValue } from "../engine/pdf-objects.ts"

/** The types that ISO 32000-1 (14.8.4) and 32000-2 define, and those that pdfium names by itself. */
const STANDARD: ReadonlySet<string> = new Set(
  (
    "Document DocumentFragment Part Art Sect Div BlockQuote Caption TOC TOCI Index NonStruct Private Aside Title Sub P H H1 H2 H3 H4 H5 H6 " +
    "L LI Lbl LBody Table TR TH TD THead TBody TFoot Span Quote Note FENote Reference BibEntry Code Link Annot Ruby RB RT RP Warichu WT WP " +
    "Figure Formula Form Em Strong Artifact StructTreeRoot"
  ).split(" ")
)

/** Longest chain of roles; longer ones are loops. */
const MAX_CHAIN = 20

const nameIn = (value: PdfValue): string | undefined =>
  typeof value === "string" && value.startsWith("/") ? value.slice(1) : undefined

/** What a document says of its tags. */
export interface Tags {
  /** What a type of the document's own stands for, by its map of roles. */
  readonly roleOf: (type: string) => string
  /** Whether some may be wrong by the document's own account. */
  readonly areSuspect: () => boolean
}

const readSuspects = (objects: PdfObjects): boolean =>
  objects.entry(objects.entry(objects.catalogue, "/MarkInfo"), "/Suspects") === "true"

/** Looked up once a page of a tagged document is read. */
export const tagsOf = (objects: PdfObjects): Tags => {
  let suspects: boolean | undefined
  return { roleOf: rolesOf(objects), areSuspect: () => (suspects ??= readSuspects(objects)) }
}

/** pdfium follows one step of the map; a role may lead to another one. Looked up once a type is none of the standard's. */
const rolesOf = (objects: PdfObjects): Tags["roleOf"] => {
  let map: PdfValue
  let isRead = false
  return (type) => {
    let role = type
    for (let steps = 0; !STANDARD.has(role); steps++) {
      if (!isRead) map = objects.entry(objects.entry(objects.catalogue, "/StructTreeRoot"), "/RoleMap")
      isRead = true
      const next = nameIn(objects.entry(map, `/${role}`))
      if (next === undefined || steps === MAX_CHAIN) return steps === MAX_CHAIN ? type : role
      role = next
    }
    return role
  }
}
