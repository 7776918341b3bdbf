import { setTimeout as sleep } from "node:timers/promises"
import { inflateSync } from "node:zlib"

import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3"
import { Schema } from "effect"

import type { Chance } from "../simulation/kernel.ts"
import { type FakeBatchJob, FakeBedrockBatch } from "../support/vendors/fake-bedrock-batch.ts"
import { fakeBedrock, type WireCall } from "../support/vendors/fake-bedrock.ts"
import type { FakeHttp } from "../support/vendors/fake-http.ts"

export const BATCH_BUCKET = "soak-batch"

/** After this the answers of a batch job are there, milliseconds. */
const BATCH_WORKS_MS = 1_500

/** How batch jobs go: the share of the records that is answered, and how the job stands then. */
const COURSES = [
  [1, "Completed"],
  [1, "Completed"],
  [1, "Completed"],
  [0.5, "PartiallyCompleted"],
  [0.5, "Stopped"],
  [0.3, "Expired"],
  [0, "Failed"]
] as const
type Course = (typeof COURSES)[number]

const Line = Schema.fromJsonString(
  Schema.Struct({
    recordId: Schema.String,
    modelInput: Schema.Unknown
  })
)
const decodeLine = Schema.decodeUnknownSync(Line)

/** What the made pages say: `Page number 3`. */
const PAGE = /\((Page number \d+)\)/

/** The words of a page that this project made, whether or not its content is compressed. */
const wordsIn = (pdf: Buffer): string => {
  const text = pdf.toString("latin1")
  const plain = PAGE.exec(text)?.[1]
  if (plain !== undefined) return plain
  for (const { index } of text.matchAll(/stream\r?\n/g)) {
    const from = text.indexOf("\n", index) + 1
    try {
      const found = PAGE.exec(inflateSync(pdf.subarray(from), { finishFlush: 2 }).toString("latin1"))?.[1]
      if (found !== undefined) return found
    } catch {
      // Not this one: a font, or a picture.
    }
  }
  return "nothing"
}

/** What a good model says to a page. */
const answerTo = (body: WireCall["body"]): string => {
  const bytes = body.messages.flatMap(({ content }) =>
    content.flatMap(({ document }) => document?.source.bytes ?? [])
  )[0]
  return `<p>${bytes === undefined ? "nothing" : wordsIn(Buffer.from(bytes, "base64"))}</p>`
}

const USAGE = { inputTokens: 100, outputTokens: 20, totalTokens: 120 }

const textOf = async (s3: S3Client, key: string): Promise<string> => {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: BATCH_BUCKET, Key: key }))
  return (await Body?.transformToString()) ?? ""
}

/** Lets a job end by its course, unless it was stopped meanwhile; gives what it answered. */
const runCourse = async (s3: S3Client, job: FakeBatchJob, [share, status]: Course): Promise<number> => {
  try {
    const count = await work(s3, job, share)
    job.processed = count
    if (job.status === "InProgress") job.status = status
    return count
  } catch (cause) {
    job.status = "Failed"
    job.message = String(cause)
    return 0
  }
}

const prefixOf = (uri: string): string => uri.slice(`s3://${BATCH_BUCKET}/`.length)

const outputOf = (line: string): string => {
  const { modelInput, recordId } = decodeLine(line)
  const text = answerTo(modelInput as WireCall["body"])
  const output = { message: { role: "assistant", content: [{ text }] } }
  return `${JSON.stringify({ recordId, modelInput, modelOutput: { output, stopReason: "end_turn", usage: USAGE } })}\n`
}

/** Answers a share of a job's records in the bucket, as the service does. */
const work = async (s3: S3Client, job: FakeBatchJob, share: number): Promise<number> => {
  const input = prefixOf(job.body.inputDataConfig.s3InputDataConfig.s3Uri)
  const output = `${prefixOf(job.body.outputDataConfig.s3OutputDataConfig.s3Uri)}${job.arn.slice(-12)}/`
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: BATCH_BUCKET, Prefix: input }))
  const keys = Contents.flatMap(({ Key }) => Key ?? []).sort()
  const shards = await Promise.all(keys.map(async (key) => (await textOf(s3, key)).trimEnd().split("\n")))
  let left = Math.round(shards.flat().length * share)
  const answered = left
  for (const [at, lines] of shards.entries()) {
    const mine = lines.slice(0, left)
    left -= mine.length
    if (mine.length === 0) continue
    const Key = `${output}${keys[at]!.slice(input.length)}.out`
    await s3.send(new PutObjectCommand({ Bucket: BATCH_BUCKET, Key, Body: mine.map(outputOf).join("") }))
  }
  return answered
}

/** Bedrock over the wire: on demand, and its batch service on a bucket. */
export interface Models {
  readonly onDemand: FakeHttp
  readonly batch: FakeBedrockBatch
  /** Records that each batch job answered, by its name. */
  readonly answered: ReadonlyMap<string, number>
}

export const startModels = async (s3: S3Client, chance: Chance): Promise<Models> => {
  const answered = new Map<string, number>()
  const batch = new FakeBedrockBatch(
    (job) => {
      const course = chance.pick(COURSES)
      const end = async () => {
        await sleep(BATCH_WORKS_MS)
        if (job.status === "InProgress") answered.set(job.body.jobName, await runCourse(s3, job, course))
      }
      job.status = "InProgress"
      void end()
    },
    { keep: "counts" }
  )
  const onDemand = fakeBedrock(({ body }) => answerTo(body), { keep: "counts" })
  await Promise.all([batch.listen(), onDemand.listen()])
  return { onDemand, batch, answered }
}
