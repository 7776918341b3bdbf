import { mkdirSync } from "node:fs"
import { join } from "node:path"

import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import { Effect, Exit, ManagedRuntime, Redacted, Scope } from "effect"

import { layerSingle, WriteSql } from "../../src/adapters/postgres/client.ts"
import { migrateDatabase } from "../../src/runtime/compose/database/database-start.ts"
import { makeChance } from "../simulation/kernel.ts"
import { startTestServer, type TestServer } from "../support/postgres/postgres-server.ts"
import { type Fake, runChild, startFake } from "../support/processes/child.ts"
import { startTcpProxy, type TcpProxy } from "../support/processes/tcp-proxy.ts"
import { type SqsEmulator, sqsAt, sqsCredentials, sqsRegion } from "../support/vendors/sqs.ts"
import { type Clocks, makeClocks } from "./clocks.ts"
import { addHooks, type Receivers, startReceivers } from "./hooks.ts"
import { type Models, BATCH_BUCKET, startModels } from "./model.ts"
import { type Pooler, startPooler } from "./pooler.ts"
import { makeProcesses, type Processes } from "./processes.ts"
import type { Query } from "./query.ts"
import { type SmallDisk, mountSmallDisk } from "./small-disk.ts"

export const SECRET = "soak-proxy-secret"
export const BUS_SECRET = "soak-bus-secret"
export const SIGNING_SECRET = `whsec_${Buffer.from("the secret of the soak..").toString("base64")}`
export const HOP = "mx.soak.test"
export const FILES_BUCKET = "soak-files"
const MAIL_BUCKET = "soak-mail"

/** Waits so short that schedules and leases are over in seconds. */
const ATTEMPT_TIMEOUT_MS = 3_000
const DB_TIMEOUT_MS = 2_500

const ROLES = [
  ["api", "api"],
  ["leader-1", "leader"],
  ["leader-2", "leader,send"],
  ["worker-1", "worker"],
  ["worker-2", "worker"],
  ["retry", "retry,intake,send"]
] as const

/** Everything that the soak runs on. */
export interface World {
  readonly folder: string
  readonly logs: string
  readonly postgres: TestServer
  readonly pooler: Pooler
  /** Before the object store and the queue. */
  readonly cloud: TcpProxy
  readonly s3: S3Client
  readonly sqs: SqsEmulator
  readonly queue: { readonly url: string; readonly deadLetterUrl: string | undefined }
  readonly resend: Fake
  readonly ses: Fake
  readonly models: Models
  /** Of event hooks. */
  readonly receivers: Receivers
  readonly disk: SmallDisk | undefined
  readonly clocks: Clocks
  readonly processes: Processes
  /** By a connection of its own, past the pooler. */
  readonly query: Query
  readonly close: () => Promise<void>
}

const settings = (parts: {
  readonly database: string
  readonly cloud: string
  readonly queueUrl: string
  readonly resend: string
  readonly ses: string
  readonly models: Models
}): Readonly<Record<string, string>> => ({
  DB_URL: parts.database,
  DB_SECRET_KEY: "unused",
  DB_PREPARE: "0",
  PROXY_SHARED_SECRET: SECRET,
  PROVIDERA_API_KEY: "re_soak",
  PROVIDERA_BASE_URL: parts.resend,
  PROVIDERA_WEBHOOK_SECRET: SIGNING_SECRET,
  PROVIDERA_RATE_PER_SECOND: "20",
  PROVIDERB_RATE_PER_SECOND: "20",
  PROVIDERB_ENDPOINT: parts.ses,
  PROVIDERB_WEBHOOK_SECRET: BUS_SECRET,
  CLOUD_ACCESS_KEY_ID: sqsCredentials.accessKeyId,
  CLOUD_SECRET_ACCESS_KEY: sqsCredentials.secretAccessKey,
  CLOUD_REGION: sqsRegion,
  S3_ENDPOINT: parts.cloud,
  SQS_ENDPOINT: parts.cloud,
  BEDROCK_ENDPOINT: parts.models.batch.url,
  BEDROCK_RUNTIME_ENDPOINT: parts.models.onDemand.url,
  FILES_BUCKET,
  CONVERT_EMAIL_BUCKET: MAIL_BUCKET,
  EMAIL_FALLBACK: "provider_b",
  EMAIL_DEFER_QUEUE_URL: parts.queueUrl,
  EMAIL_DEFER_DELAYS_SECONDS: "2,3,4",
  EMAIL_DEFER_VISIBILITY_SECONDS: "5",
  EMAIL_ATTEMPT_TIMEOUT_MS: String(ATTEMPT_TIMEOUT_MS),
  EMAIL_DB_TIMEOUT_MS: String(DB_TIMEOUT_MS),
  ALERT_EMAIL: "alerts@soak.test",
  EVENT_HOOK_PRIVATE_NETWORKS: "127.0.0.0/8",
  EVENTS_POLL_SECONDS: "60",
  TRUSTED_MAIL_HOPS: HOP,
  CHUNK_HEARTBEAT_INTERVAL_MS: "500",
  BATCH_CONVERSION_ENABLED: "1",
  BATCH_CONVERSION_S3_BUCKET: BATCH_BUCKET,
  BATCH_CONVERSION_ROLE_ARN: "arn:aws:iam::000000000000:role/soak",
  BATCH_CONVERSION_MIN_PAGES: "6",
  BATCH_CONVERSION_MIN_RECORDS: "2",
  BATCH_CONVERSION_POLL_SECONDS: "2",
  BATCH_DRIVER_TICK_SECONDS: "1"
})

const startDatabase = async () => {
  // What is answered as committed has to outlive the server, and its log is flushed, so that the flush can be slow.
  const postgres = await startTestServer({
    fsync: "on",
    synchronous_commit: "on",
    full_page_writes: "on"
  })
  await Effect.runPromise(migrateDatabase({ url: Redacted.make(postgres.url) }))
  const runtime = ManagedRuntime.make(layerSingle({ url: Redacted.make(postgres.url) }))
  const query: Query = <Row extends object>(statement: string, values: ReadonlyArray<unknown> = []) =>
    runtime.runPromise(WriteSql.use((sql) => sql.unsafe<Row>(statement, values).unprepared))
  return { postgres, query, dispose: () => runtime.dispose() }
}

/** Object store and queue: an emulator behind a proxy that can fail. */
const startCloud = async (scope: Scope.Scope) => {
  const inScope = <A>(effect: Effect.Effect<A, never, Scope.Scope>): Promise<A> =>
    Effect.runPromise(Scope.provide(effect, scope))
  const child = runChild("test/soak/cloud-process.ts", [], {})
  const sqs = await inScope(sqsAt(await child.line((line) => /"endpoint":"([^"]+)"/.exec(line)?.[1])))
  const s3 = new S3Client({
    region: sqsRegion,
    endpoint: sqs.endpoint,
    credentials: sqsCredentials,
    forcePathStyle: true
  })
  for (const Bucket of [FILES_BUCKET, MAIL_BUCKET, BATCH_BUCKET]) {
    await s3.send(new CreateBucketCommand({ Bucket }))
  }
  const proxy = await inScope(startTcpProxy(Number(new URL(sqs.endpoint).port)))
  return { child, sqs, s3, proxy, queue: await inScope(sqs.createQueue("soak-defer", 3)) }
}

export const startWorld = async (folder: string, seed: number): Promise<World> => {
  const logs = join(folder, "logs")
  mkdirSync(logs, { recursive: true })
  const scope = Effect.runSync(Scope.make())
  const [database, cloud, resend, ses] = await Promise.all([
    startDatabase(),
    startCloud(scope),
    startFake("resend", folder, "all"),
    startFake("ses", folder, "all")
  ])
  const { postgres } = database
  const pooler = await startPooler(folder, Number(new URL(postgres.url).port))
  const pooled = new URL(postgres.url)
  pooled.port = String(pooler.port)
  const receivers = await startReceivers()
  await addHooks(database.query, receivers)
  const models = await startModels(cloud.s3, makeChance(seed + 1))
  const disk = await mountSmallDisk(folder)
  const endpoint = `http://127.0.0.1:${cloud.proxy.port}`
  const env = settings({
    database: pooled.href,
    cloud: endpoint,
    queueUrl: cloud.queue.url.replace(/^http:\/\/[^/]+/, endpoint),
    resend: resend.url,
    ses: ses.url,
    models
  })
  const dataOf = (name: string) =>
    join(disk !== undefined && name.startsWith("worker") ? disk.path : folder, "data", name)
  const clocks = makeClocks(
    folder,
    ROLES.map(([name]) => name)
  )
  const envOf = (name: string) => ({ ...env, ...clocks.envOf(name), POSTLANE_DATA_DIR: dataOf(name) })
  const processes = makeProcesses(ROLES, envOf, logs)
  return {
    folder,
    logs,
    postgres,
    pooler,
    cloud: cloud.proxy,
    s3: cloud.s3,
    sqs: cloud.sqs,
    queue: cloud.queue,
    resend,
    ses,
    models,
    receivers,
    disk,
    clocks,
    processes,
    query: database.query,
    close: async () => {
      await processes.stop()
      await Promise.all([
        database.dispose(),
        pooler.close(),
        resend.destroy(),
        ses.destroy(),
        models.batch.close(),
        models.onDemand.close()
      ])
      receivers.close()
      cloud.s3.destroy()
      await cloud.child.destroy()
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await postgres.stop()
      await disk?.unmount()
    }
  }
}
