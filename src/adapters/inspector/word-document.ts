import { Effect } from "effect"

import { wordPages } from "../../domain/conversion/word-pages.ts"
import { UnreadableDocument, UnsupportedDocument } from "../../ports/document-inspector.ts"
import { type Archive, openArchive, readText } from "./archive.ts"
import type { OpenedFile } from "./opened-file.ts"
import { WordCounter } from "./word-counter.ts"

/** Longest part that says what the others are, bytes. */
const MAX_LIST = 1024 * 1024

/** The elements of this name in a flat list: their attributes. Enough for parts that hold nothing else. */
const elements = (xml: string, name: string): ReadonlyArray<ReadonlyMap<string, string>> =>
  [
    ...xml.replaceAll(/<!--[\s\S]*?-->/g, "").matchAll(new RegExp(`<(?:[\\w.-]+:)?${name}\\s([^<>]*)>`, "g"))
  ].map(
    ([, attributes = ""]) =>
      new Map(
        [...attributes.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].map(
          ([, key = "", double, single]) => [key, double ?? single ?? ""]
        )
      )
  )

/** Where the document itself stands: as its package says, else where every program puts it. */
const mainPartOf = (relations: string, archive: Archive): string =>
  elements(relations, "Relationship")
    .filter((one) => one.get("Type")?.endsWith("/officeDocument") === true)
    .map((one) => (one.get("Target") ?? "").replace(/^\//, ""))
    .find((target) => archive.entries.has(target)) ?? "word/document.xml"

/** What the package says that its main part is. */
const typeOf = (types: string, part: string): string | undefined =>
  elements(types, "Override")
    .find((one) => one.get("PartName")?.replace(/^\//, "") === part)
    ?.get("ContentType") ??
  elements(types, "Default")
    .find((one) => part.endsWith(`.${one.get("Extension") ?? ""}`))
    ?.get("ContentType")

const WORD = /^application\/vnd\.openxmlformats-officedocument\.wordprocessingml\.document\.main\+xml$/i

/** Other things that come as ZIP archives, by content type or `mimetype`. */
const OTHERS: ReadonlyArray<readonly [RegExp, string]> = [
  [/ms-word.*macroenabled/i, "a Word document with macros (.docm)"],
  [/wordprocessingml\.template/i, "a Word template (.dotx)"],
  [/spreadsheetml|ms-excel/i, "an Excel workbook"],
  [/presentationml|ms-powerpoint/i, "a PowerPoint presentation"],
  [/oasis\.opendocument\.text/i, "an OpenDocument text (.odt)"],
  [/oasis\.opendocument/i, "an OpenDocument file"],
  [/epub/i, "an EPUB book"]
]

const nameOf = (type: string): string =>
  OTHERS.find(([pattern]) => pattern.test(type))?.[1] ?? "a ZIP archive"

const numberIn = (xml: string | undefined, name: string): number | undefined => {
  const text =
    xml === undefined ? undefined : new RegExp(`<${name}>\\s*(\\d{1,9})\\s*</${name}>`).exec(xml)?.[1]
  return text === undefined ? undefined : Number(text)
}

/** Unpacks every part once, so that none is longer than the directory says, and counts what the main one holds. */
const measured = Effect.fnUntraced(function* (archive: Archive, main: string) {
  const counter = new WordCounter()
  for (const name of archive.entries.keys())
    yield* archive.read(name, (bytes) => {
      if (name === main) counter.add(bytes)
      return true
    })
  return counter
})

/** Tells whether a ZIP archive is a Word document, and how long it is. */
export const inspectArchive = (file: OpenedFile) =>
  Effect.gen(function* () {
    const archive = yield* openArchive(file.path, file.size)
    const types = yield* readText(archive, "[Content_Types].xml", MAX_LIST)
    if (types === undefined) {
      const kind = yield* readText(archive, "mimetype", 200)
      return yield* new UnsupportedDocument({ found: nameOf(kind ?? "") })
    }
    const main = mainPartOf((yield* readText(archive, "_rels/.rels", MAX_LIST)) ?? "", archive)
    const type = typeOf(types, main)
    if (type === undefined || !WORD.test(type)) {
      return yield* new UnsupportedDocument({ found: nameOf(type ?? types) })
    }
    if ([...archive.entries.keys()].some((name) => /vbaProject\.bin$/i.test(name)))
      return yield* new UnsupportedDocument({ found: "a Word document with macros (.docm)" })
    if (!archive.entries.has(main))
      return yield* new UnreadableDocument({
        message: "This Word document holds no text part. Save it anew, then send it again."
      })
    const { breaks, paragraphs, words } = yield* measured(archive, main)
    const stated = numberIn(yield* readText(archive, "docProps/app.xml", MAX_LIST), "Pages")
    return wordPages({ stated, words, paragraphs, breaks })
  })
