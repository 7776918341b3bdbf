import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Stream } from "effect"

import { makeDiskObjects } from "../../../src/adapters/disk/object-store.ts"
import * as Html from "../../../src/adapters/html/html-assembly.ts"
import * as LocalModel from "../../../src/adapters/local-model/vision-model.ts"
import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import * as ReadPages from "../../../src/application/conversion/work/read-pages.ts"
import * as InProcessPipeline from "../../../src/application/inbound/in-process-pipeline.ts"
import { ConvertPipeline } from "../../../src/ports/inbound/convert-pipeline.ts"
import { FileObjects, MailObjects } from "../../../src/ports/object-store.ts"

/**
 * A process that converts one document as the intake does, several times, and does nothing else: what a mail's way is measured
 * against. Prints a {@link ConvertFigures}.
 */
const [path = "", times = "1"] = process.argv.slice(2)

/** What each conversion took, the first one (which loads the code) left out where there are others. */
export interface ConvertFigures {
  readonly seconds: ReadonlyArray<number>
  /** Of the processor, all threads together. */
  readonly cpuSeconds: ReadonlyArray<number>
}

const folder = await mkdtemp(join(tmpdir(), "postlane-bench-"))

const layer = InProcessPipeline.layer.pipe(
  Layer.provide(Layer.provide(ReadPages.layer, Layer.effect(FileObjects, MailObjects))),
  Layer.provide([Html.layer, LocalModel.layer]),
  Layer.provide(layerPdf()),
  Layer.provide(NodeCrypto.layer),
  Layer.provideMerge(Layer.succeed(MailObjects, makeDiskObjects(folder)))
)

const measure = Effect.gen(function* () {
  const pipeline = yield* ConvertPipeline
  const objects = yield* MailObjects
  const content = yield* Effect.promise(() => readFile(path))
  const seconds: Array<number> = []
  const cpuSeconds: Array<number> = []
  for (let n = 0; n < Number(times); n++) {
    const sourceKey = `mails/${n}/source.pdf`
    const started = performance.now()
    const cpu = process.cpuUsage()
    yield* objects.put(sourceKey, Stream.make(content), { contentType: "application/pdf" })
    yield* pipeline.countPages(sourceKey)
    yield* pipeline.convert({ sourceKey, resultKey: `mails/${n}/result.html`, name: "document.pdf" })
    const used = process.cpuUsage(cpu)
    seconds.push((performance.now() - started) / 1_000)
    cpuSeconds.push((used.user + used.system) / 1e6)
  }
  const from = seconds.length > 1 ? 1 : 0
  const figures: ConvertFigures = { seconds: seconds.slice(from), cpuSeconds: cpuSeconds.slice(from) }
  return figures
})

try {
  console.log(JSON.stringify(await Effect.runPromise(Effect.provide(measure, layer))))
} finally {
  await rm(folder, { recursive: true, force: true })
}
