import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { examineModel, lackOf } from "../../../src/adapters/bedrock/examination.ts"
import { modelVerdicts } from "../../../src/domain/doctor/model.ts"
import { bedrockError, fakeBedrock } from "../../support/vendors/fake-bedrock.ts"
import { FakeHttp, type Reply } from "../../support/vendors/fake-http.ts"

const LIST_PRICE = [3.3, 16.5] as const

/** The control plane: what the profile's regions are, and the newest batch job. */
const control = (replies: { readonly profile: Reply; readonly jobs: Reply }) =>
  new FakeHttp({
    scripted: () => false,
    error: (status) => bedrockError(status, "InternalServerException", "x"),
    handle: ({ path }) => (path.startsWith("/inference-profiles/") ? replies.profile : replies.jobs)
  })

const serving = (peer: FakeHttp) =>
  Effect.acquireRelease(
    Effect.promise(() => peer.listen()),
    (open) => Effect.promise(() => open.close())
  )

const PROFILE: Reply = {
  status: 200,
  body: {
    inferenceProfileName: "p",
    inferenceProfileArn: "arn:aws:bedrock:us-east-1:1:inference-profile/p",
    inferenceProfileId: "p",
    status: "ACTIVE",
    type: "SYSTEM_DEFINED",
    models: ["us-east-1", "us-west-2"].map((region) => ({
      modelArn: `arn:aws:bedrock:${region}::foundation-model/m`
    }))
  }
}

const jobs = (...summaries: ReadonlyArray<object>): Reply => ({
  status: 200,
  body: { invocationJobSummaries: summaries }
})

const examined = Effect.fnUntraced(function* (options: {
  readonly outcome?: Reply
  readonly profile?: Reply
  readonly jobs?: Reply
  readonly usesBatch?: boolean
}) {
  const runtime = yield* serving(fakeBedrock(() => "yes"))
  if (options.outcome !== undefined) {
    const { outcome } = options
    yield* Effect.promise(() => runtime.always({ reply: outcome }))
  }
  const plane = yield* serving(control({ profile: options.profile ?? PROFILE, jobs: options.jobs ?? jobs() }))
  return yield* examineModel({
    region: "us-east-1",
    endpoint: runtime.url,
    controlEndpoint: plane.url,
    credentials: { accessKeyId: "AK", secretAccessKey: "SK" },
    model: "us.anthropic.claude-sonnet-4-6",
    temperature: undefined,
    usesBatch: options.usesBatch ?? false,
    price: LIST_PRICE
  })
})

describe("what doctor asks of the high-fidelity model", () => {
  it.live("one word, which it answers, through a profile of several regions", () =>
    Effect.gen(function* () {
      const facts = yield* examined({ usesBatch: true })
      assert.deepStrictEqual(facts.answer, { _tag: "Answered" })
      assert.deepStrictEqual(facts.regions, ["us-east-1", "us-west-2"])
      assert.deepStrictEqual(
        modelVerdicts(facts).map(({ status, what }) => [status, what]),
        [
          ["ok", "us.anthropic.claude-sonnet-4-6 answers in us-east-1, through us-east-1, us-west-2"],
          ["ok", "batch jobs can be listed, and the newest did not fail"]
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live.each([
    [
      "AccessDeniedException",
      403,
      "You don't have access to the model",
      "access",
      /foundation model in us-east-1, us-west-2/
    ],
    [
      "ResourceNotFoundException",
      404,
      "This model version has reached the end of its life",
      "model",
      /HIFI_MODEL_ID/
    ],
    ["ValidationException", 400, "The provided model identifier is invalid.", "model", /HIFI_MODEL_ID/],
    [
      "ValidationException",
      400,
      "Invocation of model ID x with on-demand throughput isn't supported",
      "profile",
      /inference profile/
    ],
    [
      "ValidationException",
      400,
      "`temperature` is deprecated for this model.",
      "temperature",
      /HIFI_TEMPERATURE/
    ],
    ["UnrecognizedClientException", 403, "The security token is invalid", "credentials", /keys/]
  ] as const)("%s (%i, %s) is named as what is missing", ([name, status, words, lack, todo]) =>
    Effect.gen(function* () {
      const facts = yield* examined({ outcome: bedrockError(status, name, words) })
      assert.include(facts.answer, { _tag: "None", lack })
      const [verdict] = modelVerdicts(facts)
      assert.deepInclude(verdict, { status: "fail" })
      assert.include(verdict?.status === "ok" ? "" : verdict?.why, words)
      assert.match(verdict?.status === "ok" ? "" : (verdict?.do ?? ""), todo)
    }).pipe(Effect.scoped)
  )

  it.live("the batch role's trouble shows in the newest job, and in a refused list", () =>
    Effect.gen(function* () {
      const message = "The service role does not have permission to read the S3 input"
      const time = "2026-11-01T00:00:00Z"
      const failed = yield* examined({
        usesBatch: true,
        jobs: jobs({
          jobArn: "arn",
          jobName: "j",
          modelId: "m",
          roleArn: "r",
          status: "Failed",
          submitTime: time,
          message,
          inputDataConfig: { s3InputDataConfig: { s3Uri: "s3://a/b" } },
          outputDataConfig: { s3OutputDataConfig: { s3Uri: "s3://a/b" } }
        })
      })
      assert.deepStrictEqual(failed.batch, { _tag: "Seen", failure: message })
      const refused = yield* examined({
        usesBatch: true,
        jobs: bedrockError(403, "AccessDeniedException", "no"),
        profile: bedrockError(404, "ResourceNotFoundException", "no profile")
      })
      assert.include(refused.batch, { _tag: "Unreachable" })
      assert.isUndefined(refused.regions)
    }).pipe(Effect.scoped)
  )

  it("a price that is not the list's is named, and one that is not known", () => {
    const facts = {
      model: "m",
      region: "r",
      answer: { _tag: "Answered" },
      regions: undefined,
      batch: undefined
    } as const
    const complaints = (used: readonly [number, number], listed: readonly [number, number] | undefined) =>
      modelVerdicts({ ...facts, price: { used, listed } }).flatMap((verdict) =>
        verdict.status === "ok" ? [] : [verdict.why]
      )
    assert.deepStrictEqual(complaints([3.3, 16.5], [3.3, 16.5]), [])
    assert.match(complaints([3, 15], [3.3, 16.5]).join(), /3 and 15 USD.*3.3 and 16.5 USD/)
    assert.lengthOf(complaints([5.5, 27.5], undefined), 1)
  })

  it("anything else is not known", () => {
    assert.strictEqual(lackOf("x"), "unknown")
    assert.strictEqual(lackOf(new Error("reset")), "unknown")
  })
})
