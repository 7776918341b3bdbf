import { statSync } from "node:fs"

import type { FontFace } from "../../../model/page-content.ts"
import type { Libraries } from "../engine/libraries.ts"
import { OpenDocument } from "./document.ts"

/** Documents that a thread keeps open. */
const MAX_OPEN = 3
/** How long an unused document stays open. */
const LINGERS_MS = 10_000

interface Opened {
  /** Key of its user; undefined: it is unused. */
  key: number | undefined
  readonly path: string
  readonly document: OpenDocument
}

/**
 * The documents of a thread. One that is closed lingers until another document is opened, or for a while: long documents are asked
 * for again and again, some pages at a time, and to open one and count its sample takes longer than those pages do.
 */
export class OpenDocuments {
  readonly #libraries: Libraries
  /** Most recently used last. */
  #opened: ReadonlyArray<Opened> = []
  #alarm: NodeJS.Timeout | undefined

  constructor(libraries: Libraries) {
    this.#libraries = libraries
  }

  /**
   * Returns the open document; one that was closed for want of room is opened again. `fonts`: faces known so far, with
   * indexes that stay.
   */
  of(key: number, path: string, fonts: ReadonlyArray<FontFace>): OpenDocument {
    const found =
      this.#opened.find((one) => one.key === key) ??
      (fonts.length === 0 ? this.#lingering(path) : undefined) ??
      this.#open(path, fonts)
    found.key = key
    this.#opened = [...this.#opened.filter((one) => one !== found), found]
    return found.document
  }

  /** Has a document linger that is not asked for any more. */
  close(key: number): void {
    const found = this.#opened.find((one) => one.key === key)
    if (found === undefined) return
    found.key = undefined
    clearTimeout(this.#alarm)
    this.#alarm = setTimeout(() => this.#drop((one) => one.key === undefined), LINGERS_MS)
    this.#alarm.unref()
  }

  #lingering(path: string): Opened | undefined {
    const found = this.#opened.find((one) => one.key === undefined && one.path === path)
    if (found?.document.beginAnew(statSync(path)) !== false) return found
    this.#drop((one) => one === found)
    return undefined
  }

  #open(path: string, fonts: ReadonlyArray<FontFace>): Opened {
    this.#drop((one) => one.key === undefined && one.path !== path)
    const oldest = this.#opened.find((one) => one.key === undefined) ?? this.#opened[0]
    if (this.#opened.length >= MAX_OPEN) this.#drop((one) => one === oldest)
    return { key: undefined, path, document: new OpenDocument(this.#libraries, path, fonts) }
  }

  #drop(which: (one: Opened) => boolean): void {
    for (const one of this.#opened) if (which(one)) one.document.close()
    this.#opened = this.#opened.filter((one) => !which(one))
  }
}
