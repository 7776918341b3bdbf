import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { loadLibraries } from "../../../../../src/reader/sources/pdf/engine/libraries.ts"
import { parseObject, type PdfValue } from "../../../../../src/reader/sources/pdf/engine/pdf-objects.ts"
import { OpenDocument } from "../../../../../src/reader/sources/pdf/pages/document.ts"
import { isBlankPage } from "../../../../../src/reader/sources/pdf/pages/render.ts"
import { temporaryPdf } from "../../../../support/files/pdf-files.ts"
import { line, pdfOf, type PdfWriter, ref } from "../../../../support/files/pdf-writer.ts"

/** `O` is off, `V` on; `S` is off and has the name of one that is on; `U` is off, but for those who look at it; `M` is off with `O`. */
const LAYERS = ["O", "V", "S", "U"] as const
const NAMES = { O: "(Old prices)", V: "<FEFF00DC>", S: "<FEFF00DC>", U: "(Seen \\\\ \\(on\\))" }

const within = (layer: string, content: string): string => `/OC /${layer} BDC ${content}EMC\n`

/** Adds the layers: off are those that `settings` says. */
const withLayers = (settings: (id: Readonly<Record<string, string>>) => string) => (writer: PdfWriter) => {
  const ids = Object.fromEntries(
    LAYERS.map((name) => {
      const usage = name === "U" ? "/Usage << /View << /ViewState /ON >> >>" : ""
      return [name, ref(writer.object(`<< /Type /OCG /Name ${NAMES[name]} ${usage} >>`))]
    })
  )
  const several = writer.object(`<< /Type /OCMD /OCGs [${ids["O"]}] >>`)
  const form = writer.stream(line("form", 72, 500) + "72 490 50 2 re f\n", {
    dictionary:
      "/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
  })
  const all = Object.values(ids).join(" ")
  return {
    catalog: `/OCProperties ${ref(writer.object(`<< /OCGs [${all}] /D << ${settings(ids)} >> >>`))}`,
    resources: `/XObject << /X ${ref(form)} >> /Properties << ${LAYERS.map((name) => `/${name} ${ids[name]}`).join(" ")} /M ${ref(several)} >>`
  }
}

const PAGES = [
  line("plain", 72, 720) +
    within("O", `${line("off", 72, 700)}72 690 50 2 re f\n`) +
    within("V", line("on", 72, 680)),
  within("O", "/X Do "),
  within("V", `${within("O", line("both", 72, 660))}/X Do `),
  within("S", line("same", 72, 640)) +
    within("U", line("used", 72, 620)) +
    within("M", line("member", 72, 600))
]

const readWith = (settings: (id: Readonly<Record<string, string>>) => string) =>
  Effect.gen(function* () {
    const bytes = pdfOf({ pages: PAGES.map((content) => ({ content })), more: withLayers(settings) })
    const path = yield* temporaryPdf(bytes)
    const document = new OpenDocument(yield* Effect.promise(loadLibraries), path)
    const found = PAGES.map((_, index) => {
      const { drawings, groups, runs } = document.page(index)
      const text = runs.map((run) => run.text).join(" ")
      return [text, drawings.length, groups.length, isBlankPage(document, index)]
    })
    document.close()
    return found
  })

it.effect(
  "what is in a layer that is off is left out, whatever it stands in; a layer that may be on is kept",
  () =>
    Effect.gen(function* () {
      const all = [
        ["plain off on", 1, 0, false],
        ["form", 1, 1, false],
        ["both form", 1, 1, false],
        ["same used member", 0, 0, false]
      ]
      assert.deepStrictEqual(yield* readWith(() => ""), all)
      assert.deepStrictEqual(yield* readWith(({ O, S, U }) => `/OFF [${O} ${S} ${U}]`), [
        ["plain on", 0, 0, false],
        ["", 0, 0, true],
        ["form", 1, 1, false],
        ["same used member", 0, 0, false]
      ])
      const base = yield* readWith(() => "/BaseState /OFF")
      // One that is off for all, but for those who look at it, is none that all are off with.
      assert.deepStrictEqual(base[0], ["plain", 0, 0, false])
      assert.deepStrictEqual(base[3], ["used member", 0, 0, false])
      const some = yield* readWith(({ V }) => `/BaseState /OFF /ON [${V}]`)
      assert.deepStrictEqual(some[0], ["plain on", 0, 0, false])
    })
)

it.effect(
  "a form and an image that are in a layer by an entry of their own are left out where it is off, alone and within others",
  () =>
    Effect.gen(function* () {
      const contents = [
        `${line("plain", 72, 720)}/Off Do /On Do q 50 0 0 50 72 300 cm /OffImage Do Q q 50 0 0 50 172 300 cm /OnImage Do Q`,
        "/Around Do",
        "/Scan Do",
        "/Off Do"
      ]
      const read = (off: boolean) =>
        Effect.gen(function* () {
          const bytes = pdfOf({
            pages: contents.map((content) => ({ content })),
            more: (writer) => {
              const layer = (name: string) => ref(writer.object(`<< /Type /OCG /Name (${name}) >>`))
              const [hidden, shown] = [layer("hidden"), layer("shown")]
              const several = ref(writer.object(`<< /Type /OCMD /OCGs [${hidden}] /P /AnyOn >>`))
              const form = (content: string, entries: string) =>
                ref(
                  writer.stream(content, {
                    dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] ${entries}`
                  })
                )
              const FONTS = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
              const image = (oc: string) =>
                ref(
                  writer.stream(Buffer.from([200, 30, 40]), {
                    dictionary: `/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceRGB /BitsPerComponent 8 /OC ${oc}`
                  })
                )
              const one = form(line("off", 72, 600), `/OC ${hidden} /Resources << ${FONTS} >>`)
              const other = form(line("on", 72, 580), `/OC ${shown} /Resources << ${FONTS} >>`)
              const member = form(line("member", 72, 560), `/OC ${several} /Resources << ${FONTS} >>`)
              const around = form(
                `${line("around", 72, 540)}/Member Do /On Do`,
                `/Resources << ${FONTS} /XObject << /Member ${member} /On ${other} >> >>`
              )
              // Words that nobody is to see, as those beside a scan: they are no layer's.
              const scan = form(
                `BT 3 Tr ET ${line("scanned", 72, 520)}`,
                `/OC ${shown} /Resources << ${FONTS} >>`
              )
              return {
                catalog: `/OCProperties << /OCGs [${hidden} ${shown}] /D << ${off ? `/OFF [${hidden}]` : ""} >> >>`,
                resources: `/XObject << /Off ${one} /On ${other} /OffImage ${image(hidden)} /OnImage ${image(shown)} /Around ${around} /Scan ${scan} >>`
              }
            }
          })
          const path = yield* temporaryPdf(bytes)
          const document = new OpenDocument(yield* Effect.promise(loadLibraries), path)
          const found = contents.map((_, index) => {
            const { drawings, runs } = document.page(index)
            return [runs.map((run) => run.text).join(" "), drawings.length, isBlankPage(document, index)]
          })
          document.close()
          return found
        })
      assert.deepStrictEqual(yield* read(false), [
        ["plain off on", 2, false],
        ["around member on", 0, false],
        ["scanned", 0, true],
        ["off", 0, false]
      ])
      assert.deepStrictEqual(yield* read(true), [
        ["plain on", 1, false],
        ["around on", 0, false],
        ["scanned", 0, true],
        ["", 0, true]
      ])
    })
)

it("objects are read as qpdf prints them, cut off or nested without end", () => {
  const printed = "<< /A [ 1 -2.5 (x \\(y\\) \\101) <feff00dc> 3 0 R true ] /B << /C /D#20E >> >>"
  assert.deepStrictEqual(
    parseObject(printed),
    new Map<string, PdfValue>([
      ["/A", [1, -2.5, "(x (y) A", "(\u00dc", { ref: 3 }, "true"]],
      ["/B", new Map([["/C", "/D#20E"]])]
    ])
  )
  for (let end = 0; end < printed.length; end++) parseObject(printed.slice(0, end))
  parseObject("[".repeat(100_000))
  parseObject("<< /A ".repeat(100_000))
})
