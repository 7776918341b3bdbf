import { createHash } from "node:crypto"

import { bedrockError } from "./fake-bedrock.ts"
import { FakeHttp, type FakeOptions, type Reply } from "./fake-http.ts"

/** A batch job as the fake knows it, and as it was asked for over the wire. */
export interface FakeBatchJob {
  readonly arn: string
  readonly body: {
    readonly jobName: string
    readonly clientRequestToken: string
    readonly roleArn: string
    readonly modelId: string
    readonly modelInvocationType: string
    readonly timeoutDurationInHours: number
    readonly inputDataConfig: {
      readonly s3InputDataConfig: { readonly s3Uri: string; readonly s3InputFormat: string }
    }
    readonly outputDataConfig: { readonly s3OutputDataConfig: { readonly s3Uri: string } }
  }
  status: string
  message?: string
  processed?: number
}

/** The vendor's own patterns (botocore model, CreateModelInvocationJob). */
const NAME = /^[a-zA-Z0-9]{1,63}(-*[a-zA-Z0-9+\-.]){0,63}$/
const TOKEN = /^[a-zA-Z0-9]{1,256}(-*[a-zA-Z0-9]){0,256}$/
const URI =
  /^s3:\/\/[a-z0-9][-.a-z0-9]{1,61}[a-z0-9](?:\/[-!_*'().a-z0-9A-Z]+(?:\/[-!_*'().a-z0-9A-Z]+)*)?\/?$/
const ONE = /^\/model-invocation-job\/([^/]+)(\/stop)?$/

const ENDED = new Set(["Completed", "PartiallyCompleted", "Failed", "Stopped", "Expired"])

const invalid = (what: string): Reply => bedrockError(400, "ValidationException", what)

/** Bedrock's batch API on loopback: required fields and patterns are checked, a token gives one job. */
export class FakeBedrockBatch extends FakeHttp {
  readonly jobs: Map<string, FakeBatchJob>

  constructor(onCreate: (job: FakeBatchJob) => void = () => undefined, options: FakeOptions = {}) {
    const jobs = new Map<string, FakeBatchJob>()
    const create = (text: string, accept: (key: string, payload: unknown) => string): Reply => {
      const body: FakeBatchJob["body"] = JSON.parse(text)
      const uris = [
        body.inputDataConfig?.s3InputDataConfig?.s3Uri,
        body.outputDataConfig?.s3OutputDataConfig?.s3Uri
      ]
      if (!NAME.test(body.jobName ?? "") || body.jobName.length > 63) return invalid("jobName")
      if (!TOKEN.test(body.clientRequestToken ?? "")) return invalid("clientRequestToken")
      if (!uris.every((uri) => uri !== undefined && URI.test(uri))) return invalid("s3Uri")
      if (!body.roleArn || !body.modelId) return invalid("roleArn, modelId")
      if (body.timeoutDurationInHours < 24 || body.timeoutDurationInHours > 168) return invalid("timeout")
      const id = createHash("sha256").update(body.clientRequestToken).digest("hex").slice(0, 12)
      const arn = `arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/${id}`
      if (!jobs.has(arn)) {
        const job: FakeBatchJob = { arn, body, status: "Submitted" }
        jobs.set(arn, job)
        accept(body.clientRequestToken, body)
        onCreate(job)
      }
      return { status: 200, body: { jobArn: arn } }
    }
    const shown = ({ arn, body, message, processed, status }: FakeBatchJob) => ({
      jobArn: arn,
      ...body,
      status,
      submitTime: "2026-01-01T00:00:00Z",
      ...(message === undefined ? {} : { message }),
      ...(processed === undefined ? {} : { processedRecordCount: processed })
    })
    super(
      {
        scripted: ({ path }) => path.startsWith("/model-invocation-job"),
        error: (status) =>
          status === 429
            ? bedrockError(429, "ThrottlingException", "Too many requests")
            : status === 403
              ? bedrockError(403, "AccessDeniedException", "no")
              : bedrockError(status, "InternalServerException", "internal"),
        handle: ({ body, method, path }, accept) => {
          const [route = "", query = ""] = path.split("?")
          if (method === "POST" && route === "/model-invocation-job") return create(body, accept)
          if (method === "GET" && route === "/model-invocation-jobs") {
            const parameters = new URLSearchParams(query)
            const named = parameters.get("nameContains") ?? ""
            const found = [...jobs.values()].filter((job) => job.body.jobName.includes(named))
            // A page may hold less than it was asked for; here it is one job.
            const next = Number(parameters.get("nextToken") ?? 0) + 1
            const summaries = found.slice(next - 1, next).map(shown)
            const more = next < found.length ? { nextToken: String(next) } : {}
            return { status: 200, body: { invocationJobSummaries: summaries, ...more } }
          }
          const one = ONE.exec(route)
          if (one === null) return undefined
          const job = jobs.get(decodeURIComponent(one[1]!))
          if (job === undefined) return bedrockError(404, "ResourceNotFoundException", "no such job")
          if (one[2] === undefined) return { status: 200, body: shown(job) }
          if (ENDED.has(job.status)) return bedrockError(400, "ConflictException", "it has ended")
          job.status = "Stopped"
          return { status: 200, body: {} }
        }
      },
      options
    )
    this.jobs = jobs
  }
}

/** A line of output as Bedrock writes it: the record with its answer. */
export const answeredRecord = (recordId: string, text: string, changes: object = {}) => ({
  recordId,
  modelInput: { messages: [] },
  modelOutput: {
    output: { message: { role: "assistant", content: [{ text }] } },
    stopReason: "end_turn",
    usage: { inputTokens: 10, outputTokens: 2, totalTokens: 12 },
    ...changes
  }
})
