import { closeSync, openSync, writeSync } from "node:fs"

import { line, PdfWriter, ref } from "./pdf-writer.ts"

/** Pixels of each page's picture; three bytes each, not compressed. */
const WIDTH = 190
const HEIGHT = 180
const LINES = 40
const WORDS = "the page holds words that nobody reads so that its length is that of a real one".split(" ")

/**
 * Writes a file of `pages` pages with 40 lines of text, and a picture of 100 KB where there are `pictures`, without holding it in
 * memory.
 */
export const writeLargePdf = (path: string, pages: number, pictures = true): void => {
  const file = openSync(path, "w")
  const writer = new PdfWriter((bytes) => {
    writeSync(file, bytes)
  })
  const font = writer.object(
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
  )
  const tree = writer.reserve()
  const kids: Array<string> = []
  const pixels = Buffer.alloc(WIDTH * HEIGHT * 3)
  let seed = 1
  const picture = () => {
    for (let at = 0; at < pixels.length; at++) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      pixels[at] = seed >>> 24
    }
    const image = writer.stream(pixels, {
      dictionary: `/Type /XObject /Subtype /Image /Width ${WIDTH} /Height ${HEIGHT} /ColorSpace /DeviceRGB /BitsPerComponent 8`
    })
    return { draw: "q 190 0 0 180 400 20 cm /I Do Q", resource: `/XObject << /I ${ref(image)} >>` }
  }
  for (let page = 0; page < pages; page++) {
    const { draw, resource } = pictures ? picture() : { draw: "", resource: "" }
    const text = Array.from({ length: LINES }, (_, at) =>
      line(`${page}.${at} ${WORDS.slice(at % 7).join(" ")}`, 72, 720 - at * 14, { size: 10 })
    )
    const content = writer.stream(`${text.join("")}${draw}`, { compress: true })
    kids.push(
      ref(
        writer.object(
          `<< /Type /Page /Parent ${ref(tree)} /MediaBox [0 0 612 792] /Contents ${ref(content)} ` +
            `/Resources << /Font << /F1 ${ref(font)} >> ${resource} >> >>`
        )
      )
    )
  }
  writer.object(`<< /Type /Pages /Count ${pages} /Kids [${kids.join(" ")}] >>`, tree)
  writer.finish(writer.object(`<< /Type /Catalog /Pages ${ref(tree)} >>`))
  closeSync(file)
}
