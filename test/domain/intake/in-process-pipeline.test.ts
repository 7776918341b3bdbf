import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { layer } from "../../../src/domain/intake/in-process-pipeline.ts"
import { ConvertPipeline } from "../../../src/ports/convert-pipeline.ts"
import { HtmlAssembly } from "../../../src/ports/html-assembly.ts"
import { MailObjects, ObjectStoreError } from "../../../src/ports/object-store.ts"
import { PageSources } from "../../../src/ports/page-sources.ts"
import { Pdf, PdfError } from "../../../src/ports/pdf.ts"
import { VisionModel } from "../../../src/ports/vision-model.ts"

/** What the pipeline makes of a document that cannot be opened for this reason, counted and converted. */
const reasons = (failure: PdfError | ObjectStoreError) =>
  ConvertPipeline.use(({ convert, countPages }) =>
    Effect.all([
      Effect.flip(countPages("a.pdf")),
      Effect.flip(convert({ sourceKey: "a.pdf", resultKey: "a.html", name: "a.pdf" }))
    ])
  ).pipe(
    Effect.map((errors) => errors.map(({ reason }) => reason)),
    Effect.provide(
      layer.pipe(
        Layer.provide([
          Layer.mock(Pdf, {}),
          Layer.mock(PageSources, { facts: () => Effect.fail(failure) }),
          Layer.mock(MailObjects, {}),
          Layer.mock(HtmlAssembly, {}),
          Layer.mock(VisionModel, {})
        ])
      )
    )
  )

it.effect(
  "a document that cannot be read is at fault; that its reader died is told apart from what failed around it",
  () =>
    Effect.gen(function* () {
      for (const reason of ["encrypted", "bomb", "too-many-pages"] as const) {
        assert.deepStrictEqual(yield* reasons(new PdfError({ reason, message: "m" })), [
          "document",
          "document"
        ])
      }
      for (const reason of ["timeout", "crashed"] as const) {
        assert.deepStrictEqual(yield* reasons(new PdfError({ reason, message: "m" })), ["crashed", "crashed"])
      }
      for (const reason of ["unavailable", "missing"] as const) {
        assert.deepStrictEqual(yield* reasons(new ObjectStoreError({ reason, key: "a.pdf" })), [
          "unavailable",
          "unavailable"
        ])
      }
    })
)
