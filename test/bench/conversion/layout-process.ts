import { closeSync, openSync, writeSync } from "node:fs"

import { Effect, Layer, Stream } from "effect"

import { layer as assemblyLayer } from "../../../src/adapters/html/html-assembly.ts"
import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import type { LayoutPage } from "../../../src/domain/conversion/layout/layout-pages.ts"
import { HtmlAssembly } from "../../../src/ports/conversion/html-assembly.ts"
import { Pdf } from "../../../src/ports/conversion/pdf.ts"
import { passes } from "./passes.ts"

/** A process that makes one HTML document of a PDF as the service does: pages laid out in a thread, then put together. */
const [path = "", target = "", times = "1"] = process.argv.slice(2)

const convert = Effect.scoped(
  Effect.gen(function* () {
    const document = yield* (yield* Pdf).open(path)
    const { facts } = document
    const pages: Array<LayoutPage> = []
    yield* Stream.runForEach(document.layout({ first: 0, end: facts.pageCount }), (page) =>
      Effect.sync(() => void pages.push(page))
    )
    const file = openSync(target, "w")
    const { assemble } = yield* HtmlAssembly
    yield* Stream.runForEach(
      assemble({ facts, name: "document", pages: Stream.fromIterable(pages) }),
      (part) => Effect.sync(() => void writeSync(file, part))
    )
    closeSync(file)
  })
)

const layers = Layer.merge(layerPdf({ threads: 1 }), assemblyLayer)

await Effect.runPromise(
  Effect.gen(function* () {
    const context = yield* Effect.context<Pdf | HtmlAssembly>()
    const figures = yield* Effect.promise(() =>
      passes(Number(times), () => Effect.runPromise(Effect.provide(convert, context)))
    )
    console.log(JSON.stringify(figures))
  }).pipe(Effect.provide(layers))
)
