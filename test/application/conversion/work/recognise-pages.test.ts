import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"

import {
  layerScripted,
  type RecognitionScript
} from "../../../../src/adapters/memory/conversion/text-recognition.ts"
import { makeRecognised } from "../../../../src/application/conversion/work/recognise-pages.ts"
import { RecognitionError, TextRecognition } from "../../../../src/ports/conversion/text-recognition.ts"
import { PdfError, type ReadScan } from "../../../../src/reader/model/pdf-document.ts"
import type { RecognisedText } from "../../../../src/reader/model/recognised-text.ts"

const PAGES = 12
/** These have a text of their own. */
const TYPED = new Set([4, 5])
/** What this one shows is codes, not letters. */
const RUBBLE = 2
/** This one shows nothing. */
const BLANK = 7

const textOf = (index: number): RecognisedText => ({
  turn: 0,
  skew: 0,
  width: index,
  height: 1,
  lines: [
    {
      baseline: 1,
      height: 1,
      words: [{ text: "words", confidence: 90, box: { x0: 0, y0: 0, x1: 1, y1: 1 } }]
    }
  ]
})

/** The document's pages, and what was asked of it. */
const world = (
  atOnce: number,
  script?: RecognitionScript,
  { broken = new Set(), maxPages }: { readonly broken?: ReadonlySet<number>; readonly maxPages?: number } = {}
) => {
  const read: Array<number> = []
  const laidOut: Array<ReadonlyArray<ReadScan>> = []
  const recognised = Effect.flatMap(TextRecognition, (recogniser) =>
    makeRecognised({
      recogniser,
      document: {
        facts: {
          pageCount: PAGES,
          title: undefined,
          author: undefined,
          lang: "de",
          tagged: false,
          outline: [],
          fonts: []
        },
        scan: (index) =>
          broken.has(index)
            ? Effect.fail(new PdfError({ reason: "broken", message: "", page: index }))
            : Effect.succeed({ width: index, height: 1, dpi: 200, bytes: new Uint8Array(1) }),
        layoutRead: (index, scans) => {
          laidOut.push(scans)
          return Effect.succeed({
            index,
            label: "",
            tier: "recognised",
            html: scans.map(({ page, text }) => `${page}${text === undefined ? "?" : ""}`).join(" "),
            text: ""
          })
        }
      },
      range: { first: 0, end: PAGES },
      layout: (index) =>
        Effect.succeed({
          index,
          label: "",
          tier: "layout",
          html: "as it is",
          text: "",
          ...(TYPED.has(index) ? {} : { isScan: true as const }),
          ...(index === RUBBLE ? { isRubble: true as const } : {})
        }),
      isBlank: (index) => Effect.succeed(index === BLANK)
    })
  )
  const layer = layerScripted(
    (picture, hints) => {
      read.push(picture.width)
      assert.strictEqual(hints.lang, "de")
      return script?.(picture, hints) ?? Effect.succeed(textOf(picture.width))
    },
    atOnce,
    maxPages
  )
  return { laidOut, layer, read, recognised }
}

const htmlOf = (
  { layer, recognised }: ReturnType<typeof world>,
  indexes: ReadonlyArray<number>,
  concurrency = 1
) =>
  Effect.gen(function* () {
    const pageOf = yield* recognised
    return yield* Effect.forEach(
      indexes,
      (index) =>
        pageOf(index).pipe(
          Effect.map(({ html }) => html),
          Effect.catch(({ reason }) => Effect.succeed(reason))
        ),
      { concurrency }
    )
  }).pipe(Effect.scoped, Effect.provide(layer))

const ALL = Array.from({ length: PAGES }, (_, index) => index)
const WHOLE = [
  "0 1",
  "0 1 2",
  "1 2 3",
  "2 3",
  "as it is",
  "as it is",
  "6",
  "as it is",
  "8 9",
  "8 9 10",
  "9 10 11",
  "10 11"
]

describe("recognising pages", () => {
  it.effect(
    "DOC-23: scans are read once, with their neighbours' sizes; typed and blank pages are not read",
    () =>
      Effect.gen(function* () {
        for (const [atOnce, concurrency] of [
          [1, 1],
          [4, 4]
        ] as const) {
          const one = world(atOnce)
          assert.deepStrictEqual(yield* htmlOf(one, ALL, concurrency), WHOLE)
          assert.deepStrictEqual(
            [...one.read].sort((a, b) => a - b),
            [0, 1, 2, 3, 6, 8, 9, 10, 11]
          )
        }
        // In another order, and a part of them.
        assert.deepStrictEqual(yield* htmlOf(world(2), [10, 3, 0]), [WHOLE[10], WHOLE[3], WHOLE[0]])
      })
  )

  it.effect("nothing is read where nothing recognises", () =>
    Effect.gen(function* () {
      const off = world(0)
      assert.deepStrictEqual(yield* htmlOf(off, [0, 1]), ["as it is", "as it is"])
      assert.deepStrictEqual([off.read, off.laidOut], [[], []])
    })
  )

  it.effect(
    "DOC-23: it reads ahead no further than what can be read at once; closing ends what is under way",
    () =>
      Effect.gen(function* () {
        const begun = yield* Deferred.make<void>()
        let ended = 0
        const slow = world(3, () =>
          Deferred.succeed(begun, undefined).pipe(
            Effect.andThen(Effect.never),
            Effect.onInterrupt(() => Effect.sync(() => void (ended += 1)))
          )
        )
        const fiber = yield* Effect.forkChild(htmlOf(slow, [0]))
        yield* Deferred.await(begun)
        yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        assert.isAtMost(slow.read.length, 3)
        assert.strictEqual(ended, slow.read.length)
      })
  )

  it.effect("DOC-23: a page that cannot be recognised says so; after a few the others are left out", () =>
    Effect.gen(function* () {
      const failing = world(1, () => Effect.fail(new RecognitionError({ reason: "timeout" })))
      const found = yield* htmlOf(failing, ALL)
      assert.deepStrictEqual(found[0], "0? 1?")
      assert.deepStrictEqual(found[10], "9? 10? 11?")
      assert.strictEqual(failing.read.length, 3)
    })
  )

  it.effect("DOC-23: of a document of very many scans the first ones are read; the others say so", () =>
    Effect.gen(function* () {
      const bomb = world(4, undefined, { maxPages: 2 })
      assert.deepStrictEqual(yield* htmlOf(bomb, [0, 1, 2, 10]), ["0 1", "0 1 2?", "1 2? 3?", "9? 10? 11?"])
      assert.deepStrictEqual(bomb.read, [0, 1])
    })
  )

  it.effect("a photograph stays what it is; a page that cannot be drawn fails alone", () =>
    Effect.gen(function* () {
      const photographs = world(1, ({ width }) => Effect.succeed({ ...textOf(width), lines: [] }))
      assert.deepStrictEqual(yield* htmlOf(photographs, [0, 1]), ["as it is", "as it is"])
      const broken = world(1, undefined, { broken: new Set([1]) })
      assert.deepStrictEqual(yield* htmlOf(broken, [0, 1, 2]), ["0", "broken", "2 3"])
    })
  )

  it.effect("DOC-23: a page of codes that nobody reads is unreadable, and not charged", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* htmlOf(world(0), [1, RUBBLE]), ["as it is", "broken"])
      const nothing = world(1, () => Effect.succeed({ ...textOf(0), lines: [] }))
      assert.deepStrictEqual(yield* htmlOf(nothing, [1, RUBBLE]), ["as it is", "broken"])
    })
  )
})
