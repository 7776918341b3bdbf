/**
 * `BatchService`: a job is created once under its name, found by it, stopped, and never lost silently.
 *
 * Adapters: bedrock. Rules: BATCH-13, BATCH-14, BATCH-42.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope, Stream } from "effect"

import { recordLine } from "../../../src/adapters/bedrock/batch-lines.ts"
import { visionCall } from "../../../src/application/cascade/vision.ts"
import {
  type BatchJob,
  type BatchService,
  BatchServiceError
} from "../../../src/ports/batch/batch-service.ts"
import type { ObjectStoreService } from "../../../src/ports/object-store.ts"
import { untilFound } from "../../support/until.ts"

/** A batch service and the objects that it reads and writes. */
export interface BatchWorld {
  readonly service: BatchService["Service"]
  readonly objects: ObjectStoreService
}

const encoder = new TextEncoder()

/** Uploads so many records; answers the job that reads them. */
export const newJob = Effect.fnUntraced(function* (objects: ObjectStoreService, name: string, records = 2) {
  const lines = Array.from({ length: records }, (_, page) =>
    recordLine(
      `c0-p${page}`,
      visionCall("m1", [
        {
          role: "user",
          content: [{ pdf: encoder.encode(`page ${page}`), name: "page" }, { text: "Convert this page." }]
        }
      ])
    )
  )
  const inputPrefix = `batch/${name}/l/input/`
  yield* objects.put(`${inputPrefix}shard-0001.jsonl`, Stream.fromIterable(lines), {
    contentType: "application/jsonl"
  })
  return { name, model: "m1", inputPrefix, outputPrefix: `batch/${name}/l/output/`, timeoutHours: 24 }
})

/** Asks until a job's status is one of these. */
export const untilStatus = (
  service: BatchService["Service"],
  arn: string,
  statuses: ReadonlyArray<BatchJob["status"]>
) =>
  untilFound(
    `the job is ${statuses.join(" or ")}`,
    Effect.map(service.get(arn), (job) => statuses.includes(job.status) && job)
  )

/** What every batch service does. */
export const batchServiceContract = (name: string, make: Effect.Effect<BatchWorld, never, Scope.Scope>) =>
  describe(`BatchService: ${name}`, () => {
    const test = (title: string, use: (world: BatchWorld) => Effect.Effect<void, unknown, Scope.Scope>) =>
      it.live(title, () => Effect.scoped(Effect.flatMap(make, use)))

    test("runs a job to its end and writes the output beside the id of its ARN", ({ objects, service }) =>
      Effect.gen(function* () {
        const asked = yield* newJob(objects, "postlane-a1")
        const arn = yield* service.create(asked)
        assert.match(arn, /^arn:aws:bedrock:[a-z0-9-]+:\d{12}:model-invocation-job\/[a-z0-9]{12}$/)
        const job = yield* untilStatus(service, arn, ["Completed"])
        assert.deepStrictEqual(
          [job.arn, job.name, job.inputPrefix, job.outputPrefix],
          [arn, asked.name, asked.inputPrefix, `${asked.outputPrefix}${arn.slice(-12)}/`]
        )
        const keys = yield* Stream.runCollect(objects.list(job.outputPrefix))
        assert.deepStrictEqual([...keys].map(({ key }) => key.slice(job.outputPrefix.length)).sort(), [
          "manifest.json.out",
          "shard-0001.jsonl.out"
        ])
        const text = yield* Stream.mkString(
          Stream.decodeText(objects.get(`${job.outputPrefix}shard-0001.jsonl.out`))
        )
        const ids = text
          .trim()
          .split("\n")
          .map((line) => (JSON.parse(line) as { readonly recordId: string }).recordId)
        assert.deepStrictEqual(ids.sort(), ["c0-p0", "c0-p1"])
      }))

    test("creating a job again gives the same one, reading what the first call named", ({
      objects,
      service
    }) =>
      Effect.gen(function* () {
        const asked = yield* newJob(objects, "postlane-a2")
        const arn = yield* service.create(asked)
        assert.strictEqual(
          yield* service.create({ ...asked, inputPrefix: "batch/postlane-a2/other/input/" }),
          arn
        )
        assert.strictEqual((yield* service.get(arn)).inputPrefix, asked.inputPrefix)
      }))

    test("finds a job by its exact name only", ({ objects, service }) =>
      Effect.gen(function* () {
        const longer = yield* service.create(yield* newJob(objects, "postlane-a30"))
        assert.isUndefined(yield* service.findByName("postlane-a3"))
        const arn = yield* service.create(yield* newJob(objects, "postlane-a3"))
        assert.strictEqual(yield* service.findByName("postlane-a3"), arn)
        assert.strictEqual(yield* service.findByName("postlane-a30"), longer)
      }))

    test("stops a job, again too; one that has ended counts as stopped", ({ objects, service }) =>
      Effect.gen(function* () {
        const arn = yield* service.create(yield* newJob(objects, "postlane-a4"))
        yield* service.stop(arn)
        yield* service.stop(arn)
        const { status } = yield* untilStatus(service, arn, ["Stopped", "Completed"])
        yield* service.stop(arn)
        assert.strictEqual((yield* service.get(arn)).status, status)
      }))

    test("says of a job that it does not know that it is missing", ({ service }) =>
      Effect.gen(function* () {
        const arn = "arn:aws:bedrock:us-east-1:000000000000:model-invocation-job/zzzzzzzzzzzz"
        const error = yield* Effect.flip(service.get(arn))
        assert.instanceOf(error, BatchServiceError)
        assert.strictEqual(error.reason, "missing")
      }))
  })
