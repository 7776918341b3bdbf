import { isFixedPitchName } from "../../../model/page-content.ts"
import { readXml } from "./xml.ts"

/** What a paragraph's properties, its own or a style's, say of its place in the document. */
export interface ParagraphProperties {
  /** Level of an outline from 0; 9 is text. */
  readonly outline?: number
  /** The list that it is an item of; 0: of none. */
  readonly list?: number
  /** Level in that list, from 0. */
  readonly level?: number
}

/** A style, including the properties that it inherits. */
export interface Style extends ParagraphProperties {
  readonly name: string
  /** Its letters are monospaced. */
  readonly isCode: boolean
  readonly isBold: boolean
  /** Size of its letters, in points. */
  readonly size: number
  readonly isHidden: boolean
  /** Its paragraphs run from the right to the left. */
  readonly isFromRight: boolean
  /** A table's style that sets the first row off. */
  readonly hasHeadRow: boolean
  /** True for a table style that formats the first column differently. */
  readonly hasHeadColumn: boolean
}

interface Written extends ParagraphProperties {
  name?: string
  basedOn?: string
  isCode?: boolean
  isBold?: boolean
  size?: number
  isHidden?: boolean
  isFromRight?: boolean
  hasHeadRow?: boolean
  hasHeadColumn?: boolean
}

type Changing<A> = { -readonly [Key in keyof A]: A[Key] }

/** Longest chain of styles that are based on each other. */
const MAX_CHAIN = 20

/** What letters are large where nothing is said, points. */
const SIZE = 10

/** A style that the document does not have. */
const none = (size: number): Style => ({
  name: "",
  isCode: false,
  isBold: false,
  size,
  isHidden: false,
  isFromRight: false,
  hasHeadRow: false,
  hasHeadColumn: false
})

/** Whether a property is said to be off; named alone it is on. */
export const isOff = (value: string | undefined): boolean =>
  value !== undefined && /^(?:0|false|off)$/.test(value)

/** A number in an attribute; undefined where it is not a number. */
export const numberIn = (value: string | undefined): number | undefined =>
  value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : undefined

/** A size of letters, which is written in half points. */
const sizeIn = (value: string | undefined): number | undefined => {
  const halves = numberIn(value)
  return halves === undefined || halves === 0 ? undefined : halves / 2
}

/** Adds what an element inside of a paragraph's properties says. */
export const addProperty = (
  to: Changing<ParagraphProperties>,
  name: string,
  value: number | undefined
): void => {
  if (value === undefined) return
  if (name === "outlineLvl") to.outline = value
  if (name === "numId") to.list = value
  if (name === "ilvl") to.level = value
}

/** A heading's level in the outline, from 0; undefined for other paragraphs. */
export const outlineOf = (own: ParagraphProperties, style: Style): number | undefined => {
  const named = /^heading ([1-9])$/i.exec(style.name)?.[1]
  const outline = own.outline ?? style.outline ?? (named === undefined ? undefined : Number(named) - 1)
  return outline === undefined || outline > 8 ? undefined : outline
}

const styleFrom = (id: string, written: ReadonlyMap<string, Written>, size: number): Style => {
  const chain: Array<Written> = []
  let next = written.get(id)
  while (next !== undefined && chain.length < MAX_CHAIN) {
    chain.push(next)
    next = next.basedOn === undefined ? undefined : written.get(next.basedOn)
  }
  const [own] = chain
  if (own === undefined) return none(size)
  const outline = chain.find((style) => style.outline !== undefined)?.outline
  const listed = chain.find(({ list }) => list !== undefined)
  const level = chain.find((style) => style.level !== undefined)?.level
  return {
    name: own.name ?? "",
    isCode: chain.find(({ isCode }) => isCode !== undefined)?.isCode === true,
    isBold: chain.find(({ isBold }) => isBold !== undefined)?.isBold === true,
    size: chain.find((style) => style.size !== undefined)?.size ?? size,
    isHidden: chain.find(({ isHidden }) => isHidden !== undefined)?.isHidden === true,
    isFromRight: chain.find(({ isFromRight }) => isFromRight !== undefined)?.isFromRight === true,
    hasHeadRow: chain.some(({ hasHeadRow }) => hasHeadRow === true),
    hasHeadColumn: chain.some(({ hasHeadColumn }) => hasHeadColumn === true),
    ...(outline === undefined ? {} : { outline }),
    ...(listed?.list === undefined ? {} : { list: listed.list }),
    ...(level === undefined ? {} : { level })
  }
}

/** The styles of a document, by their ids. */
export type Styles = (id: string | undefined) => Style

/** No styles at all. */
export const NO_STYLES: Styles = () => none(SIZE)

/** Reads `styles.xml`. */
export const readStyles = async (bytes: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<Styles> => {
  const written = new Map<string, Written>()
  let style: Changing<Written> | undefined
  let normal: string | undefined
  // What is said of the end of a paragraph alone.
  let isAside = false
  let size = SIZE
  await readXml(bytes, {
    open: (name, attributes) => {
      const value = attributes.get("val")
      if (name === "pPr") isAside = true
      if (name === "style") {
        const id = attributes.get("styleId") ?? ""
        style = {}
        written.set(id, style)
        if (attributes.get("type") === "paragraph" && !isOff(attributes.get("default") ?? "0")) normal = id
      } else if (style === undefined) {
        if (name === "sz") size = sizeIn(value) ?? size
      } else if (name === "name") style.name = value ?? ""
      else if (name === "basedOn" && value !== undefined) style.basedOn = value
      else if (name === "rFonts" && style.isCode === undefined) {
        const font = attributes.get("ascii") ?? attributes.get("hAnsi")
        if (font !== undefined) style.isCode = isFixedPitchName(font)
      } else if (name === "b") style.isBold ??= !isOff(value)
      else if (name === "vanish" && !isAside) style.isHidden ??= !isOff(value)
      else if (name === "bidi") style.isFromRight ??= !isOff(value)
      else if (name === "sz") style.size ??= sizeIn(value) ?? size
      else if (name === "tblStylePr" && attributes.get("type") === "firstRow") style.hasHeadRow = true
      else if (name === "tblStylePr" && attributes.get("type") === "firstCol") style.hasHeadColumn = true
      else addProperty(style, name, numberIn(value))
    },
    close: (name) => {
      if (name === "pPr") isAside = false
      if (name === "style") style = undefined
    }
  })
  const known = new Map<string, Style>()
  return (id = normal) => {
    if (id === undefined) return none(size)
    const found = known.get(id) ?? styleFrom(id, written, size)
    known.set(id, found)
    return found
  }
}
