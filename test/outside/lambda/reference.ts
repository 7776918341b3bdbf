import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"

import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import { ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs"
import { Effect, Redacted } from "effect"

import { migrateDatabase } from "../../../src/runtime/compose/database/database-start.ts"
import { startTestServer } from "../../support/postgres/postgres-server.ts"
import { startTcpProxy, type TcpProxy } from "../../support/processes/tcp-proxy.ts"
import type { FakeHttp } from "../../support/vendors/fake-http.ts"
import { fakeResend } from "../../support/vendors/fake-resend.ts"
import { httpEvent, queueEvent, scheduleEvents } from "../../support/vendors/lambda-events.ts"
import { type SqsEmulator, sqsCredentials, sqsRegion, startSqs } from "../../support/vendors/sqs.ts"
import { checked } from "../installation.ts"
import type { Check, Place, Reference } from "../reference.ts"
import { comes, freePort, isOpen, startService } from "../services.ts"
import { goPackage } from "../tools.ts"

const EMULATOR = {
  module: "github.com/aws/aws-lambda-runtime-interface-emulator",
  version: "v0.0.0-20261030222936-bef5c4ba774d",
  path: "cmd/aws-lambda-rie"
}

const SECRET = "outside-proxy-secret"
/** Long: nothing here is judged by how fast a busy machine is. */
const TIMEOUT_SECONDS = 300
/** Long enough for connections to time out behind the back of an instance that stands still. */
const FROZEN_MS = 1_000

/** What AWS documents of a function's environment, and nothing of the one who runs this. */
const environment = (work: string): Readonly<Record<string, string>> => ({
  PATH: `${join(process.execPath, "..")}:/usr/local/bin:/usr/bin:/bin`,
  LANG: "en_US.UTF-8",
  TZ: ":UTC",
  LAMBDA_TASK_ROOT: work,
  LAMBDA_RUNTIME_DIR: "/var/runtime",
  AWS_REGION: sqsRegion,
  AWS_DEFAULT_REGION: sqsRegion,
  AWS_ACCESS_KEY_ID: sqsCredentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: sqsCredentials.secretAccessKey,
  AWS_SESSION_TOKEN: "session",
  AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
  AWS_LAMBDA_FUNCTION_NAME: "postlane",
  AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "1024",
  AWS_LAMBDA_FUNCTION_TIMEOUT: String(TIMEOUT_SECONDS),
  AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand"
})

/** An instance of the function: it stands still between its invocations, as AWS holds it. */
const startInstance = async (place: Place, settings: Readonly<Record<string, string>>) => {
  const { root, work } = place
  const entry = JSON.stringify(join(root, "src/runtime/entries/lambda.ts"))
  await writeFile(join(work, "index.mjs"), `export { handler } from ${entry}\n`)
  const [port, api] = [await freePort(), await freePort()]
  const env = Object.entries({ ...environment(work), ...settings }).map(([name, value]) => `${name}=${value}`)
  const addresses = [
    "--runtime-interface-emulator-address",
    `127.0.0.1:${port}`,
    "--runtime-api-address",
    `127.0.0.1:${api}`
  ]
  const loop = join(root, "test/outside/lambda/runtime.mjs")
  const service = await startService(
    "env",
    [
      "-i",
      ...env,
      await goPackage(place.cache, EMULATOR),
      ...addresses,
      process.execPath,
      loop,
      "index.handler"
    ],
    { cwd: work, isUp: () => isOpen(port) }
  )
  const signal = (name: NodeJS.Signals) => {
    for (const [, pid] of service.said().matchAll(/runtime is process (\d+)\./g))
      try {
        process.kill(Number(pid), name)
      } catch {
        // It has ended.
      }
  }
  return {
    said: service.said,
    invoke: async (event: unknown): Promise<unknown> => {
      signal("SIGCONT")
      const answer = await fetch(`http://127.0.0.1:${port}/2015-03-31/functions/function/invocations`, {
        method: "POST",
        body: JSON.stringify(event)
      })
      const text = await answer.text()
      signal("SIGSTOP")
      try {
        return JSON.parse(text) as unknown
      } catch {
        return text
      }
    },
    stop: async () => {
      signal("SIGCONT")
      signal("SIGTERM")
      await service.stop()
    }
  }
}

type Instance = Awaited<ReturnType<typeof startInstance>>

interface HttpAnswer {
  readonly statusCode?: number
  readonly body?: string
  readonly errorMessage?: string
}

const relay = async ({ invoke }: Instance, key: string): Promise<HttpAnswer> => {
  const mail = { to: "ann@x.test", subject: key, text: "t", category: "transactional", source: "api:outside" }
  const event = httpEvent({
    method: "POST",
    path: "/internal/send-email",
    headers: { "content-type": "application/json", "x-proxy-secret": SECRET },
    body: JSON.stringify({ ...mail, idempotencyKey: key })
  })
  return (await invoke(event)) as HttpAnswer
}

const isSent = ({ body = "{}", statusCode }: HttpAnswer): boolean =>
  statusCode === 200 && (JSON.parse(body) as { readonly status: unknown }).status === "sent"

interface World {
  readonly place: Place
  readonly settings: Readonly<Record<string, string>>
  readonly resend: FakeHttp
  readonly database: TcpProxy
  readonly sqs: SqsEmulator
}

const copiesOf = ({ resend }: World, key: string): number =>
  resend.accepted.filter((one) => JSON.stringify(one.payload).includes(`"subject":"${key}"`)).length

/** The bodies that the retry queue holds. */
const waiting = async ({ settings, sqs }: World): Promise<ReadonlyArray<string>> => {
  const client = new SQSClient({ region: sqsRegion, endpoint: sqs.endpoint, credentials: sqsCredentials })
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ QueueUrl: settings["EMAIL_DEFER_QUEUE_URL"], MaxNumberOfMessages: 10 })
  )
  client.destroy()
  return Messages.map(({ Body = "" }) => Body)
}

const setRefusing = ({ database }: World, refusing: boolean) =>
  Effect.runPromise(database.setRefusing(refusing))

/** One instance, from its cold start on. */
const warm = async (world: World): Promise<ReadonlyArray<Check>> => {
  const instance = await startInstance(world.place, world.settings)
  try {
    const health = (await instance.invoke(httpEvent({ path: "/health" }))) as HttpAnswer
    const first = await relay(instance, "cold-1-x")
    await sleep(FROZEN_MS)
    const again = await relay(instance, "cold-1-x")
    // While it stands still its connections are cut.
    await setRefusing(world, true)
    const without = await relay(instance, "away-1-x")
    await setRefusing(world, false)
    const back = await relay(instance, "away-1-x")
    await world.resend.script(["504"])
    const lost = await relay(instance, "lost-1-x")
    const bodies = await comes("the retry waits", async () => {
      const found = await waiting(world)
      return found.length > 0 ? found : undefined
    })
    const retried = await instance.invoke(queueEvent(bodies))
    const unknown = (await instance.invoke({ hello: "world" })) as HttpAnswer
    const scheduled = await Promise.all(scheduleEvents.slice(0, 1).map((event) => instance.invoke(event)))
    const after = await relay(instance, "after-1-x")
    return [
      checked("a cold function answers", health.statusCode === 200, JSON.stringify(health)),
      checked("it sends", isSent(first), JSON.stringify(first)),
      checked(
        "warm again, it answers a key as before",
        isDeepStrictEqual(JSON.parse(again.body ?? "0"), JSON.parse(first.body ?? "1")),
        `${first.body}\n${again.body}`
      ),
      checked("it sends while its database is away", isSent(without), JSON.stringify(without)),
      checked("and answers as before when it is back", isSent(back), JSON.stringify(back)),
      checked("a lost answer is deferred", lost.body?.includes('"deferred"') === true, JSON.stringify(lost)),
      checked(
        "the queue's event sends it",
        JSON.stringify(retried) === '{"batchItemFailures":[]}' && copiesOf(world, "lost-1-x") === 1,
        JSON.stringify(retried)
      ),
      checked(
        "an event that is none of its own is an error",
        unknown.errorMessage?.includes("Unknown event") === true,
        JSON.stringify(unknown)
      ),
      checked(
        "the schedule's event runs to its end",
        JSON.stringify(scheduled) === "[null]",
        JSON.stringify(scheduled)
      ),
      checked("it sends after all that", isSent(after), JSON.stringify(after)),
      checked(
        "no mail leaves twice",
        ["cold-1-x", "away-1-x", "lost-1-x", "after-1-x"].every((key) => copiesOf(world, key) === 1),
        instance.said().slice(-2_000)
      ),
      checked(
        "no secret is in its lines",
        ![SECRET, "re_outside"].some((secret) => instance.said().includes(secret))
      )
    ]
  } finally {
    await instance.stop()
  }
}

/** A cold start while the database is away. */
const coldWithout = async (world: World): Promise<ReadonlyArray<Check>> => {
  await setRefusing(world, true)
  const instance = await startInstance(world.place, world.settings)
  try {
    const health = (await instance.invoke(httpEvent({ path: "/health" }))) as HttpAnswer
    const first = await relay(instance, "dark-1-x")
    await setRefusing(world, false)
    const again = await relay(instance, "dark-1-x")
    const next = await relay(instance, "light-1-x")
    return [
      checked("cold without a database, it answers", health.statusCode === 200, JSON.stringify(health)),
      checked("and sends", isSent(first), JSON.stringify(first)),
      checked("once, also when the database is back", isSent(again) && copiesOf(world, "dark-1-x") === 1),
      checked("and goes on", isSent(next) && copiesOf(world, "light-1-x") === 1, JSON.stringify(next))
    ]
  } finally {
    await setRefusing(world, false)
    await instance.stop()
  }
}

/** A function whose settings are wrong says which. */
const misconfigured = async ({ place, settings }: World): Promise<ReadonlyArray<Check>> => {
  const { BASE_URL: _, ...rest } = settings
  const instance = await startInstance(place, rest)
  try {
    const answer = (await instance.invoke(httpEvent({ path: "/health" }))) as HttpAnswer
    return [
      checked(
        "without a setting it says which",
        answer.errorMessage?.includes("BASE_URL") === true,
        JSON.stringify(answer)
      )
    ]
  } finally {
    await instance.stop()
  }
}

/** PostgreSQL, queue, bucket and vendor for functions, for as long as the scope is open. */
const open = Effect.fnUntraced(function* (place: Place) {
  const postgres = yield* Effect.acquireRelease(
    Effect.promise(() => startTestServer()),
    ({ stop }) => Effect.promise(stop)
  )
  yield* migrateDatabase({ url: Redacted.make(postgres.url) })
  const url = new URL(postgres.url)
  const database = yield* startTcpProxy(Number(url.port))
  url.port = String(database.port)
  const sqs = yield* startSqs
  const queue = yield* sqs.createQueue("defer", 3)
  const store = new S3Client({
    region: sqsRegion,
    endpoint: sqs.endpoint,
    credentials: sqsCredentials,
    forcePathStyle: true
  })
  yield* Effect.promise(() => store.send(new CreateBucketCommand({ Bucket: "files" })))
  store.destroy()
  const resend = fakeResend()
  yield* Effect.acquireRelease(
    Effect.promise(() => resend.listen()),
    () => Effect.promise(() => resend.close())
  )
  const settings = {
    DB_URL: url.href,
    SENDER_DOMAIN: "mail.example",
    BASE_URL: "https://api.example.com",
    FILES_BUCKET: "files",
    PROVIDERA_API_KEY: "re_outside",
    PROVIDERA_BASE_URL: resend.url,
    S3_ENDPOINT: sqs.endpoint,
    SQS_ENDPOINT: sqs.endpoint,
    EMAIL_DEFER_QUEUE_URL: queue.url,
    EMAIL_DEFER_DELAYS_SECONDS: "0,0,0",
    PROXY_SHARED_SECRET: SECRET,
    PROVIDERA_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 9).toString("base64")}`
  }
  return { place, settings, resend, database, sqs } satisfies World
})

/** AWS's emulator of what stands around a function. */
export const lambdaEmulator: Reference = {
  name: "lambda-emulator",
  version: EMULATOR.version,
  checks:
    "postlane/lambda under AWS's runtime interface emulator, frozen between invocations: cold, warm, without its database",
  needs: ["go", "env"],
  install: async ({ cache }) => void (await goPackage(cache, EMULATOR)),
  run: (place) =>
    Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(open(place), (world) =>
          Effect.promise(async () => [
            ...(await warm(world)),
            ...(await coldWithout(world)),
            ...(await misconfigured(world))
          ])
        )
      )
    )
}
