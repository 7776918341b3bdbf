import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"

import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import { Pdf } from "../../../src/ports/conversion/pdf.ts"
import { MAX_PICTURE_PIXELS } from "../../../src/reader/model/pdf-document.ts"
import type { RecognisedText } from "../../../src/reader/model/recognised-text.ts"
import { encodePng } from "../../../src/reader/sources/pdf/content/png.ts"
import { temporaryPdf } from "../../support/files/pdf-files.ts"
import { line, pdfOf, type PdfWriter, ref } from "../../support/files/pdf-writer.ts"
import { jpeg } from "../../support/files/picture-files.ts"
import { scannedPdf } from "../../support/files/scanned-pages.ts"
import { typedPdf } from "../../support/files/typed-picture.ts"

const grey = (width: number, height: number, level = 200) => ({
  width,
  height,
  dpi: 100,
  bytes: new Uint8Array(width * height).fill(level)
})

/** As a recogniser would read it from a page of 200 to 300 points. */
const read = (words: ReadonlyArray<string>, confidence = 95): RecognisedText => ({
  turn: 0,
  skew: 0,
  width: 200,
  height: 300,
  lines: words.map((text, at) => ({
    baseline: 40 + 14 * at,
    height: 9,
    words: text.split(" ").map((word, place) => ({
      text: word,
      confidence,
      box: { x0: 20 + 30 * place, y0: 33 + 14 * at, x1: 46 + 30 * place, y1: 42 + 14 * at }
    }))
  }))
})

const PROSE = [
  "The keeper of the light went up the narrow stairs each evening before the sun",
  "was down, and wrote in his book what he had seen of ships and of weather."
]

/** A font whose glyphs have made-up names: its codes are all that is known of them. */
const nameless = (writer: PdfWriter): { readonly fonts: string } => {
  const box = writer.stream("500 0 0 0 400 500 d1 0 0 400 500 re f")
  const codes = Array.from({ length: 224 }, (_, at) => 32 + at)
  const font = writer.object(
    "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 500 500] /FontMatrix [0.001 0 0 0.001 0 0] " +
      `/CharProcs << ${codes.map((code) => `/zz${code}q ${ref(box)}`).join(" ")} >> ` +
      `/Encoding << /Type /Encoding /Differences [32 ${codes.map((code) => `/zz${code}q`).join(" ")}] >> ` +
      `/FirstChar 32 /LastChar 255 /Widths [${codes.map(() => 500).join(" ")}] >>`
  )
  return { fonts: `/F9 ${ref(font)}` }
}

layer(layerPdf({ threads: 1 }))("scans", (it) => {
  it.effect("DOC-23: a page without a text is a scan; one with text is not", () =>
    Effect.gen(function* () {
      const pdf = yield* Pdf
      const scan = yield* pdf.open(yield* temporaryPdf(scannedPdf([grey(300, 400)])))
      const [page] = yield* Stream.runCollect(scan.layout({ first: 0, end: 1 }))
      assert.strictEqual(page?.isScan, true)
      const typed = yield* pdf.open(yield* temporaryPdf(typedPdf))
      const [other] = yield* Stream.runCollect(typed.layout({ first: 0, end: 1 }))
      assert.strictEqual(other?.isScan, undefined)
    })
  )

  it.effect("DOC-23: codes of glyphs that have no letters are rubble; those that are letters are text", () =>
    Effect.gen(function* () {
      const pdf = yield* Pdf
      const shift = (words: string) =>
        words.replaceAll(/[A-Za-z]/g, (sign) => String.fromCodePoint(sign.charCodeAt(0) - 31))
      const pages = [PROSE, PROSE.map(shift)].flatMap((lines) =>
        ["F9", "F1"].map((font) => ({
          content: lines.map((words, at) => line(words, 40, 700 - 20 * at, { font })).join("")
        }))
      )
      const document = yield* pdf.open(yield* temporaryPdf(pdfOf({ pages, more: nameless })))
      const found = yield* Stream.runCollect(document.layout({ first: 0, end: 4 }))
      // A document may mean such a text, as a table of codes does: then its glyphs have names.
      assert.deepStrictEqual(
        found.map(({ isRubble }) => isRubble),
        [undefined, undefined, true, undefined]
      )
    })
  )

  it.effect("DOC-23: a picture is a document of one scanned page, as large as what it probably shows", () =>
    Effect.gen(function* () {
      const pdf = yield* Pdf
      const png = (width: number, height: number) =>
        encodePng({ ...grey(width, height), channels: 1, data: grey(width, height).bytes })
      const sizes: Array<readonly [number, number]> = []
      for (const bytes of [png(960, 480), png(1654, 2339), png(3308, 4678), jpeg()]) {
        const document = yield* pdf.open(yield* temporaryPdf(bytes))
        assert.strictEqual(document.facts.pageCount, 1)
        const [page] = yield* Stream.runCollect(document.layout({ first: 0, end: 1 }))
        assert.strictEqual(page?.isScan, true)
        const { height, width } = yield* document.scan(0)
        sizes.push([width, height])
      }
      // A screen's picture is drawn finer; a sheet at 200 dpi as it is, one at 400 dpi at 200.
      const [screen, sheet, fine] = sizes
      assert.deepStrictEqual(screen, [2000, 1000])
      for (const one of [sheet, fine]) {
        assert.closeTo(one?.[0] ?? 0, 1654, 10)
        assert.closeTo(one?.[1] ?? 0, 2339, 10)
      }
      const broken = yield* Effect.flip(pdf.open(yield* temporaryPdf(jpeg().subarray(0, 40))))
      assert.strictEqual(broken.reason, "broken")
    })
  )

  it.effect("DOC-23: a page is drawn for reading at 200 dpi, in bounds however large it is", () =>
    Effect.gen(function* () {
      const pages: ReadonlyArray<readonly [number, number]> = [
        [612, 792],
        [14_000, 14_000],
        [14_000, 2],
        [1, 1]
      ]
      const document = yield* (yield* Pdf).open(
        yield* temporaryPdf(
          pdfOf({ pages: pages.map(([x, y]) => ({ content: "0 0 1 1 re f", mediaBox: [0, 0, x, y] })) })
        )
      )
      const drawn = yield* Effect.forEach(pages, (_, index) => document.scan(index))
      assert.deepStrictEqual(
        [drawn[0]?.width, drawn[0]?.height, Math.round(drawn[0]?.dpi ?? 0)],
        [1700, 2200, 200]
      )
      for (const { bytes, height, width } of drawn) {
        assert.strictEqual(bytes.length, width * height)
        assert.isAtMost(bytes.length, MAX_PICTURE_PIXELS)
        assert.isAtMost(Math.max(width, height), 16_000)
      }
    })
  )

  it.effect("DOC-23: the words that were read are the page's text, its picture stays with it", () =>
    Effect.gen(function* () {
      const document = yield* (yield* Pdf).open(
        yield* temporaryPdf(scannedPdf([grey(278, 417), grey(278, 417, 190)]))
      )
      const text = read(["these are the words", "of a short page"])
      const page = yield* document.layoutRead(0, [
        { page: 0, text },
        { page: 1, text }
      ])
      assert.strictEqual(page.tier, "recognised")
      assert.match(
        page.html,
        /^<p[^>]*>these are the words of a short page<\/p><details data-scan="good"><img src="data:image\/png;base64,[\w+/=]+"><\/details>$/
      )
      const poor = yield* document.layoutRead(0, [{ page: 0, text: read(["these are the words"], 45) }])
      assert.strictEqual(poor.tier, "poorly-recognised")
      assert.match(poor.html, /^<details data-scan="poor">.*<\/details><p[^>]*>these are the words<\/p>$/)
      for (const nothing of [read(["wqx zzv"], 20), undefined]) {
        const unread = yield* document.layoutRead(0, [{ page: 0, text: nothing }])
        assert.strictEqual(unread.tier, "poorly-recognised")
        assert.match(unread.html, /^<details data-scan="nothing">[^ ]*<img src="[^"]+"><\/details>$/)
      }
    })
  )

  it.effect("DOC-23: a stamp on a scan is kept as the document has it", () =>
    Effect.gen(function* () {
      const content = `q 200 0 0 300 0 0 cm /Scan0 Do Q ${line("Copy 17 of 20", 20, 280, { size: 8 })}`
      const bytes = pdfOf({
        pages: [{ content, mediaBox: [0, 0, 200, 300] }],
        more: (writer) => ({
          resources: `/XObject << /Scan0 ${writer.stream(Buffer.alloc(100, 200), {
            dictionary:
              "/Type /XObject /Subtype /Image /Width 10 /Height 10 /ColorSpace /DeviceGray /BitsPerComponent 8"
          })} 0 R >>`
        })
      })
      const document = yield* (yield* Pdf).open(yield* temporaryPdf(bytes))
      const [page] = yield* Stream.runCollect(document.layout({ first: 0, end: 1 }))
      assert.strictEqual(page?.isScan, true)
      const text = read(["Cop l7 of 2O", "and what was scanned"])
      const stamped = yield* document.layoutRead(0, [
        { page: 0, text: { ...text, lines: text.lines.map((one, at) => (at === 0 ? moved(one) : one)) } }
      ])
      assert.include(stamped.html, "Copy 17 of 20")
      assert.include(stamped.html, "and what was scanned")
      assert.notInclude(stamped.html, "l7")
    })
  )
})

/** Onto the stamp. */
const moved = (one: RecognisedText["lines"][number]): RecognisedText["lines"][number] => ({
  ...one,
  baseline: 20,
  words: one.words.map((word, place) => ({
    ...word,
    box: { x0: 21 + 12 * place, y0: 14, x1: 31 + 12 * place, y1: 21 }
  }))
})
