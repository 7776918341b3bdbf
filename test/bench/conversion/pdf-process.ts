import { Effect, Stream } from "effect"

import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import { Pdf } from "../../../src/ports/conversion/pdf.ts"

/** A process that does one thing to all pages of one document and prints a {@link PdfFigures}: its peak memory is its own. */
const [path = "", operation = "pages"] = process.argv.slice(2)

/** What one run came to. */
export interface PdfFigures {
  readonly pages: number
  readonly seconds: number
  /** Of the processor, all threads together. */
  readonly cpuSeconds: number
  readonly peakBytes: number
  /** Bytes of what was made, where it has any. */
  readonly bytes: number
  /** CPU seconds of each tenth of the pages. */
  readonly tenths: ReadonlyArray<number>
}

const measure = Effect.gen(function* () {
  const document = yield* (yield* Pdf).open(path)
  const { pageCount } = document.facts
  const range = { first: 0, end: pageCount }
  const started = performance.now()
  const cpu = process.cpuUsage()
  let bytes = 0
  let done = 0
  let last = cpu
  const tenths: Array<number> = []
  const each = () => {
    done += 1
    if (done < ((tenths.length + 1) * pageCount) / 10) return
    const since = process.cpuUsage(last)
    last = process.cpuUsage()
    tenths.push((since.user + since.system) / 1e6)
  }
  if (operation === "split")
    yield* Stream.runForEach(document.split(range), (page) =>
      Effect.sync(() => {
        bytes += page.bytes.length
        each()
      })
    )
  else if (operation === "pages") yield* Stream.runForEach(document.pages(range), () => Effect.sync(each))
  else
    yield* Effect.forEach(
      Array.from({ length: pageCount }, (_, at) => at),
      (page) => Effect.tap(document.isBlank(page), Effect.sync(each)),
      { discard: true }
    )
  const used = process.cpuUsage(cpu)
  const figures: PdfFigures = {
    pages: pageCount,
    seconds: (performance.now() - started) / 1_000,
    cpuSeconds: (used.user + used.system) / 1e6,
    peakBytes: process.resourceUsage().maxRSS * 1_024,
    bytes,
    tenths
  }
  return figures
})

console.log(
  JSON.stringify(
    await Effect.runPromise(Effect.scoped(measure).pipe(Effect.provide(layerPdf({ threads: 1 }))))
  )
)
