import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"

import { type BedrockBatchOptions, makeBedrockBatch } from "../../../src/adapters/bedrock/batch-service.ts"
import type { ObjectStoreService } from "../../../src/ports/object-store.ts"
import { batchServiceContract } from "../../contracts/batch/batch-service.ts"
import { type FakeBatchJob, FakeBedrockBatch } from "../../support/vendors/fake-bedrock-batch.ts"
import { bedrockError } from "../../support/vendors/fake-bedrock.ts"
import type { Outcome } from "../../support/vendors/fake-http.ts"
import { makeMapObjects } from "../../support/worlds/map-objects.ts"

const BUCKET = "bucket-1"
const SECRET = "bedrock-secret-key-0123456789"

const withFake = (onCreate?: (job: FakeBatchJob) => void, options: Partial<BedrockBatchOptions> = {}) =>
  Effect.gen(function* () {
    const fake = new FakeBedrockBatch(onCreate)
    yield* Effect.acquireRelease(
      Effect.promise(() => fake.listen()),
      (open) => Effect.promise(() => open.close())
    )
    const service = yield* makeBedrockBatch({
      region: "us-east-1",
      endpoint: fake.url,
      credentials: { accessKeyId: "AKIDTEST", secretAccessKey: SECRET },
      bucket: BUCKET,
      roleArn: "arn:aws:iam::123456789012:role/batch",
      ...options
    })
    return { fake, service }
  })

const keyOf = (uri: string) => uri.slice(`s3://${BUCKET}/`.length)

/** Does what the service does with a job's input: every record answered, its input echoed. */
const answer = Effect.fnUntraced(function* (objects: ObjectStoreService, job: FakeBatchJob) {
  const input = keyOf(job.body.inputDataConfig.s3InputDataConfig.s3Uri)
  const output = `${keyOf(job.body.outputDataConfig.s3OutputDataConfig.s3Uri)}${job.arn.slice(-12)}/`
  const contentType = "application/jsonl"
  const encoder = new TextEncoder()
  for (const { key } of yield* Stream.runCollect(objects.list(input))) {
    const text = yield* Stream.mkString(Stream.decodeText(objects.get(key)))
    const lines = text
      .trim()
      .split("\n")
      .map((line) => `${JSON.stringify({ ...JSON.parse(line), modelOutput: {} })}\n`)
    const name = key.slice(key.lastIndexOf("/") + 1)
    yield* objects.put(`${output}${name}.out`, Stream.make(encoder.encode(lines.join(""))), { contentType })
  }
  yield* objects.put(`${output}manifest.json.out`, Stream.make(encoder.encode("{}")), { contentType })
  job.status = "Completed"
})

batchServiceContract(
  "Bedrock",
  Effect.gen(function* () {
    const objects = makeMapObjects()
    const { service } = yield* withFake((job) => void Effect.runFork(Effect.orDie(answer(objects, job))))
    return { objects, service }
  })
)

const asked = {
  name: "postlane-0b8e1f9a-6a1e-4a0e-9f5e-0d7f0c1a2b3c",
  model: "us.anthropic.model-v1:0",
  inputPrefix: "batch/j/l/input/",
  outputPrefix: "batch/j/l/output/",
  timeoutHours: 24
}

const ROWS: ReadonlyArray<readonly [string, Outcome, string]> = [
  ["no access", "403", "refused"],
  [
    "a request that is not valid",
    { reply: bedrockError(400, "ValidationException", "contains less records") },
    "refused"
  ],
  ["a full quota", { reply: bedrockError(400, "ServiceQuotaExceededException", "full") }, "full"],
  ["throttling", "429", "unavailable"],
  [
    "credentials that have expired",
    { reply: bedrockError(403, "ExpiredTokenException", "expired") },
    "unavailable"
  ],
  ["an internal error", "500", "unavailable"],
  ["a closed port", "refused", "unavailable"],
  ["a proxy's page", "502-html", "unavailable"],
  ["a page where an answer should be", "html-200", "unavailable"],
  ["an answer without a job", { reply: { status: 200, body: {} } }, "unavailable"]
]

describe("batch jobs on Bedrock", () => {
  it.live("asks for a Converse job with name, token, role and both places", () =>
    Effect.gen(function* () {
      const { fake, service } = yield* withFake()
      const arn = yield* service.create(asked)
      assert.deepStrictEqual(fake.jobs.get(arn)?.body, {
        jobName: asked.name,
        clientRequestToken: asked.name,
        roleArn: "arn:aws:iam::123456789012:role/batch",
        modelId: asked.model,
        modelInvocationType: "Converse",
        timeoutDurationInHours: 24,
        inputDataConfig: {
          s3InputDataConfig: { s3Uri: `s3://${BUCKET}/batch/j/l/input/`, s3InputFormat: "JSONL" }
        },
        outputDataConfig: { s3OutputDataConfig: { s3Uri: `s3://${BUCKET}/batch/j/l/output/` } }
      })
      assert.match(
        String(fake.requests[0]?.headers["authorization"]),
        /^AWS4-HMAC-SHA256 .*\/bedrock\/aws4_request/
      )
      assert.notInclude(JSON.stringify(fake.requests), SECRET)
    }).pipe(Effect.scoped)
  )

  it.live("a call whose answer was lost is made again, and there is one job", () =>
    Effect.gen(function* () {
      const { fake, service } = yield* withFake()
      yield* Effect.promise(() => fake.script(["reset-after", "503"]))
      yield* service.create(asked)
      assert.strictEqual(fake.jobs.size, 1)
    }).pipe(Effect.scoped)
  )

  it.live("a name that is taken is answered with the job that has it", () =>
    Effect.gen(function* () {
      const { fake, service } = yield* withFake()
      const arn = yield* service.create(asked)
      yield* Effect.promise(() =>
        fake.script([{ reply: bedrockError(400, "ConflictException", "the name is taken") }])
      )
      assert.strictEqual(yield* service.create(asked), arn)
    }).pipe(Effect.scoped)
  )

  it.live(
    "a create that is refused after one without an answer is looked up: the first may have been taken",
    () =>
      Effect.gen(function* () {
        const expired: Outcome = { reply: bedrockError(403, "AccessDeniedException", "not any more") }
        const { fake, service } = yield* withFake()
        yield* Effect.promise(() => fake.script(["reset-after", expired]))
        assert.deepStrictEqual([yield* service.create(asked)], [...fake.jobs.keys()])

        const other = { ...asked, name: `${asked.name}-2` }
        yield* Effect.promise(() => fake.script(["reset-after", expired, expired]))
        assert.strictEqual((yield* Effect.flip(service.create(other))).reason, "unavailable")
        yield* Effect.promise(() => fake.script(["503", expired]))
        const none = { ...asked, name: `${asked.name}-3` }
        assert.strictEqual((yield* Effect.flip(service.create(none))).reason, "refused")
      }).pipe(Effect.scoped)
  )

  it.live("a name that is taken by a job that is not listed yet is asked for again", () =>
    Effect.gen(function* () {
      const { fake, service } = yield* withFake()
      yield* Effect.promise(() =>
        fake.script([{ reply: bedrockError(400, "ConflictException", "the name is taken") }])
      )
      assert.strictEqual((yield* Effect.flip(service.create(asked))).reason, "unavailable")
    }).pipe(Effect.scoped)
  )

  it.live("tells counts, words and folders; an unknown status is no answer", () =>
    Effect.gen(function* () {
      const { fake, service } = yield* withFake()
      const arn = yield* service.create(asked)
      const job = fake.jobs.get(arn)!
      Object.assign(job, { status: "Failed", message: "too few", processed: 7 })
      assert.deepStrictEqual(yield* service.get(arn), {
        arn,
        name: asked.name,
        status: "Failed",
        message: "too few",
        inputPrefix: asked.inputPrefix,
        outputPrefix: `${asked.outputPrefix}${arn.slice(-12)}/`,
        processed: 7
      })
      job.status = "Dreaming"
      assert.strictEqual((yield* Effect.flip(service.get(arn))).reason, "unavailable")
    }).pipe(Effect.scoped)
  )

  for (const [what, outcome, reason] of ROWS) {
    it.live(`${what} is ${reason}`, () =>
      Effect.gen(function* () {
        const { fake, service } = yield* withFake()
        yield* Effect.promise(() => fake.always(outcome))
        const error = yield* Effect.flip(service.create(asked))
        assert.strictEqual(error.reason, reason, error.message)
        assert.notInclude(error.message, SECRET)
      }).pipe(Effect.scoped)
    )
  }

  it.live("a service that hangs is given up", () =>
    Effect.gen(function* () {
      const { fake, service } = yield* withFake(undefined, { timeLimitMs: 50 })
      yield* Effect.promise(() => fake.always("hang"))
      assert.strictEqual((yield* Effect.flip(service.get("x"))).reason, "unavailable")
    }).pipe(Effect.scoped)
  )
})
