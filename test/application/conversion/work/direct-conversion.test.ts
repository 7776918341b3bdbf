import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Stream } from "effect"

import { layer as assembly } from "../../../../src/adapters/html/html-assembly.ts"
import { convertDirectly } from "../../../../src/application/conversion/work/direct-conversion.ts"
import { HtmlAssembly } from "../../../../src/ports/conversion/html-assembly.ts"
import { PageSources } from "../../../../src/ports/conversion/page-sources.ts"
import { Surveyor } from "../../../../src/reader/html/survey.ts"
import { PdfError } from "../../../../src/reader/model/pdf-document.ts"
import { mapObjects } from "../../../domain/conversion/world.ts"
import { FACTS } from "../../../reader/stages/page-builder.ts"

interface Behaviour {
  readonly unreadable?: (index: number) => boolean
  /** Before a page is laid out. */
  readonly wait?: (index: number) => Effect.Effect<unknown>
}

/** A document of so many pages, every tenth of which is a picture. */
const sourcesOf = (
  pageCount: number,
  { unreadable = () => false, wait = () => Effect.void }: Behaviour = {}
) => {
  const page = (index: number) => {
    const laidOut = {
      index,
      label: String(index + 1),
      tier: "layout" as const,
      html: `<h2>Heading ${index}</h2><p>Words of page ${index}.</p>`,
      text: "",
      ...(index % 10 === 0 ? { isScan: true as const } : {})
    }
    const layout = Effect.andThen(
      wait(index),
      unreadable(index)
        ? Effect.fail(new PdfError({ reason: "broken", message: "b" }))
        : Effect.succeed(laidOut)
    )
    const notHere = Effect.die("not here")
    const isBlank = Effect.succeed(false)
    return Effect.succeed({ index, layout, recognised: layout, isBlank, pdf: notHere, image: notHere })
  }
  return Layer.succeed(PageSources, {
    facts: () => Effect.succeed({ ...FACTS, lang: "en", pageCount }),
    open: () => Effect.succeed({ page })
  })
}

const document = convertDirectly({
  objectKey: "source",
  name: "a.pdf",
  range: undefined,
  onPage: () => Effect.void
})

const converted = (pageCount: number, unreadable: (index: number) => boolean) =>
  Effect.gen(function* () {
    const { html, ...facts } = yield* document
    return { facts, html: (yield* Stream.runCollect(html)).join("") }
  }).pipe(Effect.provide([sourcesOf(pageCount, { unreadable }), assembly, mapObjects().layer]))

describe("a document that is converted at hand", () => {
  it.live("has all its pages in order, notices for unreadable ones, and is surveyed as a whole", () =>
    Effect.gen(function* () {
      const unreadable = (index: number) => index % 77 === 5
      const { facts, html } = yield* converted(130, unreadable)
      assert.deepStrictEqual(facts.unreadablePages, [6, 83])
      assert.deepStrictEqual(facts.unreadPictures.slice(0, 3), [1, 11, 21])
      assert.deepStrictEqual(
        [...html.matchAll(/Words of page (\d+)\./g)].map(([, index]) => Number(index)),
        Array.from({ length: 130 }, (_, index) => index).filter((index) => !unreadable(index))
      )
      assert.include(html, ">Heading 129</a>")
    })
  )

  it.live("is surveyed while its next pages are read", () =>
    Effect.gen(function* () {
      const [begun, surveyed] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const sources = sourcesOf(60, {
        wait: (index) =>
          index === 20
            ? Deferred.succeed(begun, undefined)
            : index === 40
              ? Deferred.await(surveyed)
              : Effect.void
      })
      const surveying = Layer.mock(HtmlAssembly, {
        survey: (pages) =>
          Stream.runForEach(pages, ({ index }) =>
            index === 0
              ? Effect.andThen(Deferred.await(begun), Deferred.succeed(surveyed, undefined))
              : Effect.void
          ).pipe(Effect.as(new Surveyor().survey())),
        assemble: () => Stream.empty
      })
      const { pages } = yield* Effect.provide(document, [sources, surveying, mapObjects().layer])
      assert.strictEqual(pages, 60)
    })
  )

  it.live("begins to read its next pages before the ones before them are there", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const sources = sourcesOf(60, {
        wait: (index) =>
          index === 0
            ? Deferred.await(begun)
            : index === 20
              ? Deferred.succeed(begun, undefined)
              : Effect.void
      })
      const { pages } = yield* Effect.provide(document, [sources, assembly, mapObjects().layer])
      assert.strictEqual(pages, 60)
    })
  )

  it.live("fails before anything is written where no page can be read", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(converted(30, () => true))
      assert.strictEqual(failure._tag, "PdfError")
    })
  )
})
