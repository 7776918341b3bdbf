import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import type { Making } from "../../../../src/domain/conversion/making.ts"
import type { Legibility } from "../../../../src/domain/conversion/page-line.ts"
import type { CustomerId } from "../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  addFile,
  ask,
  begin,
  clean,
  customer,
  funds,
  job,
  pdf,
  STALE,
  type DocumentsWorld,
  WINDOW
} from "../documents-world.ts"

/** A PDF of four pages whose result is reported with what can be read of it. */
const finished = Effect.fnUntraced(function* (
  owner: CustomerId,
  legibility: Legibility,
  noModelPages?: ReadonlyArray<number>,
  made?: Making
) {
  const store = yield* ConversionStore
  const fileId = yield* pdf(owner, 4)
  yield* job(owner, fileId, {}, 4)
  const chunk = yield* store.claimChunk("w", anyId())
  yield* store.completeChunk(chunk!, "r", [], { unanswered: noModelPages?.length ?? 0 })
  const assembly = yield* store.claimAssembly(anyId(), STALE)
  const answer = yield* store.finishJob(assembly!, "result", legibility, noModelPages, made)
  assert.strictEqual(
    yield* store.finishJob(assembly!, "result", legibility, noModelPages),
    answer === "completed" ? answer : "stale"
  )
  const file = yield* store.file(fileId, owner)
  return { answer, file: file! }
})

/** A Word document that was taken for so many pages, and whose result has so many. */
const word = Effect.fnUntraced(function* (owner: CustomerId, held: number, pages: number) {
  const store = yield* ConversionStore
  const fileId = yield* addFile(owner, held, "docx")
  yield* ask(owner, fileId)
  const inline = yield* store.claimInline(anyId(), STALE)
  const found = { pages, hasText: false }
  const answer = yield* store.finishInline(inline!, "result", [], found)
  assert.strictEqual(
    yield* store.finishInline(inline!, "result", [], found),
    answer === "completed" ? answer : "stale"
  )
  const after = yield* store.file(fileId, owner)
  return { answer, file: after! }
})

/** What every conversion store charges for. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`what could be read is what is charged: ${name}`, (it) => {
    it.effect("R2: pages that could not be read cost nothing, and the file names them", () =>
      Effect.gen(function* () {
        yield* clean
        const owner = yield* customer(10)
        const { answer, file } = yield* finished(owner, { unreadablePages: [2, 3], hasText: true })
        assert.deepStrictEqual([answer, file.status], ["completed", "completed"])
        assert.deepStrictEqual([file.unreadablePages, file.hasText], [[2, 3], true])
        assert.deepStrictEqual(yield* funds(owner), { credits: 8, held: 0, charged: 2 })
      })
    )

    it.effect(
      "R2: the file names the pages that no model converted, until a newer result takes its place",
      () =>
        Effect.gen(function* () {
          const { owner, store } = yield* begin(10)
          const { file } = yield* finished(owner, { unreadablePages: [], hasText: true }, [2, 4])
          assert.deepStrictEqual([file.status, file.noModelPages], ["completed", [2, 4]])
          assert.deepStrictEqual(yield* funds(owner), { credits: 6, held: 0, charged: 4 })
          yield* job(owner, file.id, {}, 4)
          assert.deepStrictEqual((yield* store.file(file.id, owner))?.noModelPages, [2, 4])
          yield* store.completeChunk((yield* store.claimChunk("w", anyId()))!, "r2", [])
          yield* store.finishJob((yield* store.claimAssembly(anyId(), STALE))!, "result2")
          assert.deepStrictEqual((yield* store.file(file.id, owner))?.noModelPages, [])
          const picture = yield* addFile(owner, 1, "png")
          yield* ask(owner, picture)
          const inline = yield* store.claimInline(anyId(), STALE)
          yield* store.finishInline(inline!, "picture", [], {
            pages: undefined,
            hasText: false,
            noModelPages: [1]
          })
          assert.deepStrictEqual((yield* store.file(picture, owner))?.noModelPages, [1])
        })
    )

    it.effect("DOC-16: what a PDF holds beside its pages stays with the file, whatever is in its names", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const leftOut = {
          portfolio: true,
          files: ['a "b".pdf', "\u6587\u{1f600}\\.txt"],
          fileCount: 9,
          remarks: 2
        }
        const file = {
          id: anyId(),
          customerId: owner,
          name: "a.pdf",
          kind: "pdf" as const,
          sizeBytes: 1,
          pages: 2,
          objectKey: "files/a"
        }
        assert.deepStrictEqual((yield* store.addFile({ ...file, leftOut })).leftOut, leftOut)
        // The same file once more changes nothing.
        assert.deepStrictEqual((yield* store.addFile(file)).leftOut, leftOut)
        yield* job(owner, file.id, {}, 2)
        assert.deepStrictEqual((yield* store.file(file.id, owner))?.leftOut, leftOut)
        const { files } = yield* store.files(owner, { limit: 5, cursor: undefined })
        assert.deepStrictEqual(files[0]?.leftOut, leftOut)
        const picture = yield* addFile(owner, 1, "png")
        assert.isNull((yield* store.file(picture, owner))?.leftOut)
      })
    )

    it.effect(
      "DOC-15: the file says what its result was made with, and when, until a newer one takes its place",
      () =>
        Effect.gen(function* () {
          const { owner, store } = yield* begin(10)
          const made: Making = {
            options: { highFidelity: true },
            tiers: { "hifi-single-pass": 3, layout: 1 },
            models: ["us.model-1"]
          }
          const { file } = yield* finished(owner, { unreadablePages: [], hasText: true }, [4], made)
          assert.deepInclude(file.made, made)
          assert.isAtLeast(Date.parse(file.made?.at ?? ""), Date.parse(file.createdAt))
          yield* job(owner, file.id, {}, 4)
          assert.deepStrictEqual((yield* store.file(file.id, owner))?.made, file.made)
          yield* store.completeChunk((yield* store.claimChunk("w", anyId()))!, "r2", [])
          yield* store.finishJob((yield* store.claimAssembly(anyId(), STALE))!, "result2")
          assert.isNull((yield* store.file(file.id, owner))?.made)
          const picture = yield* addFile(owner, 1, "png")
          yield* ask(owner, picture)
          assert.isNull((yield* store.file(picture, owner))?.made)
          const inline = yield* store.claimInline(anyId(), STALE)
          const read: Making = { options: {}, tiers: { recognised: 1 }, models: [] }
          yield* store.finishInline(inline!, "picture", [], { pages: undefined, hasText: true, made: read })
          assert.deepInclude((yield* store.file(picture, owner))?.made, read)
        })
    )

    it.effect("R2: where no page could be read there is no result, and nothing is charged", () =>
      Effect.gen(function* () {
        yield* clean
        const owner = yield* customer(10)
        const { answer, file } = yield* finished(owner, { unreadablePages: [1, 2, 3, 4], hasText: false })
        assert.deepStrictEqual([answer, file.status, file.resultKey], ["unreadable", "failed", null])
        assert.match(file.error ?? "", /No page of this document could be read/)
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
      })
    )

    it.effect("R2: a result without a word of text says so, and is charged", () =>
      Effect.gen(function* () {
        yield* clean
        const owner = yield* customer(10)
        const { file } = yield* finished(owner, { unreadablePages: [], hasText: false })
        assert.deepStrictEqual([file.status, file.unreadablePages, file.hasText], ["completed", [], false])
        assert.deepStrictEqual(yield* funds(owner), { credits: 6, held: 0, charged: 4 })
      })
    )

    it.effect("R2: a layout-true result costs the pages that could be read", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const id = anyId()
        yield* store.requestFlyer({ id, fileId: yield* pdf(owner, 4), customerId: owner, window: WINDOW })
        const flyer = yield* store.claimFlyer(anyId(), STALE)
        assert.strictEqual(yield* store.finishFlyer(flyer!, "result", [], [4]), "completed")
        assert.deepStrictEqual((yield* store.flyer(id, owner))?.unreadablePages, [4])
        assert.deepStrictEqual(yield* funds(owner), { credits: 7, held: 0, charged: 3 })
      })
    )

    it.effect.each([
      [2, 5, "completed", 5],
      [5, 2, "completed", 2],
      [2, 11, "insufficient", 0]
    ] as const)(
      "F1: a Word document taken for %i pages that has %i is %s, charged %i",
      ([held, pages, expected, charged]) =>
        Effect.gen(function* () {
          yield* clean
          const owner = yield* customer(10)
          const { answer, file } = yield* word(owner, held, pages)
          assert.strictEqual(answer, expected)
          assert.deepStrictEqual(yield* funds(owner), { credits: 10 - charged, held: 0, charged })
          if (answer === "completed") assert.deepStrictEqual([file.pages, file.hasText], [pages, false])
        })
    )
  })
