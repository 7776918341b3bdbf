import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import * as fc from "fast-check"

import { layerScripted } from "../../../../src/adapters/memory/conversion/text-recognition.ts"
import * as ReadPages from "../../../../src/application/conversion/work/read-pages.ts"
import { PageSources } from "../../../../src/ports/conversion/page-sources.ts"
import { Pdf, type PdfDocument } from "../../../../src/ports/conversion/pdf.ts"
import { FileObjects } from "../../../../src/ports/object-store.ts"
import { PdfError, type PageRange } from "../../../../src/reader/model/pdf-document.ts"

const PAGES = 12

const indexes = ({ end, first }: PageRange) => Array.from({ length: end - first }, (_, n) => first + n)

/** A document whose pages `bad` can be neither laid out nor split; a range that meets one breaks off there. */
const documentWith = (bad: ReadonlySet<number>) => {
  const splits: Array<PageRange> = []
  const layouts: Array<PageRange> = []
  const looks: Array<PageRange> = []
  const fail = (page: number) => new PdfError({ reason: "timeout", message: "slow", page })
  const each = <A>(range: PageRange, make: (index: number) => A) =>
    Stream.fromIterable(indexes(range)).pipe(
      Stream.mapEffect((index) => (bad.has(index) ? Effect.fail(fail(index)) : Effect.succeed(make(index))))
    )
  const document: PdfDocument = {
    facts: {
      pageCount: PAGES,
      title: undefined,
      author: undefined,
      lang: undefined,
      tagged: false,
      outline: [],
      fonts: []
    },
    leftOut: Effect.succeed(undefined),
    fonts: Effect.succeed([]),
    pages: () => Stream.empty,
    split: (range) => {
      splits.push(range)
      return each(range, (index) => ({ index, bytes: new Uint8Array([index, 255]) }))
    },
    render: () => Effect.die("not here"),
    image: () => Effect.die("not here"),
    scan: () => Effect.die("not here"),
    layoutRead: () => Effect.die("not here"),
    isBlank: (index) => (bad.has(index) ? Effect.fail(fail(index)) : Effect.succeed(index % 2 === 0)),
    blanks: (range) => {
      looks.push(range)
      return each(range, (index) => index % 2 === 0)
    },
    layout: (range) => {
      layouts.push(range)
      return each(range, (index) => ({
        index,
        label: String(index + 1),
        tier: "layout" as const,
        html: `<p>${index}</p>`,
        text: `t${index}`
      }))
    }
  }
  const layer = (opened = document) =>
    ReadPages.layer.pipe(
      Layer.provide([
        Layer.mock(Pdf, { open: () => Effect.succeed(opened) }),
        Layer.mock(FileObjects, { localPath: () => Effect.succeed("/x.pdf") })
      ])
    )
  return { document, layer, layouts, looks, splits }
}

const ask = (bad: ReadonlySet<number>, range: PageRange, wanted: ReadonlyArray<number>) => {
  const { layer, splits } = documentWith(bad)
  return Effect.gen(function* () {
    const sources = yield* PageSources
    const pages = yield* sources.open("files/x/source", range)
    const got = yield* Effect.forEach(
      wanted,
      (index) =>
        Effect.result(
          Effect.gen(function* () {
            const { isBlank, layout, pdf } = yield* pages.page(index)
            assert.strictEqual((yield* Effect.exit(isBlank))._tag, bad.has(index) ? "Failure" : "Success")
            assert.strictEqual((yield* Effect.exit(layout))._tag, bad.has(index) ? "Failure" : "Success")
            return yield* pdf
          })
        ),
      { concurrency: 4 }
    )
    return { got, splits }
  }).pipe(Effect.scoped, Effect.provide(layer()))
}

describe("reading pages", () => {
  it.effect.each(["timeout", "crashed"] as const)(
    "R2: a page that is not read in passing (%s) is read again, a few times and no more",
    (reason) =>
      Effect.gen(function* () {
        const { document, layer } = documentWith(new Set())
        let left = 0
        let tries = 0
        const flaky: PdfDocument = {
          ...document,
          layout: (range) =>
            Stream.unwrap(
              Effect.sync(() => {
                tries += 1
                left -= 1
                return left < 0 ? document.layout(range) : Stream.fail(new PdfError({ reason, message: "m" }))
              })
            )
        }
        const layoutOf = (index: number) =>
          Effect.gen(function* () {
            const pages = yield* (yield* PageSources).open("files/x/source", { first: index, end: index + 1 })
            const page = yield* pages.page(index)
            return yield* page.layout
          }).pipe(Effect.scoped, Effect.provide(layer(flaky)))
        left = 3
        assert.strictEqual((yield* layoutOf(5)).text, "t5")
        left = 1000
        tries = 0
        assert.strictEqual((yield* Effect.flip(layoutOf(5)))._tag, "PdfError")
        assert.strictEqual(tries, 4)
      })
  )

  it.effect("DOC-23: scans are recognised by what the layer was made with, whatever its caller has", () =>
    Effect.gen(function* () {
      const { document, layer } = documentWith(new Set())
      const scanned: PdfDocument = {
        ...document,
        layout: (range) => Stream.map(document.layout(range), (page) => ({ ...page, isScan: true as const })),
        scan: () => Effect.succeed({ width: 1, height: 1, dpi: 200, bytes: new Uint8Array(1) }),
        layoutRead: (index, scans) =>
          Effect.succeed({
            index,
            label: "",
            tier: "recognised",
            html: `${scans.length} were read`,
            text: ""
          })
      }
      const line = {
        baseline: 1,
        height: 1,
        words: [{ text: "word", confidence: 90, box: { x0: 0, y0: 0, x1: 1, y1: 1 } }]
      }
      const recognition = layerScripted(() =>
        Effect.succeed({ turn: 0, skew: 0, width: 1, height: 1, lines: [line] })
      )
      const htmlOf = (layers: ReturnType<typeof layer>) =>
        Effect.gen(function* () {
          const pages = yield* (yield* PageSources).open("files/x/source", { first: 0, end: 3 })
          const { recognised } = yield* pages.page(1)
          return (yield* recognised).html
        }).pipe(Effect.scoped, Effect.provide(layers))
      // Its neighbours are blank.
      assert.strictEqual(yield* htmlOf(Layer.provide(layer(scanned), recognition)), "1 were read")
      assert.strictEqual(yield* htmlOf(layer(scanned)), "<p>1</p>")
    })
  )

  it.effect(
    "nothing is laid out until somebody asks, and then once for the range; blank pages are looked for together",
    () =>
      Effect.gen(function* () {
        const range = { first: 3, end: 11 }
        const { layer, layouts, looks, splits } = documentWith(new Set())
        yield* Effect.gen(function* () {
          const pages = yield* (yield* PageSources).open("files/x/source", range)
          const all = yield* Effect.forEach(indexes(range), pages.page)
          yield* Effect.forEach(all, ({ pdf }) => pdf)
          assert.deepStrictEqual([layouts, looks, splits], [[], [], [range]])
          const blank = yield* Effect.forEach(all, ({ isBlank }) => isBlank)
          assert.deepStrictEqual(
            blank,
            indexes(range).map((index) => index % 2 === 0)
          )
          const texts = yield* Effect.forEach(all, ({ layout }) => layout, { concurrency: 3 })
          assert.deepStrictEqual(
            texts.map(({ text }) => text),
            indexes(range).map((index) => `t${index}`)
          )
          assert.deepStrictEqual([layouts, looks, splits], [[range], [range], [range]])
        }).pipe(Effect.scoped, Effect.provide(layer()))
      })
  )

  it.effect(
    "a page whose words showed when it was split is not looked at; one that they did not is, alone",
    () =>
      Effect.gen(function* () {
        const { document, layer, looks } = documentWith(new Set())
        const alone: Array<number> = []
        const looked: PdfDocument = {
          ...document,
          split: (range, options) =>
            Stream.map(document.split(range), (page) =>
              options?.words === true ? { ...page, hasWords: page.index % 3 === 0 } : page
            ),
          isBlank: (index) => {
            alone.push(index)
            return document.isBlank(index)
          }
        }
        yield* Effect.gen(function* () {
          const pages = yield* (yield* PageSources).open("files/x/source", { first: 0, end: PAGES })
          const answers = yield* Effect.forEach(indexes({ first: 0, end: PAGES }), (index) =>
            Effect.gen(function* () {
              const { isBlank, pdf } = yield* pages.page(index)
              yield* pdf
              return yield* isBlank
            })
          )
          assert.deepStrictEqual(
            answers,
            answers.map((_, index) => index % 3 !== 0 && index % 2 === 0)
          )
          assert.deepStrictEqual(
            alone,
            [...answers.keys()].filter((index) => index % 3 !== 0)
          )
          assert.deepStrictEqual(looks, [])
        }).pipe(Effect.scoped, Effect.provide(layer(looked)))
      })
  )

  /** Which pages of a range are blank, each asked once it was laid out. */
  const blankOnceLaidOut = Effect.fnUntraced(function* (range: {
    readonly first: number
    readonly end: number
  }) {
    const pages = yield* (yield* PageSources).open("files/x/source", range)
    return yield* Effect.forEach(indexes(range), (index) =>
      Effect.gen(function* () {
        const { isBlank, layout } = yield* pages.page(index)
        yield* layout
        return yield* isBlank
      })
    )
  })

  it.effect("nor is one whose words showed when it was laid out", () =>
    Effect.gen(function* () {
      const { document, layer, layouts, looks } = documentWith(new Set())
      const alone: Array<number> = []
      const shown: PdfDocument = {
        ...document,
        layout: (range) =>
          Stream.map(document.layout(range), (page) => ({ ...page, hasWords: page.index % 3 === 0 })),
        isBlank: (index) => {
          alone.push(index)
          return document.isBlank(index)
        }
      }
      yield* Effect.gen(function* () {
        const range = { first: 0, end: 6 }
        assert.deepStrictEqual(yield* blankOnceLaidOut(range), [false, false, true, false, true, false])
        assert.deepStrictEqual([alone, looks, layouts], [[1, 2, 4, 5], [], [range]])
      }).pipe(Effect.scoped, Effect.provide(layer(shown)))
    })
  )

  it.effect("nor is one whose pictures were drawn when it was laid out: that showed whether it is", () =>
    Effect.gen(function* () {
      const { document, layer } = documentWith(new Set())
      const alone: Array<number> = []
      const shown: PdfDocument = {
        ...document,
        layout: (range) =>
          Stream.map(document.layout(range), (page) => ({
            ...page,
            hasWords: false,
            ...(page.index < 2 ? { isBlank: page.index === 1 } : {})
          })),
        isBlank: (index) => {
          alone.push(index)
          return document.isBlank(index)
        }
      }
      yield* Effect.gen(function* () {
        const range = { first: 0, end: 4 }
        assert.deepStrictEqual(yield* blankOnceLaidOut(range), [false, true, true, false])
        assert.deepStrictEqual(alone, [2, 3])
      }).pipe(Effect.scoped, Effect.provide(layer(shown)))
    })
  )

  it.effect(
    "the bytes of a page that was let go are gone, and read again where somebody asks all the same",
    () =>
      Effect.gen(function* () {
        const { layer, splits } = documentWith(new Set())
        yield* Effect.gen(function* () {
          const pages = yield* (yield* PageSources).open("files/x/source", { first: 0, end: PAGES })
          const { pdf } = yield* pages.page(5)
          const bytes = yield* pdf
          assert.strictEqual(bytes[0], 5)
          yield* pages.release?.(5) ?? Effect.die("nothing is let go")
          assert.strictEqual(bytes.length, 0)
          assert.strictEqual((yield* pdf)[0], 5)
          assert.deepStrictEqual(splits.slice(1), [{ first: 5, end: 6 }])
          yield* pages.release?.(5) ?? Effect.void
          assert.strictEqual((yield* (yield* pages.page(6)).pdf)[0], 6)
        }).pipe(Effect.scoped, Effect.provide(layer()))
      })
  )

  it.effect("the reading goes on behind a page that broke it off", () =>
    Effect.gen(function* () {
      const { got, splits } = yield* ask(
        new Set([4]),
        { first: 0, end: PAGES },
        indexes({ first: 0, end: PAGES })
      )
      assert.deepStrictEqual(
        got.flatMap((one, n) => (one._tag === "Success" ? [] : [n])),
        [4]
      )
      assert.sameDeepMembers(splits, [
        { first: 0, end: PAGES },
        { first: 5, end: PAGES },
        { first: 4, end: 5 }
      ])
    })
  )

  it.effect("a range is split in one go, however its pages are asked for", () =>
    Effect.gen(function* () {
      const range = { first: 2, end: 9 }
      const { got, splits } = yield* ask(new Set(), range, [2, 3, 2, 5, 4, 8, 7, 6, 8])
      assert.deepStrictEqual(
        got.map((one) => (one._tag === "Success" ? one.success[0] : "failed")),
        [2, 3, 2, 5, 4, 8, 7, 6, 8]
      )
      assert.deepStrictEqual(splits, [range])
    })
  )

  it("a page that cannot be read fails alone, whatever the order and however often", () =>
    fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.nat(PAGES - 1), { maxLength: 4 }),
        fc.array(fc.nat(PAGES - 1), { minLength: 1, maxLength: 20 }),
        async (bad, wanted) => {
          const { got } = await Effect.runPromise(ask(new Set(bad), { first: 0, end: PAGES }, wanted))
          got.forEach((one, n) => {
            const index = wanted[n]!
            if (bad.includes(index)) assert.strictEqual(one._tag === "Failure" ? one.failure.page : -1, index)
            else
              assert.deepStrictEqual(
                one._tag === "Success" ? one.success : null,
                new Uint8Array([index, 255])
              )
          })
        }
      )
    ))
})
