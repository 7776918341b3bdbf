/**
 * `npm run demo:batch`: a document through the batch lane on one machine, with the local batch service: parked, captured, answered
 * in bulk, reused, and what that saved. Runs in a folder of its own, which is gone afterwards.
 */
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

import { Schema } from "effect"

import { numbered } from "../test/support/files/pdf-samples.ts"

const PAGES = 24
const TOKEN = "demo-token-of-the-batch-lane-0123456789"
const PATIENCE_MS = 120_000

const folder = await mkdtemp(join(tmpdir(), "postlane-demo-"))
const port = 18_000 + (process.pid % 10_000)
const server = spawn(
  process.execPath,
  [fileURLToPath(new URL("../src/runtime/entries/start.ts", import.meta.url))],
  {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      POSTLANE_DATA_DIR: folder,
      PORT: String(port),
      SMTP_PORT: "0",
      SUBMISSION_PORT: "0",
      ADMIN_TOKEN: TOKEN,
      OWNER_TOKEN: `${TOKEN}-owner`,
      BATCH_CONVERSION_ENABLED: "1",
      BATCH_CONVERSION_S3_BUCKET: "demo-batch",
      BATCH_CONVERSION_ROLE_ARN: "arn:aws:iam::000000000000:role/demo",
      BATCH_CONVERSION_MIN_PAGES: "10",
      BATCH_CONVERSION_MIN_RECORDS: "10",
      BATCH_CONVERSION_POLL_SECONDS: "1",
      BATCH_DRIVER_TICK_SECONDS: "1",
      LOCAL_BATCH_DELAY_SECONDS: "2"
    }
  }
)

interface Init {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

const OneFile = Schema.Struct({
  file: Schema.Struct({
    id: Schema.String,
    status: Schema.String,
    phase: Schema.NullOr(Schema.String),
    batchWaiting: Schema.Boolean
  })
})
const fileOf = Schema.decodeUnknownSync(Schema.fromJsonString(OneFile))

/** What the admin routes tell of it. */
const Jobs = Schema.Struct({
  rows: Schema.Array(
    Schema.Struct({ batch: Schema.NullOr(Schema.Struct({ endState: Schema.NullOr(Schema.String) })) })
  )
})
const jobsOf = Schema.decodeUnknownSync(Schema.fromJsonString(Jobs))
const Costs = Schema.Struct({
  batch: Schema.Struct({
    accepted: Schema.Finite,
    fallback: Schema.Finite,
    costUsd: Schema.Finite,
    onDemandUsd: Schema.Finite,
    savedUsd: Schema.Finite
  })
})
const costsOf = Schema.decodeUnknownSync(Schema.fromJsonString(Costs))

const dollars = (usd: number): string => `$${usd.toFixed(4)}`

const call = async (path: string, token: string, init: Init = {}) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, ...init.headers }
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  return text
}

const asOwner = (path: string, init?: Init) => call(path, `${TOKEN}-owner`, init)

/** Asks until there is an answer that is wanted. */
const until = async <A>(ask: () => Promise<A | undefined>): Promise<A> => {
  const end = Date.now() + PATIENCE_MS
  while (Date.now() < end) {
    const found = await ask().catch(() => undefined)
    if (found !== undefined) return found
    await sleep(200)
  }
  throw new Error("it took too long")
}

const demo = async () => {
  console.log("Starting Postlane with the batch lane on …")
  await until(() => asOwner("/ready"))
  const uploaded = await asOwner("/api/v1/files?name=report.pdf", {
    method: "POST",
    headers: { "content-type": "application/pdf" },
    body: new Uint8Array(numbered(PAGES))
  })
  const { file } = fileOf(uploaded)
  await asOwner(`/api/v1/files/${file.id}/convert`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ options: { highFidelity: true } })
  })
  let shown = ""
  await until(async () => {
    const { batchWaiting, phase, status } = fileOf(await asOwner(`/api/v1/files/${file.id}`)).file
    const text = `${status}${phase === null ? "" : `, ${phase}`}${batchWaiting ? " (batchWaiting)" : ""}`
    if (text !== shown) console.log(`  ${text}`)
    shown = text
    return status === "completed" || status === "failed" ? status : undefined
  })
  const html = await asOwner(`/api/v1/files/${file.id}/result`)
  console.log(`The result has ${html.length} characters.`)
  const [job] = jobsOf(await call("/api/admin/jobs", TOKEN)).rows
  const { batch } = costsOf(await call("/api/admin/costs", TOKEN))
  console.log(
    `The batch job: ${job?.batch?.endState ?? "none"}, ${batch.accepted} pages by it, ${batch.fallback} on demand.`
  )
  console.log(
    `It cost ${dollars(batch.costUsd)}; on demand the same pages cost ${dollars(batch.onDemandUsd)}: ${dollars(batch.savedUsd)} saved.`
  )
}

try {
  await demo()
} finally {
  const gone = new Promise((resolve) => server.once("exit", resolve))
  server.kill("SIGTERM")
  await gone
  await rm(folder, { recursive: true, force: true })
}
