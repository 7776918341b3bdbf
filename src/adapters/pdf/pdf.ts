import { availableParallelism } from "node:os"

import { Effect, Layer, Option, Stream } from "effect"

import { append, least } from "../../domain/lists.ts"
import { Pdf, type PdfDocument } from "../../ports/conversion/pdf.ts"
import { USUAL_LAYOUT } from "../../reader/model/layout-page.ts"
import type { DocumentFacts, FontFace } from "../../reader/model/page-content.ts"
import type { PageRange, PdfError } from "../../reader/model/pdf-document.ts"
import type { Trap } from "../../reader/sources/pdf/traps.ts"
import type { ArgumentOf, Operation, Results } from "./operations.ts"
import { type Answer, ReaderThread } from "./reader-thread.ts"

/** Pages, and bytes of split pages, that go from thread to thread before the reader of a stream is waited for. */
const BATCH_PAGES = 32
const BATCH_BYTES = 8 * 1024 * 1024
/** Memory that each of the two libraries may take in a thread, unless given. */
const MAX_LIBRARY_BYTES = 512 * 1024 * 1024
/** The longest that one page may take, opening included. Real ones take milliseconds. */
const PAGE_TIMEOUT_MS = 60_000

/** Traps of one document that are stepped over: each costs a new thread. */
const MAX_TRAPS = 20

interface PdfOptions {
  /** Threads; a document stays with one of them. One less than the machine has cores, four at most, unless given. */
  readonly threads?: number
  readonly pageTimeoutMs?: number
  /** Memory that each of the two libraries may take in a thread; a page that needs more is a `bomb`. */
  readonly libraryBytes?: number
}

/** A thread and the documents that it has. */
interface Seat {
  readonly thread: ReaderThread
  documents: number
  /** The file that it was last given, which may be open there. */
  path: string | undefined
}

/** One document on the thread that reads it. */
class Reading {
  readonly fonts: Array<FontFace> = []
  readonly #traps: Array<Trap> = []
  readonly #thread: ReaderThread
  readonly #key: number
  readonly #path: string

  constructor(thread: ReaderThread, key: number, path: string) {
    this.#thread = thread
    this.#key = key
    this.#path = path
  }

  #ask(operation: Operation | undefined, range: PageRange, argument?: unknown): Effect.Effect<Answer> {
    return Effect.suspend(() =>
      this.#thread.ask({
        document: this.#key,
        path: this.#path,
        fonts: [...this.fonts],
        traps: [...this.#traps],
        operation,
        first: range.first,
        end: range.end,
        argument
      })
    ).pipe(Effect.tap(({ newFonts }) => Effect.sync(() => append(this.fonts, newFonts))))
  }

  /**
   * Continues after a trap: reads the page in another way, and skips it when that traps, too. Pages are read together, and one
   * must not fail the others.
   */
  ask(operation: Operation | undefined, range: PageRange, argument?: unknown): Effect.Effect<Answer> {
    return Effect.flatMap(this.#ask(operation, range, argument), (answer) => {
      const { items, next, trap } = answer
      if (trap === undefined || this.#traps.length >= MAX_TRAPS) return Effect.succeed(answer)
      this.#traps.push(trap)
      return Effect.map(this.ask(operation, { first: next, end: range.end }, argument), (rest) => ({
        ...rest,
        items: [...items, ...rest.items]
      }))
    })
  }

  stream<K extends Operation>(
    operation: K,
    range: PageRange,
    argument: ArgumentOf<K>
  ): Stream.Stream<Results[K], PdfError> {
    return Stream.paginate<number | PdfError, Results[K], PdfError>(range.first, (state) => {
      if (typeof state !== "number") return Effect.fail(state)
      if (state >= range.end) return Effect.succeed([[], Option.none()])
      return this.ask(operation, { first: state, end: range.end }, argument).pipe(
        // The result type is that of the operation's line in `OPERATIONS`.
        Effect.map(({ failure, items, next }) => [
          items as ReadonlyArray<Results[K]>,
          Option.some(failure ?? next)
        ])
      )
    })
  }

  single<K extends Operation>(
    operation: K,
    page: number,
    argument: ArgumentOf<K>
  ): Effect.Effect<Results[K], PdfError> {
    return this.ask(operation, { first: page, end: page + 1 }, argument).pipe(
      Effect.flatMap(({ failure, items }) =>
        failure === undefined ? Effect.succeed(items[0] as Results[K]) : Effect.fail(failure)
      )
    )
  }

  close(): void {
    this.#thread.close(this.#key)
  }
}

const within = ({ end, first }: PageRange, pageCount: number): PageRange => ({
  first: Math.max(0, Math.trunc(first)),
  end: Math.min(pageCount, Math.trunc(end))
})

const asDocument = (reading: Reading, facts: DocumentFacts): PdfDocument => ({
  facts,
  fonts: Effect.sync(() => [...reading.fonts]),
  pages: (range) => reading.stream("pages", within(range, facts.pageCount), undefined),
  split: (range, options) => reading.stream("split", within(range, facts.pageCount), options?.words === true),
  render: (index, dpi) => reading.single("render", index, { dpi }),
  image: (page, index) => reading.single("image", page, { image: index }),
  isBlank: (index) => reading.single("blank", index, undefined),
  blanks: (range) => reading.stream("blank", within(range, facts.pageCount), undefined),
  layout: (range, options = USUAL_LAYOUT) =>
    reading.stream("layout", within(range, facts.pageCount), options),
  scan: (index) => reading.single("scan", index, undefined),
  layoutRead: (index, scans) => reading.single("layoutRead", index, scans),
  leftOut: reading
    .single("leftOut", 0, undefined)
    .pipe(
      Effect.catch((error) =>
        Effect.as(
          Effect.logWarning(`what else is in a PDF could not be read: ${error.message}`, error.cause),
          undefined
        )
      )
    )
})

const make = ({
  libraryBytes = MAX_LIBRARY_BYTES,
  pageTimeoutMs = PAGE_TIMEOUT_MS,
  threads = Math.max(1, Math.min(4, availableParallelism() - 1))
}: PdfOptions) =>
  Effect.gen(function* () {
    const limits = { batchPages: BATCH_PAGES, batchBytes: BATCH_BYTES, libraryBytes, pageTimeoutMs }
    const seats = Array.from({ length: threads }, (): Seat => ({
      thread: new ReaderThread(limits),
      documents: 0,
      path: undefined
    }))
    yield* Effect.addFinalizer(() =>
      Effect.promise(() => Promise.all(seats.map(({ thread }) => thread.stop())))
    )
    let opened = 0

    const take = (path: string) =>
      Effect.sync(() => {
        const fewest = least(seats.map(({ documents }) => documents))
        const free = seats.filter(({ documents }) => documents === fewest)
        const seat = free.find((one) => one.path === path) ?? free[0]
        if (seat === undefined) throw new Error("there is no thread")
        seat.documents++
        seat.path = path
        return { seat, reading: new Reading(seat.thread, opened++, path) }
      })
    const giveBack = ({ reading, seat }: { readonly reading: Reading; readonly seat: Seat }) =>
      Effect.sync(() => {
        seat.documents--
        reading.close()
      })

    return Pdf.of({
      open: (path) =>
        Effect.gen(function* () {
          const { reading } = yield* Effect.acquireRelease(take(path), giveBack)
          const { facts, failure } = yield* reading.ask(undefined, { first: 0, end: 0 })
          if (failure !== undefined) return yield* failure
          if (facts === undefined)
            return yield* Effect.die(new Error("a thread opened a document without facts"))
          return asDocument(reading, facts)
        })
    })
  })

/** PDFs read by pdfium and split by qpdf, both as WebAssembly in worker threads. Threads start when they are needed. */
export const layerPdf = (options: PdfOptions = {}): Layer.Layer<Pdf> => Layer.effect(Pdf, make(options))
