import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Effect, Layer, Stream } from "effect"

import { makeDiskObjects } from "../../../src/adapters/disk/object-store.ts"
import { layer as assemblyLayer } from "../../../src/adapters/html/html-assembly.ts"
import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import { convertDirectly } from "../../../src/application/conversion/work/direct-conversion.ts"
import * as ReadPages from "../../../src/application/conversion/work/read-pages.ts"
import { FileObjects } from "../../../src/ports/object-store.ts"
import { passes } from "./passes.ts"

/** A process that makes one HTML document of a PDF as `postlane convert` does, scans left as pictures. */
const [path = "", target = "", times = "1"] = process.argv.slice(2)

const folder = mkdtempSync(join(tmpdir(), "postlane-bench-"))
const objects = { ...makeDiskObjects(folder), localPath: () => Effect.succeed(path) }

const convert = Effect.gen(function* () {
  const { html } = yield* convertDirectly({
    objectKey: "source",
    name: "document",
    range: undefined,
    onPage: () => Effect.void
  })
  const file = openSync(target, "w")
  yield* Stream.runForEach(html, (part) => Effect.sync(() => void writeSync(file, part)))
  closeSync(file)
})

const layers = ReadPages.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(layerPdf({ threads: 1 }), assemblyLayer, Layer.succeed(FileObjects, objects))
  )
)

try {
  await Effect.runPromise(
    Effect.gen(function* () {
      const context = yield* Effect.context<Layer.Success<typeof layers>>()
      const figures = yield* Effect.promise(() =>
        passes(Number(times), () => Effect.runPromise(Effect.provide(convert, context)))
      )
      console.log(JSON.stringify(figures))
    }).pipe(Effect.provide(layers))
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
