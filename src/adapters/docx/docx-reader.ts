import { randomBytes } from "node:crypto"

import mammoth from "mammoth"

import { countWords, wordPages } from "../../domain/conversion/work/word-pages.ts"
import { type DocxContent, MAX_HTML, MAX_PART, MAX_TAGS } from "../../ports/conversion/documents.ts"
import { type Archive, openArchive, Unreadable } from "./archive.ts"
import { MAIN_RELATION, readPackage, titleIn, unpackAll, Unsupported } from "./package.ts"
import { splitBlocks } from "./split-blocks.ts"

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
const STYLES = ["p[style-name='Title'] => h1:fresh", "p[style-name='Quote'] => blockquote > p:fresh"]

type Conversion = Extract<Task, { readonly kind: "convert" }>

/** Gathers pictures while there is room; in their places stand addresses that the document cannot have. */
class Pictures {
  readonly places = new Map<string, string>()
  readonly #secret = randomBytes(16).toString("hex")
  readonly #task: Conversion
  #left: number

  constructor(task: Conversion) {
    this.#task = task
    this.#left = task.pictureBytes
  }

  readonly converter = mammoth.images.imgElement(async (image) => {
    const given = "altText" in image && typeof image.altText === "string" ? image.altText.trim() : ""
    const left = (why: string) => ({ src: "", alt: given === "" ? why : given })
    if (!SHOWN.test(image.contentType)) return left("A picture in a format that browsers do not show")
    if (this.#left <= 0) return left("A picture that was left out for its size")
    // The picture is outside of the document, or damaged: the rest is not.
    const data = await image.readAsBase64String().catch(() => undefined)
    if (data === undefined) return left("A picture that is not in the document")
    if (data.length > this.#task.onePictureBytes * (4 / 3) + 4 || data.length > this.#left * (4 / 3) + 4)
      return left("A picture that was left out for its size")
    this.#left -= Math.ceil(data.length * 0.75)
    const place = `data:image/png;base64,${this.#secret}${String(this.places.size).padStart(8, "0")}`
    this.places.set(place, `data:${image.contentType};base64,${data}`)
    return { src: place }
  })
}

/** mammoth writes notes' marks as plain links. */
const withNoteRoles = (html: string): string =>
  html.replaceAll(/<a href="#((?:foot|end)note-\d+)" id=/g, '<a role="doc-noteref" href="#$1" id=')

/** Whether there is more of it than can be put together. */
const isTooMuch = (html: string): boolean => {
  if (html.length > MAX_HTML) return true
  let tags = 0
  for (let at = html.indexOf("<"); at !== -1; at = html.indexOf("<", at + 1)) tags += 1
  return tags > MAX_TAGS
}

/** The archive interface of mammoth. */
interface MammothFile {
  readonly exists: (name: string) => boolean
  readonly read: (name: string, encoding?: string) => Promise<string | Uint8Array>
}

const RELATIONS = "_rels/.rels"

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")

/** The package's relations, with the one that was found to name the main part and no other. */
const relationsTo = (main: string): string =>
  '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
  `<Relationship Id="main" Type="${MAIN_RELATION}" Target="/${escaped(main)}"/></Relationships>`

const decoded = (bytes: Buffer, encoding: string | undefined): string | Uint8Array => {
  if (encoding === undefined) return bytes
  return encoding === "base64" ? bytes.toString("base64") : new TextDecoder(encoding).decode(bytes)
}

/**
 * The archive for mammoth, which reads exactly the parts that were inspected. Neither its own ZIP reader nor its own search for
 * the main part is used.
 */
const mammothFile = (archive: Archive, main: string): MammothFile => ({
  exists: (name) => name === RELATIONS || archive.has(name),
  read: async (name, encoding) =>
    name === RELATIONS ? relationsTo(main) : decoded(await archive.bytes(name), encoding)
})

/** mammoth takes an open archive, too; its declarations know of bytes and paths alone. */
const opened = (archive: Archive, main: string): { readonly buffer: Buffer } =>
  ({ file: mammothFile(archive, main) }) as unknown as { readonly buffer: Buffer }

const convert = async (task: Conversion, archive: Archive): Promise<FromReader> => {
  const { length, main } = await readPackage(archive)
  const pictures = new Pictures(task)
  const { value } = await mammoth.convertToHtml(opened(archive, main), {
    styleMap: STYLES,
    includeEmbeddedStyleMap: false,
    externalFileAccess: false,
    convertImage: pictures.converter
  })
  const parts = isTooMuch(value) ? undefined : splitBlocks(withNoteRoles(value), MAX_PART)
  if (parts === undefined) return { kind: "too-large" }
  return {
    kind: "converted",
    content: {
      title: await titleIn(archive),
      parts,
      pictures: pictures.places,
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
