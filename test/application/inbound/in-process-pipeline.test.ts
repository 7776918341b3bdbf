import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"

import { layer } from "../../../src/application/inbound/in-process-pipeline.ts"
import { HtmlAssembly } from "../../../src/ports/conversion/html-assembly.ts"
import { PageSources } from "../../../src/ports/conversion/page-sources.ts"
import { Pdf, type PdfDocument } from "../../../src/ports/conversion/pdf.ts"
import { VisionModel } from "../../../src/ports/conversion/vision-model.ts"
import { ConvertPipeline } from "../../../src/ports/inbound/convert-pipeline.ts"
import { MailObjects, ObjectStoreError } from "../../../src/ports/object-store.ts"
import type { LeftOut } from "../../../src/reader/model/left-out.ts"
import type { DocumentFacts } from "../../../src/reader/model/page-content.ts"
import { PdfError } from "../../../src/reader/model/pdf-document.ts"
import { pageOf } from "../../domain/conversion/world.ts"
import { makeMapObjects } from "../../support/worlds/map-objects.ts"

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
  "an unreadable document is at fault; a reader's crash is distinguished from failures around it",
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

const unused = () => Stream.die("not asked for")

const documentOf = (facts: DocumentFacts): PdfDocument => ({
  facts,
  leftOut: Effect.succeed(undefined),
  fonts: Effect.succeed([]),
  pages: () => Stream.empty,
  split: unused,
  layout: unused,
  blanks: unused,
  render: () => Effect.die("not asked for"),
  image: () => Effect.die("not asked for"),
  scan: () => Effect.die("not asked for"),
  layoutRead: () => Effect.die("not asked for"),
  isBlank: () => Effect.die("not asked for")
})

const factsOf = (pageCount: number): DocumentFacts => ({
  pageCount,
  title: undefined,
  author: undefined,
  lang: undefined,
  tagged: false,
  outline: [],
  fonts: []
})

/** What the pipeline makes of a document of three pages, of which these cannot be read. */
const convertedWithout = (lost: ReadonlySet<number>, leftOut?: LeftOut) => {
  const objects = new Map<string, Uint8Array>()
  const facts = { ...factsOf(3), leftOut }
  const document = documentOf(facts)
  const page = (index: number) =>
    lost.has(index)
      ? Effect.fail(new PdfError({ reason: "timeout", message: "slow" }))
      : Effect.succeed(pageOf(index, `words of page ${index}`))
  return ConvertPipeline.use(({ convert }) =>
    convert({ sourceKey: "a.pdf", resultKey: "a.html", name: "a.pdf" })
  ).pipe(
    Effect.provide(
      layer.pipe(
        Layer.provide([
          Layer.mock(Pdf, { open: () => Effect.succeed(document) }),
          Layer.mock(PageSources, {
            facts: () => Effect.succeed(facts),
            open: () => Effect.succeed({ page })
          }),
          Layer.succeed(MailObjects, {
            ...makeMapObjects(objects),
            localPath: () => Effect.succeed("/a.pdf")
          }),
          Layer.mock(HtmlAssembly, { assemble: ({ pages }) => Stream.map(pages, ({ html }) => html) }),
          Layer.mock(VisionModel, {})
        ])
      )
    ),
    Effect.map((converted) => ({ converted, objects }))
  )
}

it.effect("R2: pages that cannot be read are named and not counted; where none can, there is no result", () =>
  Effect.gen(function* () {
    const { converted, objects } = yield* convertedWithout(new Set([1]))
    const { complexPages, hasText, standardPages, unreadablePages } = converted
    assert.deepStrictEqual([standardPages + complexPages, unreadablePages, hasText], [2, [2], true])
    assert.include(new TextDecoder().decode(objects.get("a.html")), "Page 2 could not be read.")
    const failure = yield* Effect.flip(convertedWithout(new Set([0, 1, 2])))
    assert.strictEqual(failure.reason, "document")
    assert.match(failure.message, /No page of this document could be read/)
  })
)

it.effect("DOC-16: what the document holds that was not converted is part of the answer", () =>
  Effect.gen(function* () {
    const leftOut = { portfolio: true, files: ["a.pdf"], fileCount: 1, remarks: 0 }
    assert.deepStrictEqual((yield* convertedWithout(new Set(), leftOut)).converted.leftOut, leftOut)
    const nothing = { portfolio: false, files: [], fileCount: 0, remarks: 0 }
    assert.notProperty((yield* convertedWithout(new Set(), nothing)).converted, "leftOut")
  })
)

it.effect(
  "H3: pages of long documents take turns: a mail waits for one group of pages of each other one",
  () =>
    Effect.gen(function* () {
      const pages: Readonly<Record<string, number>> = { "a.pdf": 200, "b.pdf": 200, "c.pdf": 60 }
      const begun: Array<string> = []
      let [atOnce, most] = [0, 0]
      const opened = (key: string) =>
        Effect.gen(function* () {
          begun.push(key)
          most = Math.max(most, ++atOnce)
          yield* Effect.sleep("1 second")
          atOnce -= 1
          return { page: (index: number) => Effect.succeed(pageOf(index, "words")) }
        })
      const facts = (key: string) => Effect.succeed(factsOf(pages[key] ?? 0))
      const surroundings = layer.pipe(
        Layer.provide([
          Layer.mock(Pdf, { open: () => Effect.succeed(documentOf(factsOf(200))) }),
          Layer.mock(PageSources, { facts, open: opened }),
          Layer.succeed(MailObjects, {
            ...makeMapObjects(new Map()),
            localPath: (key) => Effect.succeed(key)
          }),
          Layer.mock(HtmlAssembly, { assemble: () => Stream.make("<html>") }),
          Layer.mock(VisionModel, {})
        ])
      )
      const done = yield* Effect.gen(function* () {
        const { convert } = yield* ConvertPipeline
        const mailed = (sourceKey: string) =>
          convert({ sourceKey, resultKey: `${sourceKey}.html`, name: "x" })
        const long = yield* Effect.forkChild(
          Effect.all([mailed("a.pdf"), mailed("b.pdf")], { concurrency: "unbounded" })
        )
        yield* TestClock.adjust("3 seconds")
        const short = yield* Effect.forkChild(mailed("c.pdf"))
        const before = begun.length
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(short)
        yield* Fiber.join(long)
        return begun.slice(before)
      }).pipe(Effect.provide(surroundings))
      assert.strictEqual(most, 2)
      assert.isAtMost(done.lastIndexOf("c.pdf"), 8, done.join(" "))
      assert.deepStrictEqual([begun.filter((key) => key === "a.pdf").length, begun.length], [10, 23])
    })
)
