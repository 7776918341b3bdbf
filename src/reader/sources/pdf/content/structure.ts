import { createHash } from "node:crypto"

import type { StructureElement } from "../../../model/page-content.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import type { Tags } from "./roles.ts"

/** Elements within elements; deeper trees are loops or malice. */
const MAX_DEPTH = 100
/** Elements of one page. */
const MAX_ELEMENTS = 50_000

// FPDF_OBJECT_…
const BOOLEAN = 1
const NUMBER = 2
const STRING = 3
const NAME = 4

/**
 * The element's number in the document: 52 bits of a digest of its path in the tree, counted from the root. pdfium
 * keeps the places of children on other pages, so the number does not depend on which pages are read.
 */
const idOf = (place: string): number =>
  Number(createHash("sha1").update(place).digest().readBigUInt64BE() >> 12n)

const readAttributes = (
  { call, memory }: Pdfium,
  element: number
): Readonly<Record<string, string | number>> => {
  const attributes: Record<string, string | number> = {}
  const { scratch } = memory
  const count = Math.min(16, call.FPDF_StructElement_GetAttributeCount(element))
  for (let at = 0; at < count; at++) {
    const map = call.FPDF_StructElement_GetAttributeAtIndex(element, at)
    const entries = map === 0 ? 0 : Math.min(64, call.FPDF_StructElement_Attr_GetCount(map))
    for (let entry = 0; entry < entries; entry++) {
      if (call.FPDF_StructElement_Attr_GetName(map, entry, scratch + 64, 64, scratch) === 0) continue
      const length = memory.uint(scratch)
      if (length < 2 || length > 64) continue
      const name = Buffer.from(memory.slice(scratch + 64, length - 1)).toString("latin1")
      // The owner of the attributes (`Table`, `List`) is not part of their names.
      if (name === "O") continue
      const value = call.FPDF_StructElement_Attr_GetValue(map, scratch + 64)
      const type = call.FPDF_StructElement_Attr_GetType(value)
      if (type === NUMBER && call.FPDF_StructElement_Attr_GetNumberValue(value, scratch) !== 0)
        attributes[name] = memory.float(scratch)
      else if (type === BOOLEAN && call.FPDF_StructElement_Attr_GetBooleanValue(value, scratch) !== 0)
        attributes[name] = memory.int(scratch) & 1
      else if (type === STRING || type === NAME)
        attributes[name] = memory.utf16By((buffer, size, out) =>
          call.FPDF_StructElement_Attr_GetStringValue(value, buffer, size, out)
        )
    }
  }
  return attributes
}

/** A cell without content is on no page, so that pdfium keeps its place alone; without one the cells behind it would move up. */
const emptyCell = (place: string): StructureElement => ({
  type: "TD",
  alt: undefined,
  actualText: undefined,
  lang: undefined,
  attributes: {},
  id: idOf(place),
  children: []
})

/** The structure tree as far as it touches a page; empty where the document is not tagged. */
export const readStructure = (
  pdfium: Pdfium,
  page: number,
  { roleOf }: Tags
): ReadonlyArray<StructureElement> => {
  const { call, memory } = pdfium
  let left = MAX_ELEMENTS
  const textOf = (read: (buffer: number, size: number) => number) => {
    const text = memory.utf16(read)
    return text === "" ? undefined : text
  }

  const readElement = (element: number, place: string, depth: number): StructureElement => {
    const children: Array<StructureElement | { readonly mcid: number }> = []
    const type = roleOf(
      memory.utf16((buffer, size) => call.FPDF_StructElement_GetType(element, buffer, size))
    )
    const count = depth < MAX_DEPTH ? call.FPDF_StructElement_CountChildren(element) : 0
    for (let at = 0; at < count && left > 0; at++) {
      const child = call.FPDF_StructElement_GetChildAtIndex(element, at)
      if (child !== 0) {
        left--
        children.push(readElement(child, `${place}.${at}`, depth + 1))
        continue
      }
      const mcid = call.FPDF_StructElement_GetChildMarkedContentID(element, at)
      if (mcid >= 0) children.push({ mcid })
      else if (type === "TR") children.push(emptyCell(`${place}.${at}`))
    }
    return {
      type,
      alt: textOf((buffer, size) => call.FPDF_StructElement_GetAltText(element, buffer, size)),
      actualText: textOf((buffer, size) => call.FPDF_StructElement_GetActualText(element, buffer, size)),
      lang: textOf((buffer, size) => call.FPDF_StructElement_GetLang(element, buffer, size)),
      attributes: readAttributes(pdfium, element),
      id: idOf(place),
      children
    }
  }

  const tree = call.FPDF_StructTree_GetForPage(page)
  if (tree === 0) return []
  try {
    const roots: Array<StructureElement> = []
    const count = call.FPDF_StructTree_CountChildren(tree)
    for (let at = 0; at < count && left > 0; at++) {
      const root = call.FPDF_StructTree_GetChildAtIndex(tree, at)
      if (root === 0) continue
      left--
      roots.push(readElement(root, String(at), 0))
    }
    return roots
  } finally {
    call.FPDF_StructTree_Close(tree)
  }
}
