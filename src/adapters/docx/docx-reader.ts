import mammoth from "mammoth"

import { type DocxContent, MAX_HTML, MAX_PART, MAX_TAGS } from "../../reader/model/word-document.ts"
import type { Element } from "../../reader/sources/docx/document-model.ts"
import { finish } from "../../reader/sources/docx/finish.ts"
import { LOOKS, seen, shownTitle } from "../../reader/sources/docx/look.ts"
import { mammothFile } from "../../reader/sources/docx/mammoth-file.ts"
import { quieten } from "../../reader/sources/docx/mammoth-results.ts"
import { type Archive, broken, openArchive, Unreadable } from "../../reader/sources/docx/package/archive.ts"
import { readDrawn } from "../../reader/sources/docx/package/drawn-data.ts"
import { Marks, type Meaning } from "../../reader/sources/docx/package/marks.ts"
import { NO_NUMBERING, readNumbering } from "../../reader/sources/docx/package/numbering.ts"
import {
  readNoteIds,
  readPackage,
  titleIn,
  unpackAll,
  Unsupported,
  type WordParts
} from "../../reader/sources/docx/package/package.ts"
import { relationsIn, type RelationsOf } from "../../reader/sources/docx/package/relations.ts"
import { NO_STYLES, readStyles } from "../../reader/sources/docx/package/styles.ts"
import { countWords, wordPages } from "../../reader/sources/docx/package/word-pages.ts"
import { DECORATIVE } from "../../reader/sources/docx/parts/part-drawings.ts"
import type { Known } from "../../reader/sources/docx/parts/rewrite-part.ts"
import { splitBlocks } from "../../reader/sources/docx/split-blocks.ts"

quieten()

/** What a process is asked: to convert a document, or to look whether it is one, and how long. */
export type Task =
  | {
      readonly kind: "convert"
      readonly path: string
      /** Bytes of pictures that go into the result, all together and each. */
      readonly pictureBytes: number
      readonly onePictureBytes: number
    }
  | { readonly kind: "inspect"; readonly path: string }

/** What a process answers, once. `broken`, `too-large`: the document's fault, in words for its owner where there are any. */
export type FromReader =
  | { readonly kind: "converted"; readonly content: DocxContent }
  | { readonly kind: "inspected"; readonly pages: number }
  | { readonly kind: "unsupported"; readonly found: string }
  | { readonly kind: "unreadable"; readonly message: string; readonly why: "broken" | "too-large" }
  | { readonly kind: "too-large" }
  | { readonly kind: "broken"; readonly cause: string }

const INLINE = /^<\/?(?:strong|em|b|i|u|s|sup|sub|a|span)\b/

/** The words of HTML, outside of tags: what is not inline parts them, and so does a space that does not break. */
const wordsIn = (html: string): number =>
  countWords(html.replaceAll(/<[^<>]*>|&nbsp;/g, (found) => (INLINE.test(found) ? "" : " ")))

/** Formats that browsers show. */
const SHOWN = /^image\/(?:png|jpeg|gif|webp)$/

/** Besides mammoth's own: what it leaves as plain paragraphs. */
const STYLES = [
  "p[style-name='Title'] => h1:fresh",
  ...["Quote", "Intense Quote", "Block Text", "Quotations"].map(
    (name) => `p[style-name='${name}'] => blockquote > p:fresh`
  ),
  ...LOOKS
]

type Conversion = Extract<Task, { readonly kind: "convert" }>

/** Collects pictures up to a size limit, and replaces each with an address that the document cannot contain. */
class Pictures {
  readonly places = new Map<string, string>()
  readonly #marks = new Marks<true>()
  readonly #task: Conversion
  #left: number

  constructor(task: Conversion) {
    this.#task = task
    this.#left = task.pictureBytes
  }

  /** Bytes that the next one may have. */
  most(): number {
    return Math.min(this.#left, this.#task.onePictureBytes)
  }

  readonly converter = mammoth.images.imgElement(async (image) => {
    const given = "altText" in image && typeof image.altText === "string" ? image.altText.trim() : ""
    const shown = given === DECORATIVE ? { alt: "", "data-decorative": "true" } : {}
    const left = (why: string) => ({ src: "", alt: given === "" ? why : given, ...shown })
    if (!SHOWN.test(image.contentType)) return left("A picture in a format that browsers do not show")
    if (this.#left <= 0) return left("A picture that was left out for its size")
    // The picture is outside of the document, or damaged: the rest is not.
    const data = await image
      .readAsBase64String()
      .catch((error: unknown) => (error instanceof Unreadable ? error : broken(error)))
    if (data instanceof Unreadable)
      return left(
        data.why === "too-large"
          ? "A picture that was left out for its size"
          : "A picture that is not in the document"
      )
    this.#left -= Math.ceil(data.length * 0.75)
    const place = `data:image/png;base64,${this.#marks.add(true)}`
    this.places.set(place, `data:${image.contentType};base64,${data}`)
    return { src: place, ...shown }
  })
}

/** Whether there is more of it than can be put together. */
const isTooMuch = (html: string): boolean => {
  if (html.length > MAX_HTML) return true
  let tags = 0
  for (let at = html.indexOf("<"); at !== -1; at = html.indexOf("<", at + 1)) tags += 1
  return tags > MAX_TAGS
}

/** mammoth takes an open archive, too; its declarations know of bytes and paths alone. */
const opened = (file: ReturnType<typeof mammothFile>): { readonly buffer: Buffer } =>
  ({ file }) as unknown as { readonly buffer: Buffer }

/** What is said of a document's paragraphs besides their text. */
const knownOf = async (
  archive: Archive,
  { main, notes, numbering, styles }: WordParts,
  relationsOf: RelationsOf
): Promise<Known> => ({
  drawn: await readDrawn(archive, await relationsOf(main)),
  styles: styles === undefined ? NO_STYLES : await readStyles(archive.stream(styles)),
  numbering: numbering === undefined ? NO_NUMBERING : await readNumbering(archive.stream(numbering)),
  notes: await readNoteIds(archive, notes),
  marks: new Marks<Meaning>()
})

const convert = async (task: Conversion, archive: Archive): Promise<FromReader> => {
  const { length, parts: read } = await readPackage(archive)
  const relationsOf = relationsIn(archive)
  const known = await knownOf(archive, read, relationsOf)
  const given = await titleIn(archive)
  let title = given
  const pictures = new Pictures(task)
  const { value } = await mammoth.convertToHtml(
    opened(mammothFile(archive, read, known, relationsOf, () => pictures.most())),
    {
      styleMap: STYLES,
      includeEmbeddedStyleMap: false,
      externalFileAccess: false,
      convertImage: pictures.converter,
      transformDocument: (document: Element) => {
        title = shownTitle(document, given)
        return seen(document, { styles: known.styles, title, mark: (kind) => known.marks.add({ kind }) })
      }
    }
  )
  const html = finish(value, known.marks)
  const parts = isTooMuch(html) ? undefined : splitBlocks(html, MAX_PART)
  if (parts === undefined) return { kind: "too-large" }
  return {
    kind: "converted",
    content: {
      title,
      parts,
      pictures: pictures.places,
      // A formula is charged as a word.
      pages: wordPages({ ...length, words: wordsIn(value) })
    }
  }
}

const inspect = async (archive: Archive): Promise<FromReader> => {
  const { length } = await readPackage(archive)
  await unpackAll(archive)
  return { kind: "inspected", pages: wordPages(length) }
}

/** The reader's program, see `ReaderProcess`. */
export default async (task: Task): Promise<FromReader> => {
  try {
    const archive = await openArchive(task.path)
    return await (task.kind === "convert" ? convert(task, archive) : inspect(archive)).finally(archive.close)
  } catch (error) {
    // A file system error says nothing about the document: it ends this process, and another may succeed.
    if (error instanceof Error && "syscall" in error) throw error
    if (error instanceof Unsupported) return { kind: "unsupported", found: error.found }
    if (error instanceof Unreadable) return { kind: "unreadable", message: error.message, why: error.why }
    return { kind: "broken", cause: error instanceof Error ? error.message : String(error) }
  }
}
