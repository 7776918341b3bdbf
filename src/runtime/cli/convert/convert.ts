import { basename, dirname, extname, join, resolve } from "node:path"

import { Clock, Console, Effect, FileSystem, Option, type PlatformError, Schema, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"

import { readableLanguages } from "../../../adapters/tesseract/recognition.ts"
import type { ConvertedDirectly } from "../../../application/conversion/work/direct-conversion.ts"
import { ResultFormats } from "../../../ports/conversion/result-formats.ts"
import { doubtTexts } from "../../../reader/model/doubt.ts"
import type { ExplainedBlock } from "../../../reader/model/explained.ts"
import { leftOutTexts } from "../../../reader/model/left-out.ts"
import type { PageRange } from "../../../reader/model/pdf-document.ts"
import { convertDocument, layerOf, saidOf } from "../../compose/convert-document.ts"
import { languages } from "../../settings/shapes.ts"
import { CommandFailed, print, telling, Json, whyNot } from "../shell.ts"
import { counted, visible } from "../table.ts"
import { makeProgress } from "./progress.ts"

/** Where the result goes instead of a file. */
const STDOUT = "-"

/** Endings of the results' names, by format. */
const ENDINGS = { html: "html", markdown: "md", text: "txt", json: "json" } as const

interface Input {
  readonly file: string
  readonly output: Option.Option<string>
  readonly pages: Option.Option<string>
  readonly ocr: "auto" | "off"
  readonly ocrLanguages: Option.Option<string>
  readonly runningHeads: "drop" | "keep"
  readonly explain: boolean
  readonly force: boolean
  readonly format: keyof typeof ENDINGS
}

/** Pages as they are written, from 1, the last one included: `7`, `1-20`, `5-`. */
export const parsePages = (text: string): PageRange | undefined => {
  const found = /^(\d{1,6})(?:(-)(\d{1,6})?)?$/.exec(text.trim())
  if (found === null) return undefined
  const first = Number(found[1]) - 1
  const last = found[3] === undefined ? undefined : Number(found[3])
  const end = found[2] === undefined ? first + 1 : (last ?? Number.MAX_SAFE_INTEGER)
  return first < 0 || end <= first ? undefined : { first, end }
}

const failed = (message: string) => new CommandFailed({ message })

const noPlace = (error: PlatformError.PlatformError) =>
  Effect.fail(failed(`There is no place for temporary files: ${whyNot(error)}`))

/** How scans are recognised; undefined: they stay pictures. */
const recognitionOf = Effect.fnUntraced(function* ({ ocr, ocrLanguages }: Input) {
  if (ocr === "off") return undefined
  if (Option.isNone(ocrLanguages)) {
    // A missing language matters only for scans; the result then says so.
    const { readable } = readableLanguages()
    return readable.length === 0 ? undefined : { languages: readable }
  }
  const decoded = Schema.decodeUnknownOption(languages)(ocrLanguages.value)
  return Option.isSome(decoded)
    ? { languages: decoded.value }
    : yield* failed(`--ocr-languages ${visible(ocrLanguages.value)}: write codes such as eng,deu`)
})

/** The result in the format that was asked for, of its HTML: other formats are written from the finished file, which is read twice. */
const formatted = Effect.fnUntraced(function* (
  html: ConvertedDirectly["html"],
  { format }: Input,
  folder: string
) {
  type Parts = Stream.Stream<string, Stream.Error<typeof html> | PlatformError.PlatformError>
  const parts: Parts = html
  if (format === "html") return parts
  const files = yield* FileSystem.FileSystem
  const { write } = yield* ResultFormats
  const whole = join(folder, "whole.html")
  yield* Stream.run(Stream.encodeText(html), files.sink(whole)).pipe(
    Effect.catchTag("PlatformError", (error) => noPlace(error))
  )
  const written: Parts = write(Stream.decodeText(files.stream(whole)), { format, pictures: "none" })
  return written
})

/** Writes it whole or not at all. */
const writeTo = Effect.fnUntraced(function* <E, R>(output: string, html: Stream.Stream<string, E, R>) {
  const encoder = new TextEncoder()
  let bytes = 0
  const parts = Stream.map(html, (part) => {
    const encoded = encoder.encode(part)
    bytes += encoded.length
    return encoded
  })
  if (output === STDOUT) {
    const stdio = yield* Stdio.Stdio
    yield* Stream.run(parts, stdio.stdout())
    return bytes
  }
  const files = yield* FileSystem.FileSystem
  const isFile = yield* files.stat(output).pipe(
    Effect.map(({ type }) => type === "File"),
    Effect.orElseSucceed(() => true)
  )
  if (!isFile) {
    // Of a device or a pipe, such as /dev/null, a rename would make a file. Appended to, since nothing can be written at a place of it.
    yield* Stream.run(parts, files.sink(output, { flag: "a" }))
    return bytes
  }
  const folder = yield* files.makeTempDirectoryScoped({ directory: dirname(output), prefix: ".postlane-" })
  const draft = join(folder, "result.html")
  yield* Stream.run(parts, files.sink(draft))
  yield* files.rename(draft, output)
  return bytes
})

/** The given path, links resolved. */
const namedOutput = Effect.fnUntraced(function* (path: string, given: string) {
  const files = yield* FileSystem.FileSystem
  const named = yield* Effect.orElseSucceed(files.realPath(given), () => given)
  const shown = visible(given)
  if (named === (yield* Effect.orElseSucceed(files.realPath(path), () => path)))
    return yield* failed(`${shown} is the document itself: name another file for the result`)
  const there = yield* Effect.option(files.stat(named))
  if (Option.isSome(there) && there.value.type === "Directory")
    return yield* failed(`${shown} is a folder: name the file, too`)
  const place = Option.isSome(there) && there.value.type !== "File" ? named : dirname(named)
  yield* files
    .access(place, { writable: true })
    .pipe(Effect.mapError((error) => failed(`${shown} cannot be written: ${whyNot(error)}`)))
  return named
})

/** Path of the result: the given one, else a new file in the document's folder. */
const outputOf = Effect.fnUntraced(function* (path: string, { force, format, output }: Input) {
  if (Option.isSome(output) && output.value === STDOUT) return STDOUT
  const files = yield* FileSystem.FileSystem
  if (Option.isSome(output)) {
    return yield* namedOutput(path, resolve(output.value))
  }
  const beside = join(dirname(path), `${basename(path, extname(path))}.${ENDINGS[format]}`)
  const isThere = yield* Effect.orElseSucceed(files.exists(beside), () => false)
  if (!isThere) return beside
  if (force) return yield* namedOutput(path, beside)
  const shown = visible(beside)
  return yield* failed(`${shown} is there already. To replace it: --force`)
})

/** The path of a document that is there and can be read. */
const documentAt = Effect.fnUntraced(function* (file: string) {
  const path = resolve(file)
  const files = yield* FileSystem.FileSystem
  const unread = (why: string) => failed(`${visible(file)} cannot be read: ${why}`)
  const { type } = yield* files.stat(path).pipe(Effect.mapError((error) => unread(whyNot(error))))
  if (type !== "File") return yield* unread("it is no file")
  yield* files.access(path, { readable: true }).pipe(Effect.mapError((error) => unread(whyNot(error))))
  return path
})

/** Page numbers as people write them: the first ones, and how many there are where that is a long list. */
const MAX_NAMED = 20
const listed = (pages: ReadonlyArray<number>): string =>
  pages.length <= MAX_NAMED
    ? pages.join(", ")
    : `${pages.slice(0, MAX_NAMED).join(", ")} and ${pages.length - MAX_NAMED} more`

/** Why the text of scans was not read, and what to do. */
const scansNote = (ocr: Input["ocr"]): string => {
  const { missing, readable } = readableLanguages()
  if (ocr === "off") return "their text was not read, since --ocr is off"
  return readable.length === 0
    ? `to have their text read: npm install ${missing.join(" ")}`
    : "no text was found on them"
}

/** What a reader of the result has to know, a line each. */
const notesOf = (document: ConvertedDirectly, { ocr }: Input): ReadonlyArray<string> => {
  const { doubtfulPages, hasText, leftOut, poorlyReadPages, recognisedPages, ...rest } = document
  const { unreadablePages, unreadPictures } = rest
  const notes = [
    unreadablePages.length === 0
      ? ""
      : `${counted(unreadablePages.length, "page")} could not be read: ${listed(unreadablePages)}`,
    recognisedPages === 0 ? "" : `${counted(recognisedPages, "page")} read from pictures: check what matters`,
    poorlyReadPages.length === 0 ? "" : `Not read well: ${listed(poorlyReadPages)}`,
    unreadPictures.length === 0
      ? ""
      : `${counted(unreadPictures.length, "page")} stayed a picture, which not everybody can read (${listed(unreadPictures)}): ${scansNote(ocr)}`,
    hasText ? "" : "There is no word of text in it",
    ...doubtTexts(doubtfulPages),
    ...leftOutTexts(leftOut)
  ]
  return notes.filter((note) => note !== "")
}

/** A line of `--explain`: page, kind, stage and rule, evidence, the block's first words. */
const explanation = ({ evidence = {}, kind, page, rule, stage, text }: ExplainedBlock): string => {
  const features = Object.entries(evidence).map(([name, value]) => `${name}=${value}`)
  return [`p. ${page}`, kind, `${stage}/${rule}`, ...features, JSON.stringify(visible(text))].join("  ")
}

const run = Effect.fnUntraced(function* (input: Input) {
  const started = yield* Clock.currentTimeMillis
  const json = yield* Json
  const path = yield* documentAt(input.file)
  const files = yield* FileSystem.FileSystem
  const range = Option.getOrUndefined(Option.map(input.pages, parsePages))
  if (Option.isSome(input.pages) && range === undefined) {
    return yield* failed(`--pages ${visible(input.pages.value)}: write 7, 1-20 or 5-`)
  }
  const recognition = yield* recognitionOf(input)
  const output = yield* outputOf(path, input)
  if (input.explain && output === STDOUT)
    return yield* failed("--explain and -o - both want the output: leave one out")
  if (json && output === STDOUT) return yield* failed("--json and -o - both want the output: leave one out")
  const progress = yield* makeProgress({ quiet: json })
  const folder = yield* files
    .makeTempDirectoryScoped({ prefix: "postlane-convert-" })
    .pipe(Effect.catch(noPlace))
  const { bytes, ...document } = yield* Effect.gen(function* () {
    yield* progress.phase("Reading the document")
    const made = yield* convertDocument(
      { path, name: basename(path), shown: visible(basename(path)) },
      { range, keepsRunningLines: input.runningHeads === "keep", explains: input.explain },
      ({ done, total }) => progress.pages("Converting", done, total)
    )
    yield* progress.phase("Putting it together")
    const written = yield* Effect.scoped(writeTo(output, yield* formatted(made.html, input, folder)))
    return { ...made, bytes: written }
  }).pipe(
    Effect.provide(layerOf(folder, path, recognition)),
    Effect.ensuring(progress.clear),
    Effect.catchTags(saidOf(visible(input.file))),
    Effect.catchTags({
      NotConverted: ({ message }) => failed(message),
      PlatformError: (error) => failed(`${visible(output)} cannot be written: ${whyNot(error)}`)
    })
  )
  const seconds = ((yield* Clock.currentTimeMillis) - started) / 1000
  const notes = notesOf(document, input)
  if (output === STDOUT) {
    for (const note of notes) yield* Console.error(note)
    return
  }
  const { html: _, ...facts } = document
  const reasons = (document.explained ?? []).map(explanation)
  const size = `${counted(document.pages, "page")}, ${Math.ceil(bytes / 1024)} KB, ${seconds.toFixed(1)} s`
  yield* print({
    json: { ok: true, input: path, output, bytes, seconds, ...facts },
    text: [...reasons, `${visible(output)}: ${size}`, ...notes].join("\n")
  })
})

const config = {
  file: Argument.String("file").pipe(
    Argument.withDescription("A PDF, a Word document (DOCX) or a picture (PNG, JPEG)")
  ),
  output: Flag.String("output").pipe(
    Flag.withAlias("o"),
    Flag.withDescription("Path of the result (default: in the document's folder); - is the standard output"),
    Flag.withMetavar("<path>"),
    Flag.optional
  ),
  format: Flag.Literals("format", ["html", "markdown", "text", "json"]).pipe(
    Flag.withDescription(
      "html (default): one accessible file; markdown, text and json: what it says, without pictures"
    ),
    Flag.withDefault("html" as const)
  ),
  pages: Flag.String("pages").pipe(
    Flag.withDescription("These pages of a PDF only: 7, 1-20 or 5-"),
    Flag.withMetavar("<range>"),
    Flag.optional
  ),
  ocr: Flag.Literals("ocr", ["auto", "off"]).pipe(
    Flag.withDescription(
      "auto (default): pages that are scans are read from their pictures, on this machine; off: they stay pictures"
    ),
    Flag.withDefault("auto" as const)
  ),
  runningHeads: Flag.Literals("running-heads", ["drop", "keep"]).pipe(
    Flag.withDescription(
      "drop (default): running headers, footers and page numbers are left out; keep: they stay"
    ),
    Flag.withDefault("drop" as const)
  ),
  explain: Flag.Boolean("explain").pipe(
    Flag.withDescription(
      "Print each block of a PDF with the stage and the rule that made it, and their evidence"
    ),
    Flag.withDefault(false)
  ),
  force: Flag.Boolean("force").pipe(
    Flag.withAlias("f"),
    Flag.withDescription("Replace a result in the document's folder; one that -o names is always replaced"),
    Flag.withDefault(false)
  ),
  ocrLanguages: Flag.String("ocr-languages").pipe(
    Flag.withDescription(
      "Languages of scans, the commonest first (default: eng,deu,fra,spa); others need their package @tesseract.js-data/…"
    ),
    Flag.withMetavar("<codes>"),
    Flag.optional
  )
}

/** `postlane convert`. */
export const convert = Command.make("convert", config, (input) => telling(Effect.scoped(run(input)))).pipe(
  Command.withDescription(
    "Convert a document on this machine into one accessible HTML file. Needs no server, no database and no network, and charges nothing."
  ),
  Command.withExamples([
    { command: "postlane convert report.pdf", description: "Writes report.html to the same folder" },
    { command: "postlane convert report.pdf --pages 1-20 -o intro.html", description: "A part of it" },
    {
      command: "postlane convert report.pdf --format markdown -o -",
      description: "As Markdown, to the output"
    }
  ])
)
