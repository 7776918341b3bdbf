import { type Archive, Unreadable } from "./archive.ts"
import { partOf, readRelations } from "./relations.ts"
import { wordLength } from "./word-length.ts"
import { readXml } from "./xml.ts"

/** Longest part that describes the others, bytes. */
const MAX_LIST = 1024 * 1024

/** Longest title, characters. */
const MAX_TITLE = 1000

/** The file is not a Word document; `found` names its probable kind. */
export class Unsupported extends Error {
  readonly found: string

  constructor(found: string) {
    super(found)
    this.found = found
  }
}

/** Attributes of all elements of this name, at any depth. */
const elements = async (
  part: Buffer,
  wanted: ReadonlyArray<string>
): Promise<ReadonlyArray<{ readonly name: string; readonly attributes: ReadonlyMap<string, string> }>> => {
  const found: Array<{ name: string; attributes: ReadonlyMap<string, string> }> = []
  await readXml([part], {
    open: (name, attributes) => {
      if (wanted.includes(name)) found.push({ name, attributes })
    }
  })
  return found
}

const withoutSlash = (path: string): string => path.replace(/^\//, "")

/** Path of the main part: as the package names it, else the usual one. */
const mainPartOf = async (archive: Archive): Promise<string> =>
  partOf(await readRelations(archive, ""), "officeDocument") ?? "word/document.xml"

const WORD = /^application\/vnd\.openxmlformats-officedocument\.wordprocessingml\.document\.main\+xml$/i

/** Other things that come as ZIP archives, by a part of their content types or their `mimetype`, in lower case. */
const OTHERS: ReadonlyArray<readonly [(type: string) => boolean, string]> = [
  [
    (type) => type.includes("ms-word") && type.includes("macroenabled"),
    "a Word document with macros (.docm)"
  ],
  [(type) => type.includes("wordprocessingml.template"), "a Word template (.dotx)"],
  [(type) => type.includes("spreadsheetml") || type.includes("ms-excel"), "an Excel workbook"],
  [(type) => type.includes("presentationml") || type.includes("ms-powerpoint"), "a PowerPoint presentation"],
  [(type) => type.includes("oasis.opendocument.text"), "an OpenDocument text (.odt)"],
  [(type) => type.includes("oasis.opendocument"), "an OpenDocument file"],
  [(type) => type.includes("epub"), "an EPUB book"]
]

const nameOf = (type: string): string => OTHERS.find(([is]) => is(type.toLowerCase()))?.[1] ?? "a ZIP archive"

/** Checks the main part's declared type; refuses everything but a Word document. */
const checkType = async (archive: Archive, main: string): Promise<void> => {
  if (!archive.has("[Content_Types].xml")) {
    const kind = archive.has("mimetype") ? await archive.bytes("mimetype", 200) : Buffer.alloc(0)
    throw new Unsupported(nameOf(kind.toString("latin1")))
  }
  const part = await archive.bytes("[Content_Types].xml", MAX_LIST)
  const types = await elements(part, ["Override", "Default"])
  const type =
    types.find(
      ({ attributes, name }) => name === "Override" && withoutSlash(attributes.get("PartName") ?? "") === main
    ) ??
    types.find(
      ({ attributes, name }) => name === "Default" && main.endsWith(`.${attributes.get("Extension") ?? ""}`)
    )
  const said = type?.attributes.get("ContentType")
  if (said === undefined || !WORD.test(said)) throw new Unsupported(nameOf(said ?? part.toString("latin1")))
  if (archive.names.some((name) => name.toLowerCase().endsWith("vbaproject.bin")))
    throw new Unsupported("a Word document with macros (.docm)")
  if (!archive.has(main))
    throw new Unreadable("broken", "This Word document holds no text part. Save it anew, then send it again.")
}

/** What is unreadable is left out: document properties, charts. Nothing depends on them. */
export const orNothing = async <A>(reading: Promise<A>): Promise<A | undefined> => {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

/** The text of the first element of this name in a part with properties. */
const noted = async (archive: Archive, part: string, element: string): Promise<string | undefined> => {
  if (!archive.has(part)) return undefined
  const bytes = await orNothing(archive.bytes(part, MAX_LIST))
  if (bytes === undefined) return undefined
  let text = ""
  let place: "before" | "inside" | "after" = "before"
  await orNothing(
    readXml([bytes], {
      open: (name) => {
        if (name === element && place === "before") place = "inside"
      },
      close: (name) => {
        if (name === element) place = "after"
      },
      text: (some) => {
        if (place === "inside") text += some
      }
    })
  )
  return text.trim() === "" ? undefined : text.trim()
}

/** The title in a document's properties. */
export const titleIn = async (archive: Archive): Promise<string | undefined> => {
  const title = await noted(archive, "docProps/core.xml", "title")
  return title === undefined || title.length > MAX_TITLE ? undefined : title
}

/** The parts of a document, by their paths. */
export interface WordParts {
  readonly main: string
  readonly styles: string | undefined
  readonly numbering: string | undefined
  readonly notes: ReadonlyArray<{ readonly kind: "footnotes" | "endnotes"; readonly part: string }>
}

/** Finds a document's parts as it names them, else by their usual names. */
const partsOf = async (archive: Archive, main: string): Promise<WordParts> => {
  const relations = await readRelations(archive, main)
  const find = (kind: string): string | undefined => {
    const usual = `word/${kind}.xml`
    return partOf(relations, kind) ?? (archive.has(usual) ? usual : undefined)
  }
  const notes = (["footnotes", "endnotes"] as const).flatMap((kind) => {
    const part = find(kind)
    return part === undefined ? [] : [{ kind, part }]
  })
  return { main, styles: find("styles"), numbering: find("numbering"), notes }
}

/** Ids of the notes that have words, as their marks in the text name them. */
export const readNoteIds = async (
  archive: Archive,
  notes: WordParts["notes"]
): Promise<ReadonlySet<string>> => {
  const found = new Set<string>()
  for (const { part } of notes)
    await readXml(archive.stream(part), {
      open: (name, attributes) => {
        const isNote = name === "footnote" || name === "endnote"
        if (isNote && !/separator$/i.test(attributes.get("type") ?? ""))
          found.add(`${name}Reference ${attributes.get("id") ?? ""}`)
      }
    })
  return found
}

/** The document's parts, its length in words, and its declared page count. */
export const readPackage = async (archive: Archive) => {
  const main = await mainPartOf(archive)
  await checkType(archive, main)
  const parts = await partsOf(archive, main)
  const length = await wordLength(archive.stream(main))
  // Notes are converted, too.
  for (const { part } of parts.notes) length.words += (await wordLength(archive.stream(part))).words
  const pages = await noted(archive, "docProps/app.xml", "Pages")
  const stated = pages !== undefined && /^\d{1,9}$/.test(pages) ? Number(pages) : undefined
  return { parts, length: { ...length, stated } }
}

/** Unpacks every part once, to check that none is longer than the directory says. */
export const unpackAll = async (archive: Archive): Promise<void> => {
  for (const name of archive.names) {
    const parts = archive.stream(name)[Symbol.asyncIterator]()
    while ((await parts.next()).done !== true);
  }
}
