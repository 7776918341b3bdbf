import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"

import { assembleJob } from "../../../../src/application/conversion/work/assembling.ts"
import { MAX_CHUNK_ATTEMPTS } from "../../../../src/domain/conversion/job.ts"
import type { Making } from "../../../../src/domain/conversion/making.ts"
import {
  type Legibility,
  NO_MODEL,
  notice,
  type PageLine
} from "../../../../src/domain/conversion/page-line.ts"
import { type ClaimedAssembly, ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { HtmlAssembly } from "../../../../src/ports/conversion/html-assembly.ts"
import { PageSources } from "../../../../src/ports/conversion/page-sources.ts"
import { Surveyor } from "../../../../src/reader/html/survey.ts"
import { mapObjects } from "../../../domain/conversion/world.ts"
import { anyId } from "../../../support/any-id.ts"

const HEARTBEAT = Duration.seconds(10)
const KEY = "jobs/job/result-lease.html"

const claim = (parts: Partial<ClaimedAssembly> = {}): ClaimedAssembly => ({
  jobId: anyId("job"),
  lease: anyId("lease"),
  fileId: anyId("file"),
  fileName: "a.pdf",
  attempts: 1,
  options: {},
  totalPages: 3,
  objectKey: "files/file/source",
  chunkKeys: ["c0", "c1"],
  ...parts
})

const line = (page: number, parts: Partial<PageLine> = {}): string => {
  const one: PageLine = { page, label: String(page + 1), tier: "layout", html: `<p>${page}</p>`, ...parts }
  return `${JSON.stringify(one)}\n`
}

const facts = {
  pageCount: 3,
  title: "T",
  author: undefined,
  lang: "en",
  tagged: false,
  outline: [],
  fonts: []
}

/** Two chunks of a document, and the calls that the store got. */
const world = (
  assembly: ClaimedAssembly,
  store: Partial<ConversionStore["Service"]> = {},
  delay: Duration.Duration = Duration.zero,
  withoutModel?: "fail" | "standard"
) => {
  const calls: Array<string> = []
  const found: Array<Legibility | undefined> = []
  const without: Array<ReadonlyArray<number>> = []
  const makings: Array<Making | undefined> = []
  const { layer, objects } = mapObjects()
  objects.set("c0", line(0) + line(1))
  objects.set("c1", line(2))
  const note = (what: string) => Effect.sync(() => void calls.push(what))
  const layers = Layer.mergeAll(
    layer,
    Layer.mock(ConversionStore, {
      heartbeatAssembly: () => Effect.succeed(true),
      handBackAssembly: () => Effect.as(note("handed back"), true),
      finishJob: (_, key, legibility, noModelPages = [], made) => {
        makings.push(made)
        found.push(legibility)
        without.push(noModelPages)
        return Effect.as(note(`finished ${key}`), "completed")
      },
      failJob: (_, error, lease) => Effect.as(note(`failed ${error} ${lease}`), true),
      ...store
    }),
    Layer.mock(PageSources, { facts: () => Effect.as(Effect.sleep(delay), facts) }),
    Layer.mock(HtmlAssembly, {
      survey: (pages) => Effect.as(Stream.runDrain(pages), new Surveyor().survey()),
      assemble: ({ facts: { title }, name, notes: told, pages }) =>
        Stream.concat(
          Stream.make(`${title} ${name}: ${told?.join(" ") ?? ""}`),
          Stream.map(pages, ({ html, index, label }) => `${index}/${label}${html}`)
        )
    })
  )
  return {
    calls,
    found,
    without,
    makings,
    objects,
    run: Effect.provide(assembleJob(assembly, { heartbeat: HEARTBEAT, withoutModel }), layers)
  }
}

describe("an assembly", () => {
  it.effect("writes every page of every chunk in order, and tells it once it is stored", () =>
    Effect.gen(function* () {
      const { objects, run, calls } = world(claim())
      yield* run
      assert.strictEqual(objects.get(KEY), "T a.pdf: 0/1<p>0</p>1/2<p>1</p>2/3<p>2</p>")
      assert.deepStrictEqual(calls, [`finished ${KEY}`])
    })
  )

  it.effect("R2: tells which pages could not be read, and whether there is text", () =>
    Effect.gen(function* () {
      const { found, objects, run } = world(claim())
      objects.set("c1", `${JSON.stringify(notice(2))}\n`)
      yield* run
      assert.deepStrictEqual(found, [{ unreadablePages: [3], hasText: true }])
    })
  )

  it.effect("DOC-15: tells what the result was made with, each page once", () =>
    Effect.gen(function* () {
      const { makings, objects, run } = world(claim({ options: { highFidelity: true, _batchLane: true } }))
      objects.set("c0", line(0, { tier: "agentic", model: "m2" }) + line(1, { tier: "agentic", model: "m1" }))
      yield* run
      assert.deepStrictEqual(makings, [
        { options: { highFidelity: true }, tiers: { agentic: 2, layout: 1 }, models: ["m1", "m2"] }
      ])
    })
  )

  const asked = { noModel: "refused" } as const

  it.effect("pages that no model converted are named above the document and in the report", () =>
    Effect.gen(function* () {
      const { found, objects, run, without } = world(claim())
      objects.set("c0", line(0, { tier: "hifi-single-pass" }) + line(1, asked))
      objects.set("c1", line(2, asked))
      yield* run
      assert.include(
        objects.get(KEY)!,
        "High fidelity was not available for 2 pages, converted without it: 2, 3."
      )
      assert.deepStrictEqual(without, [[2, 3]])
      assert.deepStrictEqual(found, [{ unreadablePages: [], hasText: true }])
    })
  )

  it.effect("where no page got the high fidelity that was asked for there is no result, and no charge", () =>
    Effect.gen(function* () {
      const { calls, objects, run } = world(claim())
      objects.set("c0", line(0, asked) + line(1, { ...asked, noModel: "unusable" }))
      objects.set("c1", line(2, { tier: "blank", html: "" }))
      yield* run
      assert.deepStrictEqual(calls, [`failed ${NO_MODEL} lease`])
      assert.isFalse(objects.has(KEY))
    })
  )

  it.effect("or, where that is set, a standard one that says so", () =>
    Effect.gen(function* () {
      const { calls, objects, run, without } = world(claim(), {}, Duration.zero, "standard")
      objects.set("c0", line(0, asked) + line(1, asked))
      objects.set("c1", line(2, asked))
      yield* run
      assert.deepStrictEqual(calls, [`finished ${KEY}`])
      assert.deepStrictEqual(without, [[1, 2, 3]])
      assert.include(objects.get(KEY)!, "High fidelity was not available for 3 pages")
    })
  )

  it.effect.each(["stale", "insufficient", "unreadable"] as const)(
    "that ended %s leaves no object",
    (answer) =>
      Effect.gen(function* () {
        const { objects, run } = world(claim(), { finishJob: () => Effect.succeed(answer) })
        yield* run
        assert.isFalse(objects.has(KEY))
      })
  )

  it.effect("that lacks a chunk is left to its lease, and fails the job at the last attempt", () =>
    Effect.gen(function* () {
      const first = world(claim({ chunkKeys: ["c0", "gone"] }))
      yield* first.run
      assert.deepStrictEqual(first.calls, [])
      const last = world(claim({ chunkKeys: ["c0", "gone"], attempts: MAX_CHUNK_ATTEMPTS }))
      yield* last.run
      assert.deepStrictEqual(last.calls, ["failed The result could not be put together lease"])
      assert.isFalse(last.objects.has(KEY))
    })
  )

  it.effect("a chunk's line that cannot be read is no page", () =>
    Effect.gen(function* () {
      const { objects, run, calls } = world(claim({ attempts: MAX_CHUNK_ATTEMPTS }))
      objects.set("c1", '{"page": 2, "label": "3", "tier": "la')
      yield* run
      assert.deepStrictEqual(calls, ["failed The result could not be put together lease"])
    })
  )

  it.effect("whose process died every time is given up before it is tried again", () =>
    Effect.gen(function* () {
      const { objects, run, calls } = world(claim({ attempts: MAX_CHUNK_ATTEMPTS + 1 }))
      yield* run
      assert.deepStrictEqual(calls, ["failed The result could not be put together lease"])
      assert.isFalse(objects.has(KEY))
    })
  )

  it.effect("that is another's by now is dropped; one that is interrupted is handed back", () =>
    Effect.gen(function* () {
      const lost = world(claim(), { heartbeatAssembly: () => Effect.succeed(false) }, Duration.hours(1))
      const fiber = yield* Effect.forkChild(lost.run)
      yield* TestClock.adjust("2 minutes")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(lost.calls, [])
      const stopped = world(claim(), {}, Duration.hours(1))
      const other = yield* Effect.forkChild(stopped.run, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(other)
      assert.deepStrictEqual(stopped.calls, ["handed back"])
    })
  )
})
