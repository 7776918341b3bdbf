import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { Schema } from "effect"

import { recordId } from "../../src/domain/batch/record.ts"
import { type FakeBatchJob, FakeBedrockBatch } from "../support/vendors/fake-bedrock-batch.ts"
import { BUCKET, USAGE } from "./batch-times.ts"
import { CHUNK_PAGES, PAGES, wordsOf } from "./conversion-world.ts"

/** How a batch job goes: what share of its records it answers, and how it stands then. */
export interface Course {
  readonly share: number
  readonly status: "Completed" | "PartiallyCompleted" | "Stopped" | "Expired" | "Failed" | "InProgress"
}

const Line = Schema.fromJsonString(Schema.Struct({ recordId: Schema.String, modelInput: Schema.Unknown }))
const decode = Schema.decodeUnknownSync(Line)

const textOf = new Map(
  Array.from({ length: PAGES }, (_, page) => [
    recordId({ page, chunkIndex: Math.floor(page / CHUNK_PAGES) }),
    wordsOf(page)
  ])
)

/** After this the answers are there, milliseconds. */
const WORKS_MS = 150

/** A batch service on loopback that works in a folder of objects, as `course` has it when a job is made. */
export const makeBatchService = (folder: string, course: () => Course) => {
  const pathOf = (uri: string) => join(folder, uri.slice(`s3://${BUCKET}/`.length))
  const returned = new Map<string, number>()

  const work = (job: FakeBatchJob, { share, status }: Course) => {
    const { inputDataConfig, outputDataConfig } = job.body
    const input = pathOf(inputDataConfig.s3InputDataConfig.s3Uri)
    const output = join(pathOf(outputDataConfig.s3OutputDataConfig.s3Uri), job.arn.slice(-12))
    const shards = readdirSync(input).sort()
    const lines = shards.map((name) => readFileSync(join(input, name), "utf8").trimEnd().split("\n"))
    let left = Math.round(lines.flat().length * share)
    returned.set(job.arn, left)
    mkdirSync(output, { recursive: true })
    for (const [at, name] of shards.entries()) {
      const answered = (lines[at] ?? []).slice(0, left)
      left -= answered.length
      const out = answered.map((line) => {
        const { modelInput, recordId: id } = decode(line)
        const message = { role: "assistant", content: [{ text: textOf.get(id) }] }
        const modelOutput = { output: { message }, stopReason: "end_turn", usage: USAGE }
        return `${JSON.stringify({ recordId: id, modelInput, modelOutput })}\n`
      })
      if (out.length > 0) writeFileSync(join(output, `${name}.out`), out.join(""))
    }
    job.processed = returned.get(job.arn) ?? 0
    job.status = status
  }

  const fake = new FakeBedrockBatch((job) => {
    const mine = course()
    job.status = "InProgress"
    setTimeout(() => {
      if (job.status === "InProgress") work(job, mine)
    }, WORKS_MS)
  })
  return {
    fake,
    /** The batch jobs of a conversion: how each stands, and how many records it returned. */
    jobsOf: (jobId: string) =>
      [...fake.jobs.values()]
        .filter(({ body }) => body.jobName.includes(jobId))
        .map(({ arn, status }) => ({ status, returned: returned.get(arn) ?? 0 }))
  }
}
