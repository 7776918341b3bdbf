import type { Archive } from "./package/archive.ts"
import type { WordParts } from "./package/package.ts"
import { type Relation, type RelationsOf, relationsPath } from "./package/relations.ts"
import { decodedXml } from "./package/xml.ts"
import { NOWHERE } from "./parts/part-attributes.ts"
import { escaped } from "./parts/part-output.ts"
import { type Known, rewritePart } from "./parts/rewrite-part.ts"

/** The archive interface of mammoth. */
interface MammothFile {
  readonly exists: (name: string) => boolean
  readonly read: (name: string, encoding?: string) => Promise<string | Uint8Array>
}

const KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
const WORDS = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
const CONTENT_TYPES = "[Content_Types].xml"
/** Parts that no document needs to have. */
const [LISTS, STYLES] = ["postlane/numbering.xml", "postlane/styles.xml"]

/** Relations as mammoth finds what they name, however the document says it. */
const relationsTo = (relations: ReadonlyArray<Relation>): string =>
  '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
  relations
    .map(({ id, kind, part, target }) => {
      const to = part === undefined ? target : `/${part}`
      return `<Relationship Id="${escaped(id)}" Type="${KINDS}${kind}" Target="${escaped(to)}"/>`
    })
    .join("") +
  "</Relationships>"

const ownRelation = (kind: string, part: string): Relation => ({
  id: `postlane-${kind}`,
  kind,
  target: "",
  part
})

/** The picture that is nowhere. */
const NO_PICTURE: Relation = { id: NOWHERE, kind: "image", target: "nowhere.png", part: undefined }

/** All that mammoth needs to know of lists, since it does not count their numbers: 1 is numbered, 2 is not. */
const lists = (): string => {
  const levels = (format: string) =>
    Array.from(
      { length: 9 },
      (_, level) => `<w:lvl w:ilvl="${level}"><w:numFmt w:val="${format}"/></w:lvl>`
    ).join("")
  const list = (id: number, format: string) =>
    `<w:abstractNum w:abstractNumId="${id}">${levels(format)}</w:abstractNum>` +
    `<w:num w:numId="${id}"><w:abstractNumId w:val="${id}"/></w:num>`
  return `<w:numbering ${WORDS}>${list(1, "decimal")}${list(2, "bullet")}</w:numbering>`
}

const decoded = async (bytes: AsyncIterable<Buffer>): Promise<string> => {
  let text = ""
  for await (const some of decodedXml(bytes)) text += some
  return text
}

/**
 * The archive for mammoth, which reads the parts that were inspected and no others: neither its own ZIP reader nor its own search
 * for parts is used; a picture that is larger than it may be is not even unpacked. Parts with text come as {@link rewritePart} writes them.
 */
export const mammothFile = (
  archive: Archive,
  { main, notes, styles }: WordParts,
  known: Known,
  relationsOf: RelationsOf,
  mostOfPicture: () => number
): MammothFile => {
  const written = new Map<string, () => Promise<string>>()
  const text = (part: string, more: ReadonlyArray<Relation>) => {
    written.set(relationsPath(part), async () =>
      relationsTo([...(await relationsOf(part)), NO_PICTURE, ...more])
    )
    written.set(part, async () => rewritePart(archive.stream(part), known, await relationsOf(part)))
  }
  written.set("_rels/.rels", async () => relationsTo([ownRelation("officeDocument", main)]))
  written.set(CONTENT_TYPES, () => decoded(archive.stream(CONTENT_TYPES)))
  written.set(LISTS, async () => lists())
  written.set(STYLES, () =>
    styles === undefined ? Promise.resolve(`<w:styles ${WORDS}/>`) : decoded(archive.stream(styles))
  )
  for (const { part } of notes) text(part, [])
  text(main, [
    ownRelation("styles", STYLES),
    ownRelation("numbering", LISTS),
    ...notes.map(({ kind, part }) => ownRelation(kind, part))
  ])
  return {
    exists: (name) => written.has(name),
    read: async (name, encoding) => {
      const bytes = await (written.get(name)?.() ?? archive.bytes(name, mostOfPicture()))
      return typeof bytes === "string" || encoding !== "base64" ? bytes : bytes.toString("base64")
    }
  }
}
