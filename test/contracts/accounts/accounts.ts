/**
 * `Accounts`: an account shows what can be spent, however its funds move, and is closed once, with all that it holds.
 *
 * Adapters: memory, postgres. Rules: F1.
 */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import { Accounts } from "../../../src/ports/accounts/accounts.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../support/any-id.ts"
import {
  addFile,
  ask,
  clean,
  customer,
  DocumentsWorld,
  STALE,
  WINDOW
} from "../conversion/documents-world.ts"

/** What every store of accounts says of their funds, and does when they are closed. */
export const suite = (name: string, stores: Layer.Layer<Accounts | ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`accounts: ${name}`, (it) => {
    it.effect("an account shows what can be spent, whichever way its funds move", () =>
      Effect.gen(function* () {
        yield* clean
        const accounts = yield* Accounts
        const world = yield* DocumentsWorld
        const store = yield* ConversionStore
        const [free, paid] = [yield* customer("free"), yield* customer(100)]
        assert.deepStrictEqual(yield* accounts.funds(free), {
          id: free,
          email: `${free}@x.test`,
          name: null,
          planType: "free",
          creditsRemaining: null,
          freePagesLeft: 10,
          heldCredits: 0
        })
        assert.deepStrictEqual(yield* accounts.funds(paid), {
          id: paid,
          email: `${paid}@x.test`,
          name: null,
          planType: "paid",
          creditsRemaining: 100,
          freePagesLeft: null,
          heldCredits: 0
        })
        const figures = Effect.gen(function* () {
          const [one, other] = [yield* accounts.funds(free), yield* accounts.funds(paid)]
          return [one?.freePagesLeft, one?.heldCredits, other?.creditsRemaining, other?.heldCredits]
        })
        const [small, large, lapsed] = [anyId(), anyId(), anyId()]
        yield* ask(free, yield* addFile(free, 2, "docx"), small)
        yield* ask(paid, yield* addFile(paid, 30), large)
        assert.deepStrictEqual(yield* figures, [8, 2, 70, 30])
        yield* ask(paid, yield* addFile(paid, 50), lapsed)
        assert.deepStrictEqual(yield* figures, [8, 2, 20, 80])
        // A hold that has lapsed sets nothing aside.
        yield* world.lapsesIn(lapsed, -1)
        assert.deepStrictEqual(yield* figures, [8, 2, 70, 30])
        const inline = yield* store.claimInline(anyId(), STALE)
        yield* store.finishInline(inline!, "result", [], { pages: 1, hasText: true })
        yield* store.cancel(large)
        assert.deepStrictEqual(yield* figures, [9, 0, 100, 0])
        // More held than there is, by a hand in the database: nothing is left, never less than nothing.
        yield* ask(paid, yield* addFile(paid, 30))
        yield* world.setCredits(paid, 10)
        assert.deepStrictEqual(yield* figures, [9, 0, 0, 30])
      })
    )

    it.effect("F1: an owner sees each charge, what it was for, and what is set aside, newest first", () =>
      Effect.gen(function* () {
        yield* clean
        const accounts = yield* Accounts
        const store = yield* ConversionStore
        const [owner, other] = [yield* customer(100), yield* customer(100)]
        const all = { limit: 10, cursor: undefined }
        assert.deepStrictEqual(yield* accounts.moves(owner, all), { rows: [], nextCursor: null })
        const [word, large, gone, flyer, theirs] = [anyId(), anyId(), anyId(), anyId(), anyId()]
        const file = yield* addFile(owner, 2, "docx")
        yield* ask(owner, file, word)
        yield* store.finishInline((yield* store.claimInline(anyId(), STALE))!, "result", [])
        const pdf = yield* addFile(owner, 30)
        yield* ask(owner, pdf, large)
        const deleted = yield* addFile(owner, 5)
        yield* store.requestFlyer({ id: flyer, fileId: deleted, customerId: owner, window: WINDOW })
        yield* store.finishFlyer((yield* store.claimFlyer(anyId(), STALE))!, "flyer", [])
        yield* store.deleteFile(deleted, owner)
        const cancelled = yield* addFile(owner, 7)
        yield* ask(owner, cancelled, gone)
        yield* store.cancel(gone)
        yield* ask(other, yield* addFile(other, 1), theirs)
        const { nextCursor, rows } = yield* accounts.moves(owner, all)
        assert.deepStrictEqual(
          rows.map(({ credits, fileId, freePages, jobId, kind, name: of, work }) => ({
            kind,
            credits,
            freePages,
            jobId,
            work,
            fileId,
            name: of
          })),
          [
            {
              kind: "charge",
              credits: 5,
              freePages: 0,
              jobId: flyer,
              work: "layout",
              fileId: null,
              name: null
            },
            {
              kind: "charge",
              credits: 2,
              freePages: 0,
              jobId: word,
              work: "conversion",
              fileId: file,
              name: "a.docx"
            }
          ]
        )
        assert.isNull(nextCursor)
        const holds = yield* accounts.holds(owner)
        assert.deepStrictEqual(
          holds.map(({ credits, fileId, freePages, jobId, name: of, work }) => ({
            credits,
            freePages,
            jobId,
            work,
            fileId,
            name: of
          })),
          [{ credits: 30, freePages: 0, jobId: large, work: "conversion", fileId: pdf, name: "a.pdf" }]
        )
        assert.isAbove(Date.parse(holds[0]?.expiresAt ?? ""), Date.parse(holds[0]?.createdAt ?? ""))
        const first = yield* accounts.moves(owner, { limit: 1, cursor: undefined })
        const second = yield* accounts.moves(owner, { limit: 1, cursor: first.nextCursor ?? undefined })
        assert.deepStrictEqual([...first.rows, ...second.rows], rows)
        assert.isNull(second.nextCursor)
        assert.strictEqual(
          (yield* Effect.flip(accounts.moves(owner, { limit: 1, cursor: "?" })))._tag,
          "InvalidCursor"
        )
      })
    )

    it.effect("an account is closed once; its files go one by one, with what they hold", () =>
      Effect.gen(function* () {
        yield* clean
        const accounts = yield* Accounts
        const store = yield* ConversionStore
        const owner = yield* customer(10)
        yield* ask(owner, yield* addFile(owner, 4))
        const closed = yield* accounts.close(owner)
        assert.strictEqual(closed?.email, `${owner}@x.test`)
        assert.match(closed?.deletedAt ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.isUndefined(yield* accounts.close(owner))
        assert.isUndefined(yield* accounts.funds(owner))
        assert.isUndefined(yield* accounts.funds(anyId()))
        assert.strictEqual(yield* store.deleteFileOfClosedAccount, 1)
        assert.strictEqual(yield* store.deleteFileOfClosedAccount, 0)
        const world = yield* DocumentsWorld
        assert.deepStrictEqual(yield* world.funds(owner), { credits: 10, held: 0, charged: 0 })
      })
    )
  })
