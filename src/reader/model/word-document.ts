import { Data } from "effect"

/**
 * A Word document that was not converted. `broken`: it cannot be read; `too-large`: it exceeds the memory limit, or has a
 * part that is too long; `timeout`: it took too long; `crashed`: reading it crashed the reader, others go on; `unavailable`: no
 * reader could be started, which says nothing about it. The message is for its owner.
 */
export class DocxError extends Data.TaggedError("DocxError")<{
  readonly reason: "broken" | "too-large" | "timeout" | "crashed" | "unavailable"
  readonly message: string
  readonly cause?: unknown
}> {}

/**
 * Most characters, and most tags, of a document's HTML without its pictures: some 2,000 pages, which assembly holds in
 * memory.
 */
export const MAX_HTML = 6_000_000

export const MAX_TAGS = 300_000

/** Most characters of a {@link DocxPart}: the sanitiser's limit. */
export const MAX_PART = 180_000

/** Whole blocks; a long table or list may continue from the part before. */
export interface DocxPart {
  readonly html: string
  /** The opening tags that are repeated because an element of the part before continues here; empty where none does. */
  readonly goesOn: string
}

/** What a Word document holds. */
export interface DocxContent {
  readonly title: string | undefined
  /** HTML, not sanitised yet; each picture's address is a key of `pictures`. */
  readonly parts: ReadonlyArray<DocxPart>
  /** Pictures as data URIs, by their unguessable placeholder address. */
  readonly pictures: ReadonlyMap<string, string>
  /** Counted by the converted words: the file's own page count may be forged. */
  readonly pages: number
}
