import { randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"

import mammoth from "mammoth"

import { MAX_PART } from "../../ports/docx-converter.ts"
import type { FromReader, Task } from "./messages.ts"
import { splitBlocks } from "./split-blocks.ts"
import { titleIn } from "./title.ts"

/** Formats that browsers show. */
const SHOWN = /^image\/(?:png|jpeg|gif|webp)$/

/** Besides mammoth's own: what it leaves as plain paragraphs. */
const STYLES = ["p[style-name='Title'] => h1:fresh", "p[style-name='Quote'] => blockquote > p:fresh"]

/** Gathers pictures while there is room; in their places stand addresses that the document cannot have. */
class Pictures {
  readonly places = new Map<string, string>()
  readonly #secret = randomBytes(16).toString("hex")
  readonly #task: Task
  #left: number

  constructor(task: Task) {
    this.#task = task
    this.#left = task.pictureBytes
  }

  readonly converter = mammoth.images.imgElement(async (image) => {
    const told = "altText" in image && typeof image.altText === "string" ? image.altText.trim() : ""
    const left = (why: string) => ({ src: "", alt: told === "" ? why : told })
    if (!SHOWN.test(image.contentType)) return left("A picture in a format that browsers do not show")
    if (this.#left <= 0) return left("A picture that was left out for its size")
    // It stands outside of the document, or is damaged: the rest is not.
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

/** The reader's program, see `ReaderProcess`. */
export default async (task: Task): Promise<FromReader> => {
  const bytes = await readFile(task.path)
  try {
    const pictures = new Pictures(task)
    const { value } = await mammoth.convertToHtml(
      { buffer: bytes },
      {
        styleMap: STYLES,
        includeEmbeddedStyleMap: false,
        externalFileAccess: false,
        convertImage: pictures.converter
      }
    )
    const parts = splitBlocks(withNoteRoles(value), MAX_PART)
    if (parts === undefined) return { kind: "too-large" }
    return {
      kind: "converted",
      content: { title: await titleIn(bytes), parts, pictures: pictures.places }
    }
  } catch (error) {
    return { kind: "broken", cause: error instanceof Error ? error.message : String(error) }
  }
}
