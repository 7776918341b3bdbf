import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import fc from "fast-check"

import {
  ACCEPTED_FILES,
  FileStatus,
  KINDS_IN_WORDS,
  resultNameOf
} from "../../../src/domain/conversion/file.ts"
import {
  askedOf,
  ChunkStatus,
  ConversionOptions,
  type JobOptions,
  layoutOptionsOf,
  usesCascade
} from "../../../src/domain/conversion/job.ts"
import { hasEnded, lastJobOf } from "../../../src/domain/conversion/lookup.ts"
import {
  FILE_ROOM,
  fileIdOf,
  fileKey,
  filePrefix,
  flyerResultKey,
  inlineResultKey,
  jobOfResult,
  jobPrefix,
  resultKey
} from "../../../src/domain/conversion/stored-files.ts"
import { anyId } from "../../support/any-id.ts"
import { storedFile } from "./stored-file.ts"

describe("the options of a conversion", () => {
  const optional = <A>(values: fc.Arbitrary<A>) => fc.option(values, { nil: undefined })
  const asked = fc.record({
    highFidelity: optional(fc.boolean()),
    keepRunningHeads: optional(fc.boolean()),
    mathOcr: optional(fc.boolean()),
    parser: optional(fc.constantFrom("auto" as const, "layout" as const, "harness" as const))
  })

  it("are what its owner asked for, without what was added, or left out", () => {
    fc.assert(
      fc.property(asked, (options) => {
        const named = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
        const job = { ...named, _batchLane: true, _batchPrimed: true, _batchCostUsd: 1 } as JobOptions
        assert.deepStrictEqual(askedOf(job), named)
        assert.isTrue(Option.isSome(Schema.decodeUnknownOption(ConversionOptions)(named)))
      })
    )
    assert.isTrue(Option.isNone(Schema.decodeUnknownOption(ConversionOptions)({ parser: "other" })))
  })

  it("BATCH-3: lead through the cascade where high fidelity page by page is asked for", () => {
    fc.assert(
      fc.property(asked, (options) => {
        const named = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
        const isPageByPage = options.parser === undefined || options.parser === "auto"
        assert.strictEqual(
          usesCascade(named),
          options.highFidelity === true && isPageByPage && options.mathOcr !== true
        )
        assert.strictEqual(layoutOptionsOf(named).keepsRunningLines, options.keepRunningHeads === true)
      })
    )
  })

  it("are of a file and of chunks in these states", () => {
    assert.deepStrictEqual(FileStatus.literals.toSorted(), [
      "chunked_processing",
      "completed",
      "failed",
      "processing",
      "uploaded"
    ])
    assert.deepStrictEqual(ChunkStatus.literals.toSorted(), [
      "cancelled",
      "completed",
      "failed",
      "pending",
      "processing",
      "waiting_batch"
    ])
  })
})

describe("the newest conversion of a file", () => {
  const AT = "2026-01-01T00:00:00Z"
  const job = (parts: Parameters<typeof storedFile>[0]) =>
    lastJobOf(storedFile({ jobId: anyId("j"), ...parts }))

  it("is its job, with its end where it has ended", () => {
    assert.isNull(lastJobOf(storedFile({ status: "completed" })))
    for (const jobStatus of ["completed", "failed", "cancelled"] as const)
      assert.deepStrictEqual(job({ jobStatus, jobEndedAt: AT }), {
        id: anyId("j"),
        status: jobStatus,
        endedAt: AT
      })
    for (const jobStatus of ["pending", "processing", "waiting_batch", "assembling"] as const)
      assert.deepStrictEqual(job({ jobStatus, jobEndedAt: AT })?.endedAt, null)
  })

  it("follows from the file where there is no row of it", () => {
    const made = { at: "2026-02-02T00:00:00Z", options: {}, tiers: {}, models: [] }
    const table = FileStatus.literals.map((status) => {
      const last = job({ status, jobStatus: null, made })
      return [status, last?.status, last?.endedAt]
    })
    assert.deepStrictEqual(table, [
      ["uploaded", "cancelled", null],
      ["processing", "processing", null],
      ["chunked_processing", "pending", null],
      ["completed", "completed", made.at],
      ["failed", "failed", null]
    ])
    assert.isNull(job({ status: "completed", jobStatus: null, made: null })?.endedAt)
    assert.strictEqual(job({ status: "completed", jobStatus: null, jobEndedAt: AT, made })?.endedAt, AT)
  })

  it("of a bulk order has ended where none waits or is under way", () => {
    const counts = { waiting: 0, processing: 0, completed: 1, failed: 1, cancelled: 1 }
    assert.isTrue(hasEnded({ counts }))
    assert.isFalse(hasEnded({ counts: { ...counts, waiting: 2 } }))
    assert.isFalse(hasEnded({ counts: { ...counts, processing: 2 } }))
    assert.isFalse(hasEnded({ counts: { ...counts, waiting: 2, processing: 2 } }))
  })
})

describe("names of files and objects", () => {
  it("a result has its file's name, with its own ending in the place of a known one", () => {
    for (const [name, result] of [
      ["a.pdf", "a.html"],
      ["a.b.PDF", "a.b.html"],
      ["a.docx", "a.html"],
      ["a.png", "a.html"],
      ["a.jpg", "a.html"],
      ["a.JPEG", "a.html"],
      ["a.tar", "a.tar.html"],
      ["pdf", "pdf.html"],
      ["jpeg", "jpeg.html"],
      [".pdf", ".html"],
      ["a.", "a..html"],
      ["", ".html"]
    ] as const)
      assert.strictEqual(resultNameOf(name), result)
    for (const ending of [".pdf", ".docx", ".png", ".jpg", ".jpeg"])
      assert.include(ACCEPTED_FILES.split(","), ending)
    assert.match(KINDS_IN_WORDS, /^PDF, .* or JPEG$/)
  })

  it("an object belongs to its file, and a result to its job where it has one", () => {
    const file = anyId("0199a000-0000-7000-8000-000000000001")
    const lease = anyId("lease")
    for (const key of [
      fileKey(file),
      fileKey(file, "2"),
      flyerResultKey(file, lease),
      inlineResultKey(file, lease)
    ]) {
      assert.strictEqual(fileIdOf(key), file)
      assert.isTrue(key.startsWith(filePrefix(file)))
      assert.isUndefined(jobOfResult(key))
    }
    assert.notStrictEqual(fileKey(file), fileKey(file, "2"))
    assert.notInclude(fileKey(file), "undefined")
    assert.include(fileKey(file, "2"), "2")
    const job = anyId("job")
    assert.strictEqual(jobOfResult(resultKey(job, lease)), job)
    for (const other of [
      `${jobPrefix(job)}chunks/0-x.jsonl`,
      "",
      "files/x/source",
      "files/00000000-0000-4000-8000-000000000000/source"
    ]) {
      assert.isUndefined(jobOfResult(other))
      assert.isUndefined(fileIdOf(other))
    }
  })

  it("a customer has room for these", () => {
    assert.deepStrictEqual(FILE_ROOM, {
      free: { files: 100, bytes: 5_368_709_120 },
      paid: { files: 50_000, bytes: 1_099_511_627_776 }
    })
  })
})
