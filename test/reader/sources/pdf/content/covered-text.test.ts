/** Words that something is drawn over later: what nobody sees is not read, what may be seen is. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { loadLibraries } from "../../../../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../../../../src/reader/sources/pdf/pages/document.ts"
import { temporaryPdf } from "../../../../support/files/pdf-files.ts"
import { line, pdfOf, ref } from "../../../../support/files/pdf-writer.ts"

const text = [740, 726, 712].map((y) => line("Words that everybody sees", 72, y)).join("")
const secret = line("Secret name", 72, 500)
const BOX = "60 490 200 30 re f\n"
const picture = (name: string, width: number, height: number, x: number, y: number) =>
  `q ${width} 0 0 ${height} ${x} ${y} cm /${name} Do Q\n`

/** What is read of a page with these drawings behind its words: `I` is a picture, `S` one that is seen through. `entries`: more of the page. */
const readOf = (content: string, entries?: string) =>
  Effect.gen(function* () {
    const bytes = pdfOf({
      pages: [{ content: text + content }],
      more: (writer) => {
        const image = (pixel: ReadonlyArray<number>, space: string, more = "") =>
          ref(
            writer.stream(Buffer.from(pixel), {
              dictionary: `/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /${space} /BitsPerComponent 8 ${more}`
            })
          )
        const mask = image([60], "DeviceGray")
        const seen = image([200, 30, 30], "DeviceRGB", `/SMask ${mask}`)
        const states = "/ExtGState << /T << /ca 0.4 >> /M << /BM /Multiply >> >>"
        return {
          ...(entries === undefined ? {} : { entries: [entries] }),
          resources: `/XObject << /I ${image([200, 30, 30], "DeviceRGB")} /S ${seen} >> ${states}`
        }
      }
    })
    const document = new OpenDocument(yield* Effect.promise(loadLibraries), yield* temporaryPdf(bytes))
    const runs = document.page(0).runs
    document.close()
    return runs.map((run) => run.text).join(" ")
  })

const isRead = (name: string, content: string, expected: boolean, entries?: string) =>
  it.effect(name, () =>
    Effect.gen(function* () {
      const read = yield* readOf(content, entries)
      assert.strictEqual(read.includes("Secret name"), expected, read)
      assert.include(read, "Words that everybody sees")
    })
  )

describe("words below a shape", () => {
  isRead("are not read below a black one", `${secret}0 g ${BOX}`, false)
  isRead("are not read below a white one", `${secret}1 g ${BOX}`, false)
  isRead("are not read below a picture", secret + picture("I", 200, 30, 60, 490), false)
  it.effect("are not read where others are written over them", () =>
    Effect.gen(function* () {
      const read = yield* readOf(`${secret}1 g ${BOX}0 g ${line("Public", 72, 500)}`)
      assert.isTrue(read.includes("Public") && !read.includes("Secret"))
    })
  )
  it.effect("are not read where one cover hides them, and other words are seen through another", () =>
    Effect.gen(function* () {
      const other = line("Marked word", 72, 400)
      const read = yield* readOf(`${secret}${other}0 g ${BOX}/M gs 1 1 0 rg 60 390 200 30 re f\n`)
      assert.isTrue(read.includes("Marked word") && !read.includes("Secret"))
    })
  )
  for (const turned of [90, 180, 270]) {
    const entries = `/Rotate ${turned} /CropBox [40 60 600 780]`
    isRead(
      `are not read on a page that is cut and turned by ${turned}°`,
      `${secret}0 g ${BOX}`,
      false,
      entries
    )
    isRead(
      `are read through one on a page turned by ${turned}°`,
      `${secret}/T gs 1 1 0 rg ${BOX}`,
      true,
      entries
    )
  }
  isRead("are read on one that was drawn before", `0.9 g ${BOX}0 g ${secret}`, true)
  isRead("are read through one", `${secret}/T gs 1 1 0 rg ${BOX}`, true)
  isRead("are read through a marker's colour", `${secret}/M gs 1 1 0 rg ${BOX}`, true)
  isRead("are read through a picture", secret + picture("S", 200, 30, 60, 490), true)
  isRead("are read where the shape is cut off", `${secret}q 300 300 9 9 re W n 0 g ${BOX}Q\n`, true)
  isRead("are read where it covers a part", `${secret}0 g 60 490 40 30 re f\n`, true)
  isRead("are read below the picture of a page", secret + picture("I", 612, 792, 0, 0), true)
  isRead(
    "are read below one in strips",
    secret + picture("I", 612, 400, 0, 0) + picture("I", 612, 392, 0, 400),
    true
  )
})
