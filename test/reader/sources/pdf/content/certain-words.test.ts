import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"

import { hasCertainWords, contentHead } from "../../../../../src/reader/sources/pdf/content/certain-words.ts"
import { loadLibraries } from "../../../../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../../../../src/reader/sources/pdf/pages/document.ts"
import { isBlankPage } from "../../../../../src/reader/sources/pdf/pages/render.ts"
import { copyPage } from "../../../../../src/reader/sources/pdf/pages/splitter.ts"
import { foreignPdfs, temporaryPdf } from "../../../../support/files/pdf-files.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { line, pdfOf } from "../../../../support/files/pdf-writer.ts"

const WORDS = "Words as they stand on a page"
/** Pages of a foreign file that are looked at. */
const PAGES_A_FILE = 12

/** Contents of pages, and whether words are certain to be seen there. */
const CONTENTS: ReadonlyArray<readonly [content: string, certain: boolean]> = [
  [line(WORDS, 72, 700), true],
  [`0.3 g ${line(WORDS, 72, 700)}`, true],
  [`0 0 0 1 k ${line(WORDS, 72, 700)}`, true],
  [`q 1 g 0 0 612 792 re f Q ${line(WORDS, 72, 700)}`, true],
  [`/P << /MCID 0 >> BDC ${line(WORDS, 72, 700)} EMC`, true],
  [`BT /F1 12 Tf 14 TL 72 700 Td (Words as) Tj T* (they stand ) Tj (on a) ' ET`, true],
  [`BT /F1 12 Tf 72 700 Td [(Wor) -20 (ds as the) 3 (y st\\)and)] TJ ET`, true],
  [`BT /F1 12 Tf 72 700 Td <576f7264732061732074686579207374616e64> Tj ET`, true],
  [`0.1 0 0 0.1 0 0 cm ${line(WORDS, 720, 7000, { size: 120 })}`, true],
  [`0.1 0 0 0.1 0 0 cm ${line(WORDS, 72, 700)}`, false],
  [`1 g ${line(WORDS, 72, 700)}`, false],
  [`1 1 1 rg ${line(WORDS, 72, 700)}`, false],
  [`0 0 0 0 k ${line(WORDS, 72, 700)}`, false],
  [`q 0 g Q q 1 g q Q ${line(WORDS, 72, 700)} Q`, false],
  [`/Some cs 1 scn ${line(WORDS, 72, 700)}`, false],
  [`/Faint gs ${line(WORDS, 72, 700)}`, false],
  [`3 Tr ${line(WORDS, 72, 700)}`, false],
  [`1 Tz ${line(WORDS, 72, 700)}`, false],
  [`/OC /Layer BDC ${line(WORDS, 72, 700)} EMC`, false],
  [line(WORDS, 72, 2_000), false],
  [line(WORDS, -500, 700), false],
  [line(WORDS, 72, 700, { size: 2 }), false],
  [line(" ".repeat(40), 72, 700), false],
  [line("-".repeat(40), 72, 700), false],
  [line("short", 72, 700), false],
  ["0 0 1 1 re f ".repeat(40) + line(WORDS, 72, 700), false],
  ["BT (never ends", false],
  ["]]>> ) >", false],
  ["", false]
]

const finite = (min: number, max: number) =>
  fc.integer({ min: min * 100, max: max * 100 }).map((n) => (n / 100).toFixed(2))

/** Parts of contents, of which hardly any combination is what a writer would make. */
const part = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(finite(-200, 900), finite(-200, 1_000), finite(1, 40))
      .map(([x, y, size]) => `BT /F1 ${size} Tf ${x} ${y} Td (${WORDS}) Tj ET`)
  },
  fc
    .tuple(finite(-2, 2), finite(-2, 2), finite(-2, 2), finite(-2, 2))
    .map((m) => `${m.join(" ")} 100 300 cm`),
  fc
    .tuple(finite(-2, 2), finite(-2, 2))
    .map(
      ([a, d]) =>
        `BT ${a} 0 0 ${d} 300 400 Tm /F2 12 Tf (${WORDS}) Tj 0 -20 TD (${WORDS}) Tj T* [(Wo) 3 (rds)] TJ ET`
    ),
  fc.constantFrom("q", "Q", "0 g", "0.5 g", "1 g", "1 1 1 rg", "0.2 0.1 0.9 rg", "0 0 0 0 k", "0 0 0 0.9 k"),
  fc.constantFrom(
    "3 Tr",
    "0 Tr",
    "7 Tr",
    "1 Tr",
    "20 Tz",
    "/None gs",
    "/DeviceGray cs 1 sc",
    "1 g 0 0 612 792 re f 0 g"
  ),
  fc.constantFrom("/OC /None BDC", "EMC", "BT", "ET", "% (Words) Tj", "<</A (b)>>", "0 0 10 10 re W n")
)

const pagesOf = (contents: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const path = yield* temporaryPdf(
      pdfOf({ pages: contents.map((content) => ({ content })), inherit: true })
    )
    const document = new OpenDocument(yield* Effect.promise(loadLibraries), path)
    const found = contents.map((_, index) => ({
      hasWords: document.singlePage(index, contents.length, true).hasWords,
      blank: isBlankPage(document, index)
    }))
    document.close()
    return found
  })

describe("words that are certain to be seen", () => {
  it.effect("are found where they are, and nowhere else", () =>
    Effect.gen(function* () {
      const found = yield* pagesOf(CONTENTS.map(([content]) => content))
      assert.deepStrictEqual(
        found.map(({ hasWords }, at) => [CONTENTS[at]?.[0], hasWords]),
        CONTENTS.map((one) => [...one])
      )
    })
  )

  it.effect("are found in what either library makes of a page", () =>
    Effect.gen(function* () {
      const path = yield* temporaryPdf(pdfOf({ pages: [{ content: line(WORDS, 72, 700) }] }))
      const libraries = yield* Effect.promise(loadLibraries)
      const document = new OpenDocument(libraries, path)
      const copied = document.withPage(0, (page) => copyPage(libraries.pdfium, page.document, 0))
      assert.include(contentHead(copied ?? new Uint8Array(0)), WORDS)
      assert.include(contentHead(document.singlePage(0, 1, false).bytes), WORDS)
      document.close()
    })
  )

  it.effect("are on no page that is blank, whatever it is made of", () =>
    Effect.gen(function* () {
      const contents = fc.sample(
        fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(" ")),
        300
      )
      const found = yield* pagesOf(contents)
      assert.deepStrictEqual(
        contents.filter((_, at) => found[at]?.hasWords === true && found[at].blank),
        []
      )
      assert.isAbove(found.filter(({ hasWords }) => hasWords).length, 10)
      assert.isAbove(found.filter(({ blank }) => blank).length, 10)
    })
  )

  it.effect("are on no blank page of documents that others made, where there are any", () =>
    Effect.gen(function* () {
      const libraries = yield* Effect.promise(loadLibraries)
      for (const path of foreignPdfs("real")) {
        const document = new OpenDocument(libraries, path)
        const pages = Math.min(PAGES_A_FILE, document.facts.pageCount)
        for (let index = 0; index < pages; index++) {
          const { hasWords } = document.singlePage(index, pages, true)
          if (hasWords === true) assert.isFalse(isBlankPage(document, index), `${path}, page ${index + 1}`)
        }
        document.close()
      }
    })
  )

  it.effect("nothing that a file may be breaks the look at it", () =>
    Effect.gen(function* () {
      const path = yield* temporaryPdf(numbered(1))
      const document = new OpenDocument(yield* Effect.promise(loadLibraries), path)
      const { bytes } = document.singlePage(0, 1, false)
      document.close()
      assert.isString(contentHead(bytes))
      assert.isUndefined(contentHead(new Uint8Array(0)))
      const changed = fc.tuple(fc.nat(bytes.length - 1), fc.uint8Array({ minLength: 1, maxLength: 12 }))
      fc.assert(
        fc.property(fc.array(changed, { maxLength: 20 }), fc.nat(bytes.length), (changes, length) => {
          const broken = bytes.slice(0, length)
          for (const [at, put] of changes)
            broken.set(put.subarray(0, Math.max(0, length - at)), Math.min(at, length))
          contentHead(broken)
        }),
        { numRuns: 300 }
      )
      fc.assert(
        fc.property(fc.string({ unit: "binary-ascii", maxLength: 300 }), (content) => {
          hasCertainWords(content, { x0: 0, y0: 0, x1: 612, y1: 792 })
        }),
        { numRuns: 300 }
      )
    })
  )
})
