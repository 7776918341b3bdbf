import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"

import type { FileStatus, StoredFile } from "../../../src/domain/conversion/file.ts"
import { JobStatus } from "../../../src/domain/conversion/job.ts"
import {
  momentOf,
  momentOfDeleted,
  momentOfReplaced,
  previewedJob,
  readyPagesOf,
  sameMoment,
  wasReplaced
} from "../../../src/domain/conversion/progress.ts"
import { anyId } from "../../support/any-id.ts"
import { storedFile } from "./stored-file.ts"

const FILE_STATUSES: ReadonlyArray<FileStatus> = [
  "uploaded",
  "processing",
  "chunked_processing",
  "completed",
  "failed"
]

const eventOf = (parts: Partial<StoredFile>) => momentOf(storedFile(parts)).event

describe("a moment of a conversion", () => {
  it("follows the file's status; a cancelled one the job's, as the file is then like a new upload", () => {
    assert.strictEqual(
      eventOf({ status: "uploaded", jobStatus: "cancelled", jobId: anyId("j") }),
      "cancelled"
    )
    assert.strictEqual(eventOf({ status: "uploaded" }), "progress")
    assert.strictEqual(eventOf({ status: "completed", jobStatus: "completed" }), "completed")
    assert.strictEqual(eventOf({ status: "failed", jobStatus: "failed" }), "failed")
    assert.strictEqual(eventOf({ status: "processing" }), "progress")
    for (const jobStatus of JobStatus.literals) {
      assert.strictEqual(
        eventOf({ status: "chunked_processing", jobStatus }),
        jobStatus === "cancelled" ? "cancelled" : "progress"
      )
    }
  })

  it("tells the job's status, and the file's where there is no job row", () => {
    assert.strictEqual(
      momentOf(storedFile({ status: "chunked_processing", jobStatus: "waiting_batch" })).data.status,
      "waiting_batch"
    )
    assert.strictEqual(momentOf(storedFile({ status: "processing" })).data.status, "processing")
  })

  it("of a file that is deleted: its conversion is cancelled, where there was one under way", () => {
    for (const status of FILE_STATUSES) {
      const isLive = status === "processing" || status === "chunked_processing"
      const moment = momentOfDeleted(storedFile({ status, jobId: anyId("j"), jobStatus: null, phase: "p" }))
      assert.deepStrictEqual(
        [moment?.event, moment?.data.status, moment?.data.jobId, moment?.data.phase],
        [...(isLive ? ["cancelled", "cancelled", "j", null] : Array(4).fill(undefined))]
      )
    }
  })

  it("tells why a conversion failed", () => {
    const { data } = momentOf(storedFile({ status: "failed", error: "no credits", phase: null }))
    assert.deepInclude(data, { status: "failed", phase: "no credits" })
  })

  it("is another one exactly when something that a watcher sees is another", () => {
    const base = storedFile({
      status: "chunked_processing",
      jobId: anyId("j"),
      jobStatus: "processing",
      phase: "p"
    })
    const seen: ReadonlyArray<Partial<StoredFile>> = [
      { jobId: anyId("k") },
      { jobStatus: "assembling" },
      { phase: "q" },
      { progress: { done: 1, total: 0 } },
      { progress: { done: 0, total: 1 } },
      { status: "completed" }
    ]
    for (const parts of seen) {
      assert.isFalse(sameMoment(momentOf(base), momentOf({ ...base, ...parts })), JSON.stringify(parts))
    }
    assert.isTrue(sameMoment(momentOf(base), momentOf({ ...base, name: "b.pdf", resultKey: "r" })))
    const ready = momentOf(base, [{ first: 1, last: 20 }])
    assert.isTrue(sameMoment(ready, momentOf(base, [{ first: 1, last: 20 }])))
    for (const pages of [[], [{ first: 1, last: 40 }], [{ first: 2, last: 20 }]])
      assert.isFalse(sameMoment(ready, momentOf(base, pages)), JSON.stringify(pages))
  })

  it("tells how a conversion ended whose file has begun another one meanwhile", () => {
    const known = storedFile({
      status: "chunked_processing",
      jobId: anyId("j"),
      resultKey: "old",
      progress: { done: 2, total: 5 }
    })
    const next = { ...known, jobId: anyId("k") }
    for (const status of FILE_STATUSES) {
      const isLive = status === "processing" || status === "chunked_processing"
      assert.strictEqual(wasReplaced({ ...known, status }, next), isLive, status)
      assert.isFalse(wasReplaced({ ...known, status }, known), "it is the same one")
      assert.isFalse(wasReplaced({ ...known, status, jobId: null }, next), "none was under way")
    }
    const ended = (job: JobStatus | undefined, resultKey = "old") => {
      const { data, event } = momentOfReplaced(known, { ...next, resultKey }, job)
      assert.deepInclude(data, { jobId: anyId("j"), status: event, phase: null, done: 2, total: 5 })
      return event
    }
    assert.strictEqual(ended("cancelled"), "cancelled")
    assert.strictEqual(ended("cancelled", "new"), "cancelled")
    assert.strictEqual(ended("completed"), "completed")
    assert.strictEqual(ended("failed"), "failed")
    // Without a row of its job a new result tells.
    assert.strictEqual(ended(undefined), "failed")
    assert.strictEqual(ended(undefined, "new"), "completed")
  })

  it("ends a stream for completed, failed and cancelled only", () => {
    for (const status of FILE_STATUSES) {
      for (const jobStatus of [null, ...JobStatus.literals]) {
        const ends =
          status === "completed" ||
          status === "failed" ||
          (status !== "processing" && jobStatus === "cancelled")
        assert.strictEqual(eventOf({ status, jobStatus }) !== "progress", ends, `${status} ${jobStatus}`)
      }
    }
  })
})

describe("pages that are ready", () => {
  const chunk = fc
    .record({ firstPage: fc.integer({ min: 0, max: 60 }), more: fc.integer({ min: 0, max: 20 }) })
    .map(({ firstPage, more }) => ({ firstPage, lastPage: firstPage + more }))

  it("are those of the stored chunks and no other, in as few ranges as can be, whatever their order", () => {
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 12 }), (chunks) => {
        const ranges = readyPagesOf(chunks)
        for (let page = 1; page <= 82; page += 1)
          assert.strictEqual(
            ranges.some(({ first, last }) => first <= page && page <= last),
            chunks.some(({ firstPage, lastPage }) => firstPage < page && page <= lastPage + 1),
            `page ${page}`
          )
        for (const [at, { first, last }] of ranges.entries()) {
          assert.isAtMost(first, last)
          const before = ranges[at - 1]
          if (before !== undefined) assert.isAbove(first, before.last + 1)
        }
        assert.deepStrictEqual(readyPagesOf(chunks.toReversed()), ranges)
      })
    )
  })

  it("are previewed while the conversion is under way, and not once it has ended", () => {
    const jobId = anyId("j")
    for (const status of FILE_STATUSES) {
      const expected = status === "chunked_processing" ? jobId : undefined
      assert.strictEqual(previewedJob(storedFile({ status, jobId, chunksDone: 1 })), expected, status)
      assert.isUndefined(previewedJob(storedFile({ status, jobId, chunksDone: 0 })))
    }
  })
})
