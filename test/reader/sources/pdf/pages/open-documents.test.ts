import { mkdtempSync, readlinkSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, afterEach, assert, beforeEach, describe, it, vi } from "vitest"

import { LAYOUT_PLAN } from "../../../../../src/application/conversion/work/layout-plan.ts"
import { loadLibraries } from "../../../../../src/reader/sources/pdf/engine/libraries.ts"
import type { OpenDocument } from "../../../../../src/reader/sources/pdf/pages/document.ts"
import { layoutOf } from "../../../../../src/reader/sources/pdf/pages/layout.ts"
import { OpenDocuments } from "../../../../../src/reader/sources/pdf/pages/open-documents.ts"
import { bitmapFont } from "../../../../support/files/bitmap-font.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { line, pdfOf, ref } from "../../../../support/files/pdf-writer.ts"

const libraries = await loadLibraries()
const folder = mkdtempSync(join(tmpdir(), "postlane-open-"))
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => void vi.useRealTimers())

let files = 0
const written = (pages: number, bytes = numbered(pages)): string => {
  const path = join(folder, `${files++}.pdf`)
  writeFileSync(path, bytes)
  return path
}

/** Pages of a document of 60 that are not among its sample. */
const [TELLING, DOUBTFUL] = [26, 29]

/** A document with a bitmap font on two pages: one has the letters that tell that it is monospaced. */
const inBitmaps = (telling = TELLING, doubtful = DOUBTFUL): Buffer =>
  pdfOf({
    pages: Array.from({ length: 60 }, (_, at) => ({
      content:
        at === telling ? "/Tells Do\n" : at === doubtful ? "/Doubtful Do\n" : line(`Page ${at}`, 72, 700)
    })),
    more: (writer) => {
      const font = bitmapFont(
        writer,
        Array.from({ length: 26 }, () => 52)
      )
      const forms = ["little mimic", "mmmm"].map((words) =>
        writer.stream(line(words, 72, 700, { font: "G" }), {
          dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /G ${ref(font)} >> >>`
        })
      )
      return { resources: `/XObject << /Tells ${ref(forms[0] ?? 0)} /Doubtful ${ref(forms[1] ?? 0)} >>` }
    }
  })

const isMonospaced = (document: OpenDocument, page: number): boolean | undefined =>
  document.fonts.faces[document.page(page).runs[0]?.font ?? -1]?.monospace

/** A document whose last page refers to its first. */
const referring = (): Buffer =>
  pdfOf({
    pages: Array.from({ length: 12 }, (_, at) => ({
      content:
        line("2 Methods", 72, 700, { font: "F2", size: 18 }) +
        line(`It is done on page ${at} as Section 2 and Section 3 say of it.`, 72, 660)
    })).with(5, {
      content: line("3 Results", 72, 700, { font: "F2", size: 18 }) + line("They are good.", 72, 660)
    })
  })

/** How often this process has a file open; Linux only. */
const opened = (path: string): number =>
  readdirSync("/proc/self/fd").filter((file) => {
    try {
      return readlinkSync(`/proc/self/fd/${file}`) === path
    } catch {
      return false
    }
  }).length

/** The first pages of a range that is laid out together. */
const chunk = (document: OpenDocument, first: number, end: number, pages = end - first) =>
  Array.from({ length: pages }, (_, at) => layoutOf(document, first + at, end, LAYOUT_PLAN).html)

describe("documents that were closed", () => {
  it("linger for the next who asks, who finds them as if they had been opened anew", () => {
    const path = written(12, referring())
    const documents = new OpenDocuments(libraries)
    const first = documents.of(1, path, [])
    // Five pages are laid out that nobody asks for any more.
    chunk(first, 0, 10, 5)
    documents.close(1)
    const again = documents.of(2, path, [])
    assert.strictEqual(again, first)
    const fresh = () => new OpenDocuments(libraries).of(1, path, [])
    const apart = chunk(again, 6, 7)
    assert.deepStrictEqual(apart, chunk(fresh(), 6, 7))
    assert.notDeepEqual(apart, chunk(fresh(), 0, 10).slice(6, 7))
  })

  it("do not remember what pages have shown of fonts but those of the sample", () => {
    const documents = new OpenDocuments(libraries)
    const path = written(60, inBitmaps())
    const first = documents.of(1, path, [])
    chunk(first, 0, 1)
    assert.isTrue(isMonospaced(first, TELLING))
    assert.isTrue(isMonospaced(first, DOUBTFUL))
    documents.close(1)
    const again = documents.of(2, path, [])
    assert.strictEqual(again, first)
    assert.isFalse(isMonospaced(again, DOUBTFUL))
  })

  it("read alike for the first who asks and the next, where a page of the sample tells of the fonts of one before it", () => {
    const documents = new OpenDocuments(libraries)
    const path = written(60, inBitmaps(1, 0))
    const first = chunk(documents.of(1, path, []), 0, 2)
    documents.close(1)
    assert.include(first[0], "<code>")
    assert.deepStrictEqual(chunk(documents.of(2, path, []), 0, 2), first)
  })

  it("are no other's while somebody has them", () => {
    const path = written(2)
    const documents = new OpenDocuments(libraries)
    assert.notStrictEqual(documents.of(1, path, []), documents.of(2, path, []))
    assert.strictEqual(documents.of(1, path, []), documents.of(1, path, []))
  })

  it("are opened anew where the file is another now, or the caller knows faces", () => {
    const path = written(2)
    const documents = new OpenDocuments(libraries)
    documents.of(1, path, [])
    documents.close(1)
    renameSync(written(5), path)
    const other = documents.of(2, path, [])
    assert.strictEqual(other.facts.pageCount, 5)
    documents.close(2)
    const known = documents.of(3, path, [...other.fonts.faces, { ...FACE, name: "Known" }])
    assert.notStrictEqual(known, other)
    assert.strictEqual(known.fonts.faces.at(-1)?.name, "Known")
  })

  it("go when another one comes, and after a while", () => {
    const [path, other] = [written(2), written(3)]
    const documents = new OpenDocuments(libraries)
    documents.of(1, path, [])
    documents.close(1)
    assert.strictEqual(opened(path), 1)
    documents.of(2, other, [])
    assert.deepStrictEqual([opened(path), opened(other)], [0, 1])
    documents.close(2)
    vi.advanceTimersByTime(9_000)
    // Asked for again, it stays as long as it is wanted.
    documents.of(3, other, [])
    vi.advanceTimersByTime(60_000)
    assert.strictEqual(opened(other), 1)
    documents.close(3)
    vi.advanceTimersByTime(9_000)
    documents.of(4, other, [])
    documents.close(4)
    vi.advanceTimersByTime(9_000)
    assert.strictEqual(opened(other), 1)
    vi.advanceTimersByTime(2_000)
    assert.strictEqual(opened(other), 0)
  })

  it("are few", () => {
    const documents = new OpenDocuments(libraries)
    const path = written(2)
    for (let key = 0; key < 9; key++) documents.of(key, path, [])
    assert.strictEqual(opened(path), 3)
    for (let key = 0; key < 9; key++) documents.close(key)
    assert.strictEqual(opened(path), 3)
    vi.advanceTimersByTime(11_000)
    assert.strictEqual(opened(path), 0)
  })
})

const FACE = { name: "", weight: 400, italic: false, monospace: false, serif: false, symbolic: false }
