import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import type { StructureElement, TextRun } from "../../../src/reader/model/page-content.ts"
import { extractBytes } from "../../support/files/pdf-files.ts"
import { linked, tagged, withForm, withImage } from "../../support/files/pdf-samples.ts"
import { line, pdfOf, type PageSpec, ref } from "../../support/files/pdf-writer.ts"

const pageOf = (page: PageSpec) =>
  Effect.map(extractBytes(pdfOf({ pages: [page] })), ({ facts, pages }) => {
    const [only] = pages
    assert.isDefined(only)
    return { facts, page: only }
  })
const textOf = (runs: ReadonlyArray<TextRun>) => runs.map(({ text }) => text)
const near = (actual: number | undefined, expected: number, within = 1) =>
  assert.approximately(actual ?? Number.NaN, expected, within)

it.live("a run has its words, place, size, font and colour", () =>
  Effect.gen(function* () {
    const { facts, page } = yield* pageOf({
      content: `1 0 0 rg ${line("Hello wide world", 72, 700)}${line("Strong", 72, 600, { font: "F2", size: 24 })}`
    })
    assert.deepStrictEqual(textOf(page.runs), ["Hello wide world", "Strong"])
    const [plain, strong] = page.runs
    assert.isDefined(plain)
    assert.isDefined(strong)
    assert.strictEqual(plain.baseline, 92)
    assert.strictEqual(plain.size, 12)
    assert.strictEqual(plain.color, 0xff0000)
    assert.strictEqual(plain.edges.length, plain.text.length + 1)
    near(plain.edges[0], 72)
    // Helvetica's own widths: "Hello wide world" is 7.279 ems.
    near(plain.edges.at(-1), 72 + 12 * 7.279, 0.01)
    assert.isTrue(plain.edges.every((edge, at) => at === 0 || edge >= (plain.edges[at - 1] ?? 0)))
    assert.isBelow(plain.box.y0, plain.baseline)
    assert.isAbove(plain.box.y1, plain.baseline)
    assert.deepStrictEqual(
      [plain, strong].map(({ font }) => [facts.fonts[font]?.name, facts.fonts[font]?.weight]),
      [
        ["Helvetica", 400],
        ["Helvetica-Bold", 700]
      ]
    )
  })
)

it.live("runs end where style, line or column ends, and keep the space between two styles", () =>
  Effect.gen(function* () {
    const { page } = yield* pageOf({
      content:
        "BT /F1 12 Tf 72 700 Td (plain ) Tj /F2 12 Tf (bold) Tj ET\n" +
        line("left", 72, 680) +
        line("right", 300, 680) +
        line("below", 72, 660)
    })
    assert.deepStrictEqual(textOf(page.runs), ["plain ", "bold", "left", "right", "below"])
  })
)

it.live("a narrow tab behind a section's number is a space; a letter right behind a number is none", () =>
  Effect.gen(function* () {
    // Helvetica's "1.10" is 1.946 ems wide, "12" 1.112.
    const after = (number: string, width: number, gap: number, y: number) =>
      line(number, 72, y) + line("Usage of it", 72 + 12 * (width + gap), y)
    const { page } = yield* pageOf({
      content:
        after("1.10", 1.946, 0.11, 700) + after("1.10", 1.946, 0.01, 600) + after("12", 1.112, 0.11, 500)
    })
    assert.deepStrictEqual(textOf(page.runs), ["1.10 Usage of it", "1.10Usage of it", "12Usage of it"])
  })
)

it.live(
  "letters that are drawn around in their own colour are bold, as word processors draw them without a bold font",
  () =>
    Effect.gen(function* () {
      const outlined = (words: string, y: number, width: number, stroke: string) =>
        `q 0 0 1 rg ${stroke} RG BT 2 Tr ${width} w /F1 12 Tf 72 ${y} Td (${words}) Tj ET Q `
      const { facts, page } = yield* pageOf({
        content:
          outlined("Bold", 700, 0.36, "0 0 1") +
          outlined("Hairline", 650, 0.1, "0 0 1") +
          outlined("Framed", 600, 0.36, "1 0 0") +
          line("Plain", 72, 550)
      })
      assert.deepStrictEqual(
        page.runs.map(({ font, text }) => [text, facts.fonts[font]?.weight]),
        [
          ["Bold", 700],
          ["Hairline", 400],
          ["Framed", 400],
          ["Plain", 400]
        ]
      )
    })
)

it.live("a hyphen at a line's end is recognized and left out; one within a line stays", () =>
  Effect.gen(function* () {
    const { page } = yield* pageOf({
      content: line("a well-known hyphen-", 72, 700) + line("ation ends", 72, 686)
    })
    assert.deepStrictEqual(
      page.runs.map(({ hyphenated, text }) => [text, hyphenated]),
      [
        ["a well-known hyphen", true],
        ["ation ends", false]
      ]
    )
  })
)

it.live("the page is as it is shown: cropped and turned", () =>
  Effect.gen(function* () {
    for (const [rotate, x, y, angle] of [
      [0, 50, 180, 0],
      [90, 20, 50, 90],
      [180, 350, 20, 180],
      [270, 180, 350, 270]
    ] as const) {
      const { page } = yield* pageOf({
        content: line("Turned", 150, 120),
        entries: `/CropBox [100 100 500 300] /Rotate ${rotate}`
      })
      assert.deepStrictEqual([page.width, page.height], rotate % 180 === 0 ? [400, 200] : [200, 400])
      const [run] = page.runs
      assert.isDefined(run)
      assert.strictEqual(run.angle, angle)
      // The origin of the first letter, whichever corner of the box it is in.
      const corner = {
        0: [run.box.x0, run.baseline],
        90: [run.baseline, 0],
        180: [run.box.x1, run.baseline],
        270: [0, run.baseline]
      }[rotate]
      if (rotate % 180 === 0) assert.deepStrictEqual(corner, [x, y])
      else assert.strictEqual(run.baseline, y)
      assert.isTrue(
        run.box.x0 >= 0 && run.box.x1 <= page.width && run.box.y0 >= 0 && run.box.y1 <= page.height
      )
    }
  })
)

it.live("text that is there for search only is marked", () =>
  Effect.gen(function* () {
    const { page } = yield* pageOf({
      content: `3 Tr ${line("scanned", 72, 700)} 0 Tr ${line("seen", 72, 600)}`
    })
    assert.deepStrictEqual(
      page.runs.map(({ invisible }) => invisible),
      [true, false]
    )
  })
)

it.live("facts, outline, labels, links and rules", () =>
  Effect.gen(function* () {
    const { facts, pages } = yield* extractBytes(linked())
    assert.deepStrictEqual(
      { ...facts, fonts: facts.fonts.length },
      {
        pageCount: 2,
        title: "A title",
        author: "Somebody",
        lang: "de-AT",
        tagged: false,
        fonts: 1,
        outline: [
          { title: "Chapter", level: 1, page: 1 },
          { title: "Ü", level: 2, page: undefined }
        ]
      }
    )
    assert.deepStrictEqual(
      pages.map(({ label }) => label),
      ["iv", "A-1"]
    )
    assert.deepStrictEqual(
      pages.map(({ links }) => links),
      [
        [
          { box: { x0: 72, y0: 77, x1: 120, y1: 102 }, target: { kind: "page", page: 1, y: 472 } },
          {
            box: { x0: 130, y0: 77, x1: 190, y1: 102 },
            target: { kind: "uri", uri: "https://example.org/a" }
          }
        ],
        [{ box: { x0: 72, y0: 482, x1: 120, y1: 502 }, target: { kind: "page", page: 0, y: undefined } }]
      ]
    )
    const rules = pages[0]?.drawings.map((drawing) =>
      drawing.kind === "path"
        ? [drawing.box.y0, drawing.box.y1, drawing.stroked, drawing.filled, drawing.color]
        : []
    )
    // A filled bar, and two lines that are one path.
    assert.deepStrictEqual(rules, [
      [191, 192, false, true, 0x0000ff],
      [291.5, 292.5, true, false, 0],
      [391.5, 392.5, true, false, 0]
    ])
  })
)

const find = (elements: StructureElement["children"], type: string): StructureElement | undefined => {
  for (const element of elements) {
    if ("mcid" in element) continue
    const found = element.type === type ? element : find(element.children, type)
    if (found !== undefined) return found
  }
  return undefined
}

it.live("tags: roles, attributes, artifacts, and an element that goes on over a page break", () =>
  Effect.gen(function* () {
    const {
      facts,
      pages: [first, second]
    } = yield* extractBytes(tagged())
    assert.isTrue(facts.tagged)
    assert.isDefined(first)
    assert.isDefined(second)
    assert.deepStrictEqual(
      first.runs.map(({ artifact, mcid, text }) => [text, mcid, artifact]),
      [
        ["Heading", 0, false],
        ["A paragraph that", 1, false],
        ["Running foot", undefined, true]
      ]
    )
    assert.deepStrictEqual(find(first.structure, "H1")?.children, [{ mcid: 0 }])
    const [before, after] = [find(first.structure, "P"), find(second.structure, "P")]
    assert.deepStrictEqual([before?.children, after?.children], [[{ mcid: 1 }], [{ mcid: 0 }]])
    assert.strictEqual(before?.lang, "fr")
    assert.strictEqual(before?.id, after?.id)
    assert.notStrictEqual(before?.id, find(first.structure, "H1")?.id)
    assert.strictEqual(find(second.structure, "Table")?.alt, "A table")
    assert.deepStrictEqual(find(second.structure, "TH")?.attributes, { ColSpan: 2, Scope: "Column" })
    assert.isUndefined(find(first.structure, "TH"))
  })
)

it.live("form fields with their descriptions, values and options", () =>
  Effect.gen(function* () {
    const {
      pages: [page]
    } = yield* extractBytes(withForm())
    assert.deepStrictEqual(page?.fields, [
      {
        box: { x0: 120, y0: 72, x1: 300, y1: 92 },
        kind: "text",
        name: "name",
        label: "Your name",
        value: "Ada",
        checked: false,
        options: []
      },
      {
        box: { x0: 120, y0: 102, x1: 140, y1: 122 },
        kind: "checkbox",
        name: "agree",
        label: undefined,
        value: "Yes",
        checked: true,
        options: []
      },
      {
        box: { x0: 120, y0: 132, x1: 300, y1: 152 },
        kind: "choice",
        name: "country",
        label: undefined,
        value: "France",
        checked: false,
        options: ["Austria", "France"]
      }
    ])
  })
)

it.live("the content of a form XObject has its place on the page and its marks", () =>
  Effect.gen(function* () {
    const {
      facts,
      pages: [page]
    } = yield* extractBytes(withImage())
    assert.deepStrictEqual(page?.drawings, [
      {
        kind: "image",
        box: { x0: 210, y0: 332, x1: 290, y1: 372 },
        index: 0,
        mcid: undefined,
        artifact: true
      }
    ])
    const [run] = page?.runs ?? []
    assert.deepStrictEqual([run?.text, run?.artifact, run?.size, run?.baseline], ["Inside", true, 12, 752])
    assert.isTrue(facts.fonts[run?.font ?? -1]?.italic)
  })
)

it.live("an image of one dot that is painted through is a rectangle: programs for DVI draw rules so", () =>
  Effect.gen(function* () {
    const dots = (width: number, more: string): Buffer =>
      pdfOf({
        pages: [{ content: "q 1 0 0 rg 80 0 0 0.5 100 200 cm /I Do Q" }],
        more: (writer) => {
          const image = writer.stream(Buffer.from([0, 0, 0]), {
            dictionary: `/Type /XObject /Subtype /Image /Width ${width} /Height 1 ${more}`
          })
          return { resources: `/XObject << /I ${ref(image)} >>` }
        }
      })
    const stencil = "/ImageMask true /BitsPerComponent 1"
    const { pages } = yield* extractBytes(dots(1, stencil))
    const [rectangle] = pages[0]?.drawings ?? []
    assert.deepStrictEqual(rectangle, {
      kind: "path",
      box: { x0: 100, y0: 591.5, x1: 180, y1: 592 },
      stroked: false,
      filled: true,
      curved: false,
      color: 0xff0000,
      mcid: undefined,
      artifact: false
    })
    for (const picture of [dots(8, stencil), dots(1, "/ColorSpace /DeviceRGB /BitsPerComponent 8")]) {
      const others = yield* extractBytes(picture)
      assert.strictEqual(others.pages[0]?.drawings[0]?.kind, "image")
    }
  })
)

it.live("glyphs of a Type 3 font are as large as they are drawn, whatever scale the font has", () =>
  Effect.gen(function* () {
    const bytes = pdfOf({
      pages: [{ content: "/Form Do\n" }],
      more: (writer) => {
        const glyph = writer.stream("85 0 0 0 80 90 d1\n0 0 80 90 re f\n")
        const font = writer.object(
          "<< /Type /Font /Subtype /Type3 /FontMatrix [1 0 0 1 0 0] /FontBBox [0 -20 80 90] /FirstChar 97 /LastChar 98 " +
            `/Widths [85 85] /CharProcs << /a ${ref(glyph)} /b ${ref(glyph)} >> ` +
            "/Encoding << /Type /Encoding /Differences [97 /a /b] >> >>"
        )
        const form = writer.stream(
          "BT /T3 0.1 Tf 1 0 0 1 72 700 Tm (abba) Tj 1 0 0 1 110 700 Tm (ab) Tj ET\n",
          {
            dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /T3 ${ref(font)} >> >>`
          }
        )
        return { resources: `/XObject << /Form ${ref(form)} >>` }
      }
    })
    const {
      pages: [page]
    } = yield* extractBytes(bytes)
    assert.deepStrictEqual(textOf(page?.runs ?? []), ["abba ", "ab"])
    near(page?.runs[0]?.size, 11)
  })
)

/** Words with ligatures that only their names tell, in a document with so many bytes more. */
const withLigatures = (padding: number) =>
  pdfOf({
    pages: [{ content: "/Form Do\n" }],
    more: (writer) => {
      writer.stream(" ".repeat(padding))
      const font = (name: string, differences: string) =>
        ref(
          writer.object(
            `<< /Type /Font /Subtype /Type1 /BaseFont /${name} ` +
              `/Encoding << /Type /Encoding /Differences [${differences}] >> >>`
          )
        )
      const fonts = `/T ${font("Words", "20 /T_h 27 /f_i /f_f_i.alt")} /S ${font("Signs", "28 /sign_of")}`
      const form = writer.stream(
        "BT /T 12 Tf 72 700 Td (\\024e o\\034ce modi\\033ed it) Tj /S 12 Tf 0 -40 Td (over \\034under) Tj ET\n",
        {
          dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << ${fonts} >> >>`
        }
      )
      return { resources: `/XObject << /Form ${ref(form)} >>` }
    }
  })

it.live("a ligature that no list of Unicode's names has is read by the letters in its name", () =>
  Effect.gen(function* () {
    const {
      pages: [page]
    } = yield* extractBytes(withLigatures(0))
    assert.deepStrictEqual(textOf(page?.runs ?? []), ["The office modified it", "over under"])
    const [run] = page?.runs ?? []
    // The letters of a ligature share its box.
    assert.isTrue(run?.edges.every((edge, at) => edge >= (run.edges[at - 1] ?? 0)))
  })
)

it.live("signs of TeX's faces are read by their codes, and those with names of others by their faces", () =>
  Effect.gen(function* () {
    const {
      pages: [page]
    } = yield* extractBytes(
      pdfOf({
        pages: [{ content: "/Form Do\n" }],
        more: (writer) => {
          const font = (name: string, differences: string) =>
            ref(
              writer.object(
                `<< /Type /Font /Subtype /Type1 /BaseFont /${name} ` +
                  `/Encoding << /Type /Encoding /Differences [${differences}] >> >>`
              )
            )
          const fonts =
            `/B ${font("MSBM10", "82 /R")} /L ${font("LASY10", "40 /a40 /a41")} ` +
            `/I ${font("CMMI10", "45 /hookright")} /E ${font("CMEX10", "0 /parenleftbig 181 /parenleftbigg")} ` +
            `/T ${font("Words", "")}`
          const form = writer.stream(
            "BT /B 12 Tf 72 700 Td (R) Tj /L 12 Tf 0 -20 Td (\\(\\() Tj /E 12 Tf 0 -20 Td (\\265) Tj 0 -20 Td (\\000) Tj " +
              "/T 12 Tf 0 -20 Td (value) Tj /I 12 Tf (-) Tj /T 12 Tf 0 -20 Td (next) Tj ET\n",
            {
              dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << ${fonts} >> >>`
            }
          )
          return { resources: `/XObject << /Form ${ref(form)} >>` }
        }
      })
    )
    assert.deepStrictEqual(textOf(page?.runs ?? []), ["ℝ", "‹‹", "(", "(", "value", "↩", "next"])
  })
)

it.live("no page of a large document is copied for its ligatures", () =>
  Effect.gen(function* () {
    const {
      pages: [page]
    } = yield* extractBytes(withLigatures(17 * 1024 * 1024))
    assert.deepStrictEqual(textOf(page?.runs ?? []), ["e oce modied it", "over under"])
  })
)

it.live("cells as near as words are runs of their own where no space is drawn between them", () =>
  Effect.gen(function* () {
    const { page } = yield* pageOf({
      content:
        `${line("one", 72, 700)}${line("first", 95, 700)}` +
        `${line("two ", 72, 680)}${line("joined", 96, 680)}`
    })
    assert.deepStrictEqual(textOf(page.runs), ["one ", "first", "two joined"])
  })
)

it.live("text that is drawn word by word is cut no more once that is seen", () =>
  Effect.gen(function* () {
    const rows = Array.from({ length: 6 }, (_, row) =>
      Array.from({ length: 8 }, (__, word) => line("word", 72 + 30 * word, 700 - 20 * row)).join("")
    )
    const { page } = yield* pageOf({ content: rows.join("") })
    const texts = textOf(page.runs)
    assert.strictEqual(texts.join(" ").trim().split(/\s+/).length, 48)
    assert.deepStrictEqual(
      texts.slice(-4),
      Array.from({ length: 4 }, () => "word word word word word word word word")
    )
  })
)

it.live("an accent and the letter that it is drawn over are one letter", () =>
  Effect.gen(function* () {
    const { page } = yield* pageOf({
      content: "BT /F1 12 Tf 72 700 Td [(K) (\\250) 333 (oln \\(x ^ 2 ~)] TJ ET\n"
    })

    assert.deepStrictEqual(textOf(page.runs), ["Köln (x ^ 2 ~"])
  })
)

it.live(
  "an accent that is drawn once its line has ended, or in another font, is its letter's, and one beside the line stays",
  () =>
    Effect.gen(function* () {
      const at = (text: string, x: number, y: number, font = "F1") =>
        `BT /${font} 12 Tf ${x} ${y} Td (${text}) Tj ET\n`
      const { page } = yield* pageOf({
        content:
          // Helvetica: the letter "u" stands from 75.3 to 82.
          at("fur das Projekt", 72, 700) +
          at("\\250", 76.7, 699.6) +
          at("und das andere", 72, 680) +
          at("fur", 72, 660) +
          at("\\250", 89, 660) +
          // Of another font.
          at("fur", 72, 640) +
          at("\\250", 76.7, 640, "F2") +
          at("ode", 72, 620) +
          at("\\250", 73, 622.8, "F2")
      })
      assert.deepStrictEqual(
        textOf(page.runs).map((text) => text.trim()),
        ["für das Projekt", "und das andere", "fur", "¨", "für", "öde"]
      )
    })
)

it.live(
  "lines of Hebrew and Arabic are read as they are meant, with words and numbers of other directions",
  () =>
    Effect.gen(function* () {
      const bytes = pdfOf({
        pages: [{ content: "/Form Do\n" }],
        more: (writer) => {
          const codes = { a: "05D0", b: "05D1", c: "05D2", l: "06440627", s: "0635", z: "0020" }
          const map = writer.stream(
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange " +
              `${Object.keys(codes).length} beginbfchar ${Object.entries(codes)
                .map(([letter, code]) => `<${letter.charCodeAt(0).toString(16)}> <${code}>`)
                .join(" ")} endbfchar endcmap end end`
          )
          const font = writer.object(
            `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode ${ref(map)} >>`
          )
          const form = writer.stream(
            line("cb UTF-8 ba ,12/05 cb", 72, 700, { font: "G" }) +
              line("ca )17( ab", 72, 680, { font: "G" }) +
              line("ls", 72, 660, { font: "G" }) +
              // A space of no width keeps letters from being joined.
              "BT /G 12 Tf 72 640 Td [(s)278( )278(s)] TJ ET",
            {
              dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /G ${ref(font)} >> >>`
            }
          )
          return { resources: `/XObject << /Form ${ref(form)} >>` }
        }
      })
      const {
        pages: [page]
      } = yield* extractBytes(bytes)
      assert.deepStrictEqual(
        textOf(page?.runs ?? []).map((text) => text.trim()),
        ["בג", "12/05", ", אב", "UTF-8", "בג", "בא (17) אג", "صلا", "ص\u200cص"]
      )
    })
)

it.live("a word whose letters are set apart is one word", () =>
  Effect.gen(function* () {
    const { page } = yield* pageOf({
      content: `BT /F1 12 Tf 72 700 Td [${Array.from("CURRICULUM VITAE", (letter) => (letter === " " ? "-400" : `-160 (${letter})`)).join(" ")}] TJ ET\n`
    })
    assert.deepStrictEqual(textOf(page.runs), ["CURRICULUM VITAE"])
  })
)

it.live("letters that are set apart are words, however far apart they are", () =>
  Effect.gen(function* () {
    const heading = (tracking: number) =>
      `BT /F1 10 Tf 72 700 Td [${"Little simple fillings".replaceAll(/./g, `($&) -${tracking} `)}] TJ ET`
    for (const tracking of [0, 50, 100, 150, 200, 250]) {
      const { page } = yield* pageOf({ content: heading(tracking) })
      assert.deepStrictEqual(textOf(page.runs), ["Little simple fillings"], `${tracking} of 1,000 apart`)
    }
  })
)

it.live("an accent tears no word, and leaves the spaces that a gap shows", () =>
  Effect.gen(function* () {
    const at = (text: string, x: number, y = 700) => `BT /F1 12 Tf ${x} ${y} Td (${text}) Tj ET\n`
    const { page } = yield* pageOf({
      // Helvetica: "Schlusselw" ends at 132.7, its "u" begins at 96; "Gluck" ends at 102.7, its "u" begins at 84.
      content:
        at("Schlusselw", 72) +
        at("\\250", 97.4, 699.5) +
        at("\\250", 134.1, 699.5) +
        at("orter", 132.7) +
        at("Gluck", 72, 660) +
        at("\\250", 85.4, 659.5) +
        at("\\250", 106.2, 659.5) +
        at("uber", 104.8, 660) +
        // An accent in the middle of a wider letter that follows.
        "BT /F1 12 Tf 72 640 Td [(f)-139(\\250)472(ur)-360(\\250)472(ode)] TJ ET"
    })
    assert.deepStrictEqual(
      textOf(page.runs).map((text) => text.trim()),
      ["Schlüsselwörter", "Glück über", "für öde"]
    )
  })
)

it.live("an accent that is raised over a capital is its letter's, at a line's beginning and within it", () =>
  Effect.gen(function* () {
    const raised = (letter: string, rise: number) => `${rise} Ts [(\\250) 333] TJ 0 Ts (${letter}) Tj`
    const { page } = yield* pageOf({
      content:
        `BT /F1 12 Tf 72 700 Td ${raised("U", 2.8)} (ber GR) Tj ${raised("O", 2.8)} (SSE) Tj ET\n` +
        "BT /F1 12 Tf 72 660 Td (20) Tj 4 Ts (\\260) Tj 0 Ts (C) Tj ET\n" +
        "BT /F1 12 Tf 72 620 Td (line) Tj 12 Ts (\\250) Tj 0 Ts (next) Tj ET\n"
    })
    const texts = textOf(page.runs)
    assert.strictEqual(texts[0], "Über GRÖSSE")
    assert.strictEqual(page.runs[0]?.baseline, page.height - 700)
    assert.notInclude(texts.slice(1).join(""), "Ü")
    // What is raised by a line is no accent of this one.
    assert.isTrue(texts.some((text) => text.trim() === "¨"))
  })
)

it.live(
  "a font whose name says that it is plain is not bold by its stems, and one that says nothing is",
  () =>
    Effect.gen(function* () {
      const names = ["CMR10", "CMBX10", "Times-Italic", "Unknown"]
      const bytes = pdfOf({
        pages: [{ content: "/Form Do\n" }],
        more: (writer) => {
          const fonts = names.map((name) => {
            const descriptor = writer.object(
              `<< /Type /FontDescriptor /FontName /${name} /Flags 4 /StemV 140 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 >>`
            )
            return writer.object(
              `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /FontDescriptor ${ref(descriptor)} /FirstChar 97 /LastChar 97 /Widths [500] >>`
            )
          })
          const form = writer.stream(
            names.map((_, at) => line("aaa", 72, 700 - 20 * at, { font: `G${at}` })).join(""),
            {
              dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << ${fonts.map((font, at) => `/G${at} ${ref(font)}`).join(" ")} >> >>`
            }
          )
          return { resources: `/XObject << /Form ${ref(form)} >>` }
        }
      })
      const { facts } = yield* extractBytes(bytes)
      assert.deepStrictEqual(
        names.map((name) => (facts.fonts.find((face) => face.name === name)?.weight ?? 0) >= 600),
        [false, true, false, true]
      )
    })
)
