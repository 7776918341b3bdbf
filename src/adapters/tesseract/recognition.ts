import { availableParallelism } from "node:os"

import { Effect, Layer, Semaphore } from "effect"

import { TextRecognition } from "../../ports/conversion/text-recognition.ts"
import type { GreyPicture, RecognitionHints } from "../../reader/model/recognised-text.ts"
import { RecognitionThread } from "./recognition-thread.ts"

/** Memory that the library may take in a thread; a page that needs more is not read. */
const MAX_LIBRARY_BYTES = 768 * 1024 * 1024
/** The longest that one page may take, of a processor. Real ones take five seconds, and a thread two to start. */
const PAGE_TIMEOUT_MS = 60_000
/** Most threads unless given: each holds some 350 MB. */
const MAX_THREADS = 4
/** Some three hours of a processor. */
const MAX_PAGES = 2_000
/** The languages that are read unless others are named. */
const LANGUAGES = ["eng", "deu", "fra", "spa"]

/** How pictures are read. */
export interface RecognitionOptions {
  /** Codes of tesseract, each with its package `@tesseract.js-data/…`. */
  readonly languages?: ReadonlyArray<string> | undefined
  /** Pictures that are read at once. One less than the machine has cores, four at most, unless given. */
  readonly threads?: number | undefined
  /** Scans of a document that are read: those on its first pages; 2,000 unless given. */
  readonly maxPages?: number | undefined
  readonly pageTimeoutMs?: number | undefined
}

const dataOf = (language: string): string => `@tesseract.js-data/${language}`

/** What reads pictures of any language. */
const ENGINE = ["tesseract.js-core", dataOf("osd")]

const isInstalled = (name: string): boolean => {
  try {
    import.meta.resolve(`${name}/package.json`)
    return true
  } catch {
    return false
  }
}

/** Which of these languages can be read here, and the packages that the others lack. */
export const readableLanguages = (
  languages: ReadonlyArray<string> = LANGUAGES
): { readonly readable: ReadonlyArray<string>; readonly missing: ReadonlyArray<string> } => {
  const missing = [...ENGINE, ...languages.map(dataOf)].filter((name) => !isInstalled(name))
  const hasEngine = !ENGINE.some((name) => missing.includes(name))
  return { readable: languages.filter((one) => hasEngine && !missing.includes(dataOf(one))), missing }
}

const make = Effect.fnUntraced(function* ({
  languages,
  maxPages = MAX_PAGES,
  pageTimeoutMs = PAGE_TIMEOUT_MS,
  threads = Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1))
}: RecognitionOptions) {
  const { missing, readable: there } = readableLanguages(languages)
  if (missing.length > 0)
    yield* Effect.logWarning(
      `${there.length === 0 ? "scans stay pictures" : "scans are read in fewer languages than OCR_LANGUAGES names"}: npm install ${missing.join(" ")}`
    )
  const options = { languages: there, libraryBytes: MAX_LIBRARY_BYTES, pageTimeoutMs }
  const all = Array.from({ length: there.length === 0 ? 0 : threads }, () => new RecognitionThread(options))
  yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(all.map((thread) => thread.stop()))))
  // The one that was used last is used next, so that the others may end.
  const free = [...all]
  const turns = yield* Semaphore.make(all.length)
  const take = Effect.sync(() => {
    const thread = free.pop()
    if (thread === undefined) throw new Error("there are more turns than threads")
    return thread
  })
  return {
    atOnce: all.length,
    maxPages,
    read: (picture: GreyPicture, hints: RecognitionHints) =>
      turns.withPermit(
        Effect.acquireUseRelease(
          take,
          (thread) => thread.read({ picture, hints }),
          (thread) => Effect.sync(() => void free.push(thread))
        )
      )
  }
})

/** Pictures read by tesseract, as WebAssembly in worker threads, offline. Threads start when they are needed. */
export const layerTesseract = (options: RecognitionOptions = {}): Layer.Layer<never> =>
  Layer.effect(TextRecognition, make(options))
