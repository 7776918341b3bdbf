import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"

import { BatchReplay } from "../../../../src/application/batch/replay.ts"
import { workOnce } from "../../../../src/application/conversion/work/worker.ts"
import {
  type ClaimedFlyer,
  type ClaimedInline,
  ConversionStore
} from "../../../../src/ports/conversion/conversion-store.ts"
import { DocxConverter } from "../../../../src/ports/conversion/documents.ts"
import { HtmlAssembly, LanguageDetector } from "../../../../src/ports/conversion/html-assembly.ts"
import { PageSources } from "../../../../src/ports/conversion/page-sources.ts"
import { Pdf } from "../../../../src/ports/conversion/pdf.ts"
import { VisionModel } from "../../../../src/ports/conversion/vision-model.ts"
import { FileObjects } from "../../../../src/ports/object-store.ts"
import { anyId } from "../../../support/any-id.ts"

/** Work that was tried so often that it ends at once. */
const SPENT = { lease: anyId("lease"), fileId: anyId("file"), objectKey: "a", attempts: 99 }
const INLINE: ClaimedInline = { ...SPENT, jobId: anyId("job"), name: "a.docx", kind: "docx", options: {} }
const FLYER: ClaimedFlyer = { ...SPENT, id: anyId("flyer"), name: "a.pdf", pages: 1 }

/** What a worker does, with so many documents and flyers waiting. */
const workedOn = Effect.fnUntraced(function* (documents: number, flyers: number) {
  const done: Array<string> = []
  const left = { documents, flyers }
  const store = Layer.mock(ConversionStore, {
    claimAssembly: () => Effect.undefined,
    claimInline: () => Effect.sync(() => (left.documents-- > 0 ? INLINE : undefined)),
    claimChunk: () => Effect.undefined,
    claimFlyer: () => Effect.sync(() => (left.flyers-- > 0 ? FLYER : undefined)),
    failInline: () => Effect.sync(() => (done.push("document"), "failed" as const)),
    failFlyer: () => Effect.sync(() => (done.push("flyer"), "failed" as const))
  })
  const work = workOnce("worker", {
    heartbeat: Duration.seconds(10),
    modelId: "local",
    price: { inputUsdPerMtok: 1, outputUsdPerMtok: 1 }
  })
  yield* Effect.gen(function* () {
    while (yield* work);
  }).pipe(
    Effect.provide([
      store,
      Layer.mock(BatchReplay, {}),
      Layer.mock(FileObjects, {}),
      Layer.mock(DocxConverter, {}),
      Layer.mock(HtmlAssembly, {}),
      Layer.mock(LanguageDetector, {}),
      Layer.mock(PageSources, {}),
      Layer.mock(Pdf, {}),
      Layer.mock(VisionModel, {}),
      NodeCrypto.layer
    ])
  )
  return done
})

describe("a worker", () => {
  it.effect("gives kinds of work turns: many pieces of one hold up another by one (H3)", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* workedOn(4, 2), [
        "document",
        "flyer",
        "document",
        "flyer",
        "document",
        "document"
      ])
      assert.deepStrictEqual(yield* workedOn(0, 2), ["flyer", "flyer"])
    })
  )
})
