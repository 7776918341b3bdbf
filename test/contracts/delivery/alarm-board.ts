/**
 * `AlarmBoard`: an alarm moves once however many ask, and each of its notices is given out until it has gone.
 *
 * Adapters: memory, postgres. Rules: EVENT-40, EVENT-41.
 */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { type AlarmChange, QUIET } from "../../../src/domain/delivery/alarm-rules.ts"
import { AlarmBoard } from "../../../src/ports/delivery/alarm-board.ts"

const FIRING = { firing: true, episode: 1, calmSince: undefined }
const CALM = { ...FIRING, calmSince: 1_790_000_000_123 }
const OVER = { firing: false, episode: 1, calmSince: undefined }

const begin: AlarmChange = { name: "failovers", from: QUIET, to: FIRING, notice: "begun", detail: "4 sends" }
const calm: AlarmChange = { name: "failovers", from: FIRING, to: CALM, notice: undefined, detail: "none" }
const end: AlarmChange = { name: "failovers", from: CALM, to: OVER, notice: "ended", detail: "none left" }

/** What every alarm board does; each test gets one of its own. `advance` lets time pass for the notices. */
export const suite = <R>(
  name: string,
  layer: Layer.Layer<AlarmBoard | R>,
  advance: (time: Duration.Input) => Effect.Effect<unknown, never, R>
) =>
  describe(`alarm board: ${name}`, () => {
    it.effect("is quiet at first, and keeps what moved", () =>
      Effect.gen(function* () {
        const board = yield* AlarmBoard
        assert.deepStrictEqual((yield* board.read).failovers, QUIET)
        for (const [change, state] of [
          [begin, FIRING],
          [calm, CALM],
          [end, OVER]
        ] as const) {
          assert.isTrue(yield* board.change(change))
          const table = yield* board.read
          assert.deepStrictEqual(table.failovers, state)
          assert.deepStrictEqual(table.dead_letters, QUIET)
        }
      }).pipe(Effect.provide(layer))
    )

    it.effect("moves an alarm once, however many ask at once", () =>
      Effect.gen(function* () {
        const board = yield* AlarmBoard
        for (const change of [begin, calm, end]) {
          const moved = yield* Effect.all(
            Array.from({ length: 16 }, () => board.change(change)),
            { concurrency: "unbounded" }
          )
          assert.lengthOf(moved.filter(Boolean), 1)
        }
        assert.isFalse(yield* board.change(calm))
        const claimed = yield* Effect.all(
          Array.from({ length: 16 }, () => board.claimNotice),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(
          claimed.filter((notice) => notice !== undefined),
          1
        )
      }).pipe(Effect.provide(layer))
    )

    it.effect("gives out each notice once, the end after the beginning went out", () =>
      Effect.gen(function* () {
        const board = yield* AlarmBoard
        yield* Effect.forEach([begin, calm, end], (change) => board.change(change))
        const first = yield* board.claimNotice
        assert.deepInclude(first, { alarm: "failovers", episode: 1, kind: "begun", detail: "4 sends" })
        assert.isUndefined(yield* board.claimNotice)
        yield* board.confirmNotice(first!)
        const second = yield* board.claimNotice
        assert.deepInclude(second, { alarm: "failovers", episode: 1, kind: "ended", detail: "none left" })
        yield* board.confirmNotice(second!)
        yield* board.releaseNotice(second!)
        yield* advance("1 day")
        assert.isUndefined(yield* board.claimNotice)
      }).pipe(Effect.provide(layer))
    )

    it.effect(
      "gives out the notices of an alarm in their order, also where it begins again before they went out",
      () =>
        Effect.gen(function* () {
          const board = yield* AlarmBoard
          const again = { ...begin, from: OVER, to: { ...FIRING, episode: 2 } }
          yield* board.change(begin)
          const begun = yield* board.claimNotice
          yield* Effect.forEach([calm, end, again], (change) => board.change(change))
          yield* board.releaseNotice(begun!)
          assert.isUndefined(yield* board.claimNotice)
          yield* advance("61 seconds")
          yield* board.releaseNotice((yield* board.claimNotice)!, ["chat"])
          const left = yield* Effect.forEach([1, 2], () =>
            Effect.tap(board.claimNotice, (notice) => board.releaseNotice(notice!, ["chat"]))
          )
          assert.deepStrictEqual(
            left.map((notice) => [notice?.episode, notice?.kind, notice?.goesTo]),
            [
              [1, "ended", ["chat"]],
              [2, "begun", ["chat"]]
            ]
          )
        }).pipe(Effect.provide(layer))
    )

    it.effect(
      "keeps which channels have a notice; an end goes to those that have its beginning, until that is over",
      () =>
        Effect.gen(function* () {
          const board = yield* AlarmBoard
          yield* Effect.forEach([begin, calm, end], (change) => board.change(change))
          const begun = yield* board.claimNotice
          assert.deepInclude(begun, { kind: "begun", taken: [], goesTo: undefined })
          yield* board.releaseNotice(begun!, ["chat"])
          const ended = yield* board.claimNotice
          assert.deepInclude(ended, { kind: "ended", taken: [], goesTo: ["chat"] })
          yield* board.releaseNotice(ended!, ["chat"])
          yield* advance("62 seconds")
          const again = yield* board.claimNotice
          assert.deepInclude(again, { kind: "begun", taken: ["chat"], goesTo: undefined })
          yield* board.confirmNotice(again!)
          assert.deepInclude(yield* board.claimNotice, { kind: "ended", taken: ["chat"], goesTo: undefined })
        }).pipe(Effect.provide(layer))
    )

    it.effect(
      "gives up a channel within a day where another one has the notice, and never where none has",
      () =>
        Effect.gen(function* () {
          const board = yield* AlarmBoard
          yield* board.change(begin)
          const tries = (taken: ReadonlyArray<string>) =>
            Effect.gen(function* () {
              let count = 0
              for (; count < 30; count++) {
                const notice = yield* board.claimNotice
                if (notice === undefined) break
                yield* board.releaseNotice(notice, taken)
                yield* advance("61 minutes")
              }
              return count
            })
          assert.strictEqual(yield* tries([]), 30)
          assert.strictEqual(yield* tries(["chat"]), 1)
        }).pipe(Effect.provide(layer))
    )

    it.effect("gives out the notice first that has been due for longest, whichever began first", () =>
      Effect.gen(function* () {
        const board = yield* AlarmBoard
        yield* board.change({ ...begin, name: "dead_letters" })
        yield* board.releaseNotice((yield* board.claimNotice)!)
        yield* board.change(begin)
        yield* advance("61 seconds")
        const due = yield* Effect.forEach([1, 2], () => board.claimNotice)
        assert.deepStrictEqual(
          due.map((notice) => notice?.alarm),
          ["failovers", "dead_letters"]
        )
      }).pipe(Effect.provide(layer))
    )

    it.effect("a notice that did not go out is due after a minute, one whose process died after three", () =>
      Effect.gen(function* () {
        const board = yield* AlarmBoard
        yield* board.change(begin)
        for (const wait of [60, 60, 60, 60, 120, 240]) {
          const notice = yield* board.claimNotice
          assert.isDefined(notice)
          yield* board.releaseNotice(notice)
          yield* advance(Duration.seconds(wait - 10))
          assert.isUndefined(yield* board.claimNotice)
          yield* advance("11 seconds")
        }
        const last = yield* board.claimNotice
        yield* advance("170 seconds")
        assert.isUndefined(yield* board.claimNotice)
        yield* advance("11 seconds")
        assert.deepStrictEqual(yield* board.claimNotice, last)
      }).pipe(Effect.provide(layer))
    )
  })
