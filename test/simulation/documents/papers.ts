import { Context, Effect, Stream } from "effect"

import type { ModelCall } from "../../../src/domain/cascade/model-call.ts"
import type { FileKind } from "../../../src/domain/conversion/file.ts"
import { BatchLines } from "../../../src/ports/batch/batch-lines.ts"
import { DocumentInspector, DocxConverter } from "../../../src/ports/conversion/documents.ts"
import { HtmlAssembly, LanguageDetector } from "../../../src/ports/conversion/html-assembly.ts"
import { PageSources } from "../../../src/ports/conversion/page-sources.ts"
import { Pdf, type PdfDocument } from "../../../src/ports/conversion/pdf.ts"
import { Surveyor } from "../../../src/reader/html/survey.ts"
import type { LayoutPage } from "../../../src/reader/model/layout-page.ts"
import type { DocumentFacts, PageContent } from "../../../src/reader/model/page-content.ts"
import { PdfError } from "../../../src/reader/model/pdf-document.ts"
import type { Chance } from "../kernel.ts"
import type { WholeObjects } from "./objects.ts"

/** What a page of this world is. */
type PageKind = "words" | "blank" | "broken"

/** A document of this world: what it is, in place of what a real one holds. */
export interface Paper {
  readonly name: string
  readonly kind: FileKind
  readonly pages: ReadonlyArray<PageKind>
  /** Its reader crashes, until nothing fails any more. */
  readonly isFragile?: boolean
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The bytes of a document, or of a page of it. */
export const bytesOf = (paper: Paper): Uint8Array => encoder.encode(JSON.stringify(paper))

/** The same, read. */
export const paperOf = (bytes: Uint8Array): Paper => JSON.parse(decoder.decode(bytes)) as Paper

/** What identifies a page in whatever is made of it. */
export const markOf = (name: string, page: number): string => `${name} page ${page} `

/** The words of a page: enough of them that leaving some out is noticed. */
export const wordsOf = (name: string, page: number): string =>
  `${markOf(name, page)}one two three four five six seven eight nine ten eleven twelve`

const htmlOf = (name: string, page: number): string => `<p>${wordsOf(name, page)}</p>`

const pageBytes = ({ name, pages }: Paper, page: number): Uint8Array =>
  encoder.encode(JSON.stringify({ name, page, isBlank: pages[page] === "blank" }))

/** What a model writes into the HTML of a page, which the layout tier does not. */
const BY_MODEL = "as a model reads it:"

/** The words of a page as a model reads them. */
export const readWords = ({ isBlank = false, name, page }: AskedPage): string =>
  isBlank ? "" : `${BY_MODEL} ${wordsOf(name, page)}`

/** Whether a model made this of a page. */
export const isByModel = (html: string): boolean => html.includes(BY_MODEL)

/** A page that a model is asked about. */
interface AskedPage {
  readonly name: string
  readonly page: number
  readonly isBlank?: boolean
}

/** The pages that a model is asked about; a picture is its document's only one. */
export const askedPages = (call: ModelCall): ReadonlyArray<AskedPage> =>
  call.messages.flatMap(({ content }) =>
    content.flatMap((block) => {
      const bytes = "pdf" in block ? block.pdf : "picture" in block ? block.picture : undefined
      return bytes === undefined
        ? []
        : [{ page: 0, ...(JSON.parse(decoder.decode(bytes)) as { name: string }) }]
    })
  )

/** The one page of a call of the batch lane. */
const askedPage = (call: ModelCall): AskedPage => {
  const [page] = askedPages(call)
  if (page === undefined) throw new Error("a call without a page")
  return page
}

/** The page of a call that stands in a record of the batch lane. */
export interface BatchRecordLine {
  readonly recordId: string
  readonly name: string
  readonly page: number
}

/** A document: one that a few bytes describe. */
export const drawPaper = (chance: Chance, name: string, fragile = 0): Paper => {
  const kind = chance.pick<FileKind>(["pdf", "pdf", "pdf", "pdf", "png", "docx"])
  const count = kind === "pdf" ? chance.int(1, 7) : 1
  const allBroken = chance.bool(0.05)
  const pages = Array.from({ length: count }, (): PageKind => {
    const draw = chance.next()
    if (kind !== "pdf") return "words"
    if (allBroken || draw < 0.08) return "broken"
    return draw < 0.16 ? "blank" : "words"
  })
  return { name, kind, pages, isFragile: chance.bool(fragile) }
}

const broken = (page: number) => new PdfError({ reason: "broken", message: "it is broken", page })

const layoutOf = ({ name, pages }: Paper, index: number): Effect.Effect<LayoutPage, PdfError> =>
  pages[index] === "broken"
    ? Effect.fail(broken(index))
    : Effect.succeed({
        index,
        label: String(index + 1),
        tier: "layout",
        text: pages[index] === "blank" ? "" : wordsOf(name, index),
        html: pages[index] === "blank" ? "" : htmlOf(name, index)
      })

const factsOf = ({ pages }: Paper): DocumentFacts => ({
  pageCount: pages.length,
  title: undefined,
  author: undefined,
  lang: "en",
  tagged: false,
  outline: [],
  fonts: []
})

/** The pages of stored documents. */
export const pageSourcesOver = ({ whole }: WholeObjects, crashed: () => boolean): PageSources["Service"] => {
  const read = (key: string) =>
    Effect.flatMap(Effect.map(whole(key), paperOf), (paper) =>
      paper.isFragile === true && crashed()
        ? Effect.fail(new PdfError({ reason: "crashed", message: "its reader crashed" }))
        : Effect.succeed(paper)
    )
  return PageSources.of({
    facts: (key) => Effect.map(read(key), factsOf),
    open: (key) =>
      Effect.map(read(key), (paper) => ({
        page: (index) =>
          Effect.succeed({
            index,
            isBlank: Effect.succeed(paper.pages[index] === "blank"),
            layout: layoutOf(paper, index),
            recognised: layoutOf(paper, index),
            pdf:
              paper.pages[index] === "broken"
                ? Effect.fail(broken(index))
                : Effect.succeed(pageBytes(paper, index)),
            image: Effect.succeed(pageBytes(paper, index))
          })
      }))
  })
}

/** What a flyer needs of a page: its mark is in the picture's place. */
const contentOf = (paper: Paper, index: number): Effect.Effect<PageContent, PdfError> =>
  paper.pages[index] === "broken"
    ? Effect.fail(broken(index))
    : Effect.succeed({
        index,
        label: String(index + 1),
        width: 100,
        height: 100,
        runs: [],
        drawings: [],
        groups: [],
        links: [],
        fields: [],
        structure: []
      })

const notUsed = () => Stream.die(new Error("not used here"))

const documentOf = (paper: Paper): PdfDocument => ({
  facts: factsOf(paper),
  leftOut: Effect.succeed(undefined),
  fonts: Effect.succeed([]),
  pages: ({ end, first }) =>
    Stream.mapEffect(Stream.range(first, end - 1), (index) => contentOf(paper, index)),
  split: notUsed,
  render: (index) =>
    Effect.succeed({
      mediaType: "image/png",
      bytes: encoder.encode(markOf(paper.name, index)),
      width: 1,
      height: 1
    }),
  image: () => Effect.succeed(null),
  scan: () => Effect.die("no page of these is a scan"),
  layoutRead: () => Effect.die("no page of these is a scan"),
  isBlank: (index) => Effect.succeed(paper.pages[index] === "blank"),
  blanks: notUsed,
  layout: notUsed
})

/** A line for each page of a result: from 0, and what is on it. */
const assembly = HtmlAssembly.of({
  clean: (html) => Effect.succeed(html),
  survey: (pages) => Effect.as(Stream.runDrain(pages), new Surveyor().survey()),
  assemble: ({ pages }) => Stream.map(pages, ({ html, index }) => `${index}:${html}\n`)
})

/** Tokens of a model's answer. */
export const USAGE = { inputTokens: 100, outputTokens: 10 }

const batchLines = BatchLines.of({
  makeWriter: () => (recordId, call) =>
    encoder.encode(`${JSON.stringify({ recordId, ...askedPage(call) } satisfies BatchRecordLine)}\n`),
  read: (line) => {
    try {
      const { answer, recordId } = JSON.parse(decoder.decode(line)) as {
        recordId: string
        answer: { text: string; stopReason: string } | undefined
      }
      return { recordId, usage: USAGE, answer }
    } catch {
      return undefined
    }
  }
})

/** All that conversions read and write documents with but their pages, on the files of this machine by their keys. */
export const readersOf = (files: ReadonlyMap<string, Uint8Array>) => {
  const read = (path: string) => Effect.sync(() => paperOf(files.get(path) ?? new Uint8Array()))
  return Context.make(Pdf, { open: (path) => Effect.map(read(path), documentOf) }).pipe(
    Context.add(DocumentInspector, {
      inspect: (path) => Effect.map(read(path), ({ kind, pages }) => ({ kind, pages: pages.length }))
    }),
    Context.add(DocxConverter, {
      inspect: () => Effect.succeed({ pages: 1 }),
      convert: (path) =>
        Effect.map(read(path), ({ name }) => ({
          title: undefined,
          parts: [{ html: htmlOf(name, 0), goesOn: "" }],
          pictures: new Map(),
          pages: 1
        }))
    }),
    Context.add(HtmlAssembly, assembly),
    Context.add(BatchLines, batchLines),
    Context.add(LanguageDetector, { detect: () => Effect.succeed(undefined) })
  )
}

/** What a result shows: the number of each page in it, and its HTML. */
export const shownPages = (
  result: Uint8Array
): ReadonlyArray<{ readonly page: number; readonly html: string }> =>
  decoder
    .decode(result)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const at = line.indexOf(":")
      return { page: Number(line.slice(0, at)), html: line.slice(at + 1) }
    })
