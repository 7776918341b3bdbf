import { Effect, Exit, Layer, Option, Result, Scope } from "effect"

import { webHandler } from "../../adapters/http/http-layer.ts"
import { problem } from "../../adapters/http/server/problem.ts"
import { ANSWER_MARGIN_MS } from "../../application/mail/function-sizes.ts"
import { areas } from "../compose/areas.ts"
import { migratedOnceItAnswers } from "../compose/database/database-start.ts"
import { databaseAt } from "../compose/database/database.ts"
import { nodeProviders } from "../compose/mail/node-providers.ts"
import { nodeCredentials } from "../compose/node-credentials.ts"
import { decodeHttpEvent, type HttpResult, problemResult, requestOf, resultOf } from "../lambda/http-event.ts"
import { decodeQueueEvent, handleQueue, type QueueResult } from "../lambda/queue-event.ts"
import { isSchedule, runTicks } from "../lambda/ticks.ts"
import { VERSION } from "../process/package.ts"
import { layerTelemetry } from "../process/telemetry.ts"
import {
  decodeSettings,
  type Env,
  formatProblems,
  type SettingProblem,
  type Settings
} from "../settings/settings.ts"

/** The part of a function's context that is needed. */
export interface LambdaContext {
  readonly getRemainingTimeInMillis: () => number
}

/** A gateway waits for 29 seconds. */
const LONGEST_STREAM_MS = 20_000

/** The one folder that a function may write to. */
const SCRATCH = "/tmp/postlane"

/** Settings that a function needs in addition to those of every server. */
const missing = ({ conversion, embedded, http, retryQueue }: Settings): ReadonlyArray<SettingProblem> => [
  ...(embedded
    ? [{ setting: "POSTLANE_EMBEDDED", message: "is 1: a function embeds no database and simulates nothing" }]
    : []),
  ...(http.baseUrlIsSet
    ? []
    : [{ setting: "BASE_URL", message: "is unset: a function has no address of its own" }]),
  ...(conversion.filesBucket === undefined
    ? [{ setting: "FILES_BUCKET", message: "is unset: no other function sees what one writes to its disk" }]
    : []),
  ...(retryQueue.address._tag === "Postgres"
    ? [
        {
          setting: "EMAIL_DEFER_QUEUE_URL",
          message:
            "is a queue in the database, which no event leads to a function: name an SQS queue, or set it empty"
        }
      ]
    : [])
]

const readSettings = (env: Env): Settings => {
  // A function consumes no queue in the database, so that it has none by default.
  const given = { POSTLANE_DATA_DIR: SCRATCH, EMAIL_DEFER_QUEUE_URL: "", ...env, POSTLANE_ROLES: "api" }
  const decoded = decodeSettings(given, { embedded: false, server: true })
  const problems = Result.isSuccess(decoded) ? missing(decoded.success) : decoded.failure
  if (Result.isFailure(decoded) || problems.length > 0)
    throw new Error(
      `These settings are wrong or missing:\n${formatProblems(problems)}\nAll settings: npx postlane settings`
    )
  return decoded.success
}

const build = (settings: Settings) => {
  const { access, http, providerB } = settings
  const credentials = nodeCredentials(settings)
  const providers = nodeProviders(settings, credentials)
  const api = {
    proxySecret: access.proxySharedSecret,
    baseUrl: http.baseUrl,
    olderBaseUrls: http.olderBaseUrls,
    trustedProxies: http.trustedProxies,
    webhookSecret: providerB.webhookSecret
  }
  const { database } = settings
  const late = database === undefined ? undefined : { database: databaseAt(database) }
  const kept = Layer.provideMerge(
    areas(settings, { credentials, providers, outbox: undefined, ...late }),
    layerTelemetry(settings, { sink: process.stdout, version: VERSION })
  )
  const isMigrated = database === undefined ? Effect.void : migratedOnceItAnswers(database)
  return Effect.gen(function* () {
    const context = yield* Layer.build(kept)
    const fetch = yield* Effect.provideContext(webHandler(api), context)
    return { settings, fetch, isMigrated, run: Effect.runPromiseWith(context) }
  })
}

/** What an instance keeps between its invocations. */
const open = async (env: Env) => {
  const scope = Scope.makeUnsafe()
  const parts = await Effect.runPromise(Scope.provide(build(readSettings(env)), scope))
  return { ...parts, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

const notHttp = problem("INVALID_REQUEST", "This is no HTTP request that can be taken")

/** One event on what the instance keeps. */
const answer = async (
  { fetch, isMigrated, run, settings }: Awaited<ReturnType<typeof open>>,
  event: unknown,
  remainingMs: () => number
): Promise<HttpResult | QueueResult | undefined> => {
  await run(isMigrated)
  const leftMs = remainingMs()
  const http = Option.getOrUndefined(decodeHttpEvent(event))
  if (http !== undefined) {
    const request = requestOf(http)
    if (request === undefined) return problemResult(notHttp)
    const response = await fetch(request, http.requestContext.http.sourceIp)
    return resultOf(response, Math.min(LONGEST_STREAM_MS, leftMs))
  }
  const queue = Option.getOrUndefined(decodeQueueEvent(event))
  if (queue !== undefined) return run(handleQueue(queue, leftMs))
  if (!isSchedule(event))
    throw new Error(
      "Unknown event: neither HTTP in payload format 2.0 (HTTP APIs, function URLs), nor from the retry queue, nor from the schedule"
    )
  const failed = await run(runTicks(settings, leftMs))
  if (failed.length > 0)
    throw new Error(`Scheduled work failed or did not end: ${failed.join(", ")}; the log says why`)
  return undefined
}

/** A function on these settings; what it keeps between invocations is made at the first one. */
export const makeLambda = (env: Env) => {
  let opened: ReturnType<typeof open> | undefined
  const instance = async () => {
    opened ??= open(env)
    try {
      return await opened
    } catch (error) {
      // The next invocation tries again.
      opened = undefined
      throw error
    }
  }
  const handler = async (event: unknown, { getRemainingTimeInMillis }: LambdaContext) => {
    const kept = await instance()
    return answer(kept, event, () => Math.max(0, getRemainingTimeInMillis() - ANSWER_MARGIN_MS))
  }
  /** Ends what is kept, for hosts that end a function by themselves. */
  const close = async (): Promise<void> => {
    const ending = opened
    opened = undefined
    await (await ending)?.close()
  }
  return { handler, close }
}

/**
 * The serverless entry: requests of API Gateway (payload 2.0) and function URLs, messages of the retry queue, and the schedule.
 * Conversions are requested here and made by a process with the roles `leader` and `worker`.
 */
export const { close, handler } = makeLambda(process.env)
