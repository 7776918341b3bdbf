/** Pages of stored results are read as many at once as come from the store: one by one they cost a message to a thread each. */
import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"

import { storedLines } from "../../../src/application/conversion/stored-lines.ts"
import type { PageLine } from "../../../src/domain/conversion/page-line.ts"
import { FileObjects } from "../../../src/ports/object-store.ts"
import { mapObjects } from "../../domain/conversion/world.ts"

const page = (index: number): PageLine => ({
  page: index,
  label: `${index + 1}`,
  tier: "layout",
  html: "<p>a</p>"
})

/** The pages of an object, in the groups that they come in. */
const groupsOf = (text: string) => {
  const { layer, objects } = mapObjects()
  objects.set("chunk", text)
  const groups: Array<ReadonlyArray<PageLine>> = []
  return Effect.gen(function* () {
    const store = yield* FileObjects
    yield* Stream.runForEachArray(storedLines(store, "chunk"), (some) => Effect.sync(() => groups.push(some)))
    return groups
  }).pipe(Effect.provide(layer))
}

it.effect("pages that are read at once come together", () =>
  Effect.gen(function* () {
    const pages = [page(0), page(1), page(2)]
    const groups = yield* groupsOf(pages.map((one) => `${JSON.stringify(one)}\n`).join(""))
    assert.deepStrictEqual(groups, [pages])
  })
)

it.effect("a page that cannot be read is as if the store were away", () =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(groupsOf(`${JSON.stringify(page(0))}\n{"page":1}\n`))
    assert.strictEqual(error.reason, "unavailable")
    assert.strictEqual(error.key, "chunk")
  })
)
