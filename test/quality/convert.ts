import { Effect, Stream } from "effect"

import { layer as assemblyLayer } from "../../src/adapters/html/html-assembly.ts"
import { samplePages } from "../../src/application/conversion/work/layout-plan.ts"
import { HtmlAssembly } from "../../src/ports/conversion/html-assembly.ts"
import type { LayoutPage } from "../../src/reader/model/layout-page.ts"
import type { PageContent } from "../../src/reader/model/page-content.ts"
import { countPages, layoutPages } from "../../src/reader/pipeline.ts"
import { type Libraries, loadLibraries } from "../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../src/reader/sources/pdf/pages/document.ts"
import { mergeStatistics } from "../../src/reader/stages/profile/statistics.ts"

/** A document gone through the layout tier and the assembly, and how long each took, in milliseconds. */
export interface Converted {
  readonly html: string
  readonly pages: ReadonlyArray<LayoutPage>
  readonly tagged: boolean
  readonly read: number
  readonly laidOut: number
  readonly assembled: number
}

/** How a document is converted. */
export interface ConvertOptions {
  /** Pages from the first one on. */
  readonly limit?: number
  /** Leaves out the structure tree and the marks of artifacts. */
  readonly ignoreTags?: boolean
}

let libraries: Promise<Libraries> | undefined

/** The page as it is where nobody has tagged it. */
export const untagged = (page: PageContent): PageContent => ({
  ...page,
  structure: [],
  runs: page.runs.map((run) => ({ ...run, mcid: undefined, artifact: false })),
  drawings: page.drawings.map((drawing) => ({ ...drawing, mcid: undefined, artifact: false }))
})

const CHUNK = 20

/** Converts a file as the service would, chunk by chunk. */
export const convert = async (path: string, options: ConvertOptions = {}): Promise<Converted> => {
  const loaded = await (libraries ??= loadLibraries())
  const start = performance.now()
  const document = new OpenDocument(loaded, path)
  try {
    const end = Math.min(options.limit ?? Infinity, document.facts.pageCount)
    const outline = options.ignoreTags === true ? [] : document.facts.outline
    const facts = { ...document.facts, outline }
    const pages: Array<LayoutPage> = []
    const page = (index: number): PageContent => {
      const content = document.page(index)
      return options.ignoreTags === true ? untagged(content) : content
    }
    const sampled =
      end <= CHUNK
        ? []
        : samplePages(end).map((index) => ({
            index,
            counts: countPages([page(index)], document.fonts.faces)
          }))
    let read = performance.now() - start
    let laidOut = 0
    for (let first = 0; first < end; first += CHUNK) {
      const from = performance.now()
      const chunk: Array<PageContent> = []
      const last = Math.min(end, first + CHUNK)
      for (let index = first; index < last; index++) chunk.push(page(index))
      const others = mergeStatistics(
        sampled.filter(({ index }) => index < first || index >= last).map(({ counts }) => counts)
      )
      const between = performance.now()
      pages.push(...layoutPages({ facts, fonts: document.fonts.faces, pages: chunk, others }))
      read += between - from
      laidOut += performance.now() - between
    }
    const from = performance.now()
    const parts = await Effect.runPromise(
      Effect.gen(function* () {
        const { assemble } = yield* HtmlAssembly
        const name = path.split("/").at(-1)
        return yield* Stream.runCollect(assemble({ facts, name, pages: Stream.fromIterable(pages) }))
      }).pipe(Effect.provide(assemblyLayer))
    )
    const assembled = performance.now() - from
    return { html: parts.join(""), pages, tagged: facts.tagged, read, laidOut, assembled }
  } finally {
    document.close()
  }
}
