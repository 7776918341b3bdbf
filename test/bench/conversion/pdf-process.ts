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
}

const measure = Effect.gen(function* () {
  const document = yield* (yield* Pdf).open(path)
  const { pageCount } = document.facts
  const range = { first: 0, end: pageCount }
  const started = performance.now()
  const cpu = process.cpuUsage()
  let bytes = 0
  if (operation === "split")
    yield* Stream.runForEach(document.split(range), (page) =>
      Effect.sync(() => void (bytes += page.bytes.length))
    )
  else if (operation === "pages") yield* Stream.runDrain(document.pages(range))
  else
    yield* Effect.forEach(
      Array.from({ length: pageCount }, (_, at) => at),
      document.isBlank,
      { discard: true }
    )
  const used = process.cpuUsage(cpu)
  const figures: PdfFigures = {
    pages: pageCount,
    seconds: (performance.now() - started) / 1_000,
    cpuSeconds: (used.user + used.system) / 1e6,
    peakBytes: process.resourceUsage().maxRSS * 1_024,
    bytes
  }
  return figures
})

console.log(
  JSON.stringify(
    await Effect.runPromise(Effect.scoped(measure).pipe(Effect.provide(layerPdf({ threads: 1 }))))
  )
)
