/** S3 and SQS in memory for `compose.yaml`: one bucket, and the retry queue with its dead letters (MAIL-54). */
import { buildApp } from "fauxqs"

const PORT = Number(process.env["PORT"] ?? 4566)
const BUCKET = "postlane-files"

const app = buildApp({ logger: false })
const address = await app.listen({ host: process.env["HOST"] ?? "0.0.0.0", port: PORT })
const here = `http://127.0.0.1:${new URL(address).port}`

const sqs = async (action: string, body: object): Promise<Record<string, unknown>> => {
  const answer = await fetch(here, {
    method: "POST",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
    body: JSON.stringify(body)
  })
  if (!answer.ok) throw new Error(`${action} is answered with ${answer.status}`)
  return (await answer.json()) as Record<string, unknown>
}

const dead = await sqs("CreateQueue", {
  QueueName: "email-defer-dead-letters",
  Attributes: { MessageRetentionPeriod: "1209600" }
})
const { Attributes } = await sqs("GetQueueAttributes", {
  QueueUrl: dead["QueueUrl"],
  AttributeNames: ["QueueArn"]
})
const { QueueArn: deadLetterTargetArn } = Attributes as { readonly QueueArn: string }
await sqs("CreateQueue", {
  QueueName: "email-defer",
  Attributes: { RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 3 }) }
})
const made = await fetch(`${here}/${BUCKET}`, { method: "PUT" })
if (!made.ok) throw new Error(`the bucket is answered with ${made.status}`)
console.log(`S3 and SQS listen on ${here}`)

for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(0))
