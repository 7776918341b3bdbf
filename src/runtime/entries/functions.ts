import { Context, Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"

import * as InternalAlerts from "../../adapters/http-client/internal-alerts.ts"
import { digestAnswer, pollAnswer } from "../../adapters/http/routes/delivery/function-answers.ts"
import { makeWebhookAnswer, MAX_INTAKE_BODY } from "../../adapters/http/routes/delivery/webhook-answer.ts"
import { problem, type Problem, problemResponse } from "../../adapters/http/server/problem.ts"
import * as DeliveryLog from "../../adapters/postgres/delivery/delivery-log.ts"
import { sweepAlerts } from "../../application/delivery/alerts.ts"
import { AuditDigest } from "../../application/delivery/audit-digest.ts"
import * as EventRecording from "../../application/delivery/event-recording.ts"
import { EventPoll } from "../../application/delivery/poll.ts"
import type { WebhookName } from "../../domain/mail/provider.ts"
import * as AuditDigestLayer from "../compose/delivery/audit-digest.ts"
import * as DeliveryIntake from "../compose/delivery/delivery-intake.ts"
import * as Poll from "../compose/delivery/event-poll.ts"
import { type Database, edgeDatabase } from "../compose/mail/mail.ts"
import { type EdgeFunction, makeFunction } from "../edge/functions-call.ts"
import type { Settings } from "../settings/settings.ts"

export type { EdgeFunction } from "../edge/functions-call.ts"

const noDatabase = problem("INTERNAL", "DB_URL and its key are not set: there is nowhere to record to")

const database = (settings: Settings): Effect.Effect<Layer.Layer<Database>, Problem> => {
  const found = edgeDatabase(settings)
  return found === undefined
    ? Effect.andThen(Effect.logError(noDatabase.detail), Effect.fail(noDatabase))
    : Effect.succeed(found)
}

/** Recording of events; its alerts go out through the API. */
const recording = (settings: Settings) =>
  EventRecording.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        DeliveryLog.layer,
        InternalAlerts.layer({
          url: settings.events.internalAlertUrl,
          proxySecret: settings.access.proxySharedSecret
        })
      )
    )
  )

const webhookOf = (name: WebhookName): EdgeFunction =>
  makeFunction({
    guarded: false,
    maxBody: MAX_INTAKE_BODY,
    answer: ({ body, request, settings }) =>
      Effect.gen(function* () {
        const services = Layer.merge(DeliveryIntake.layer(settings), recording(settings)).pipe(
          Layer.provide(yield* database(settings))
        )
        const context = yield* Layer.build(services)
        const answer = yield* Effect.provideContext(makeWebhookAnswer(name), context)
        return HttpServerResponse.jsonUnsafe(
          yield* answer(Effect.succeed(body), Object.fromEntries(request.headers))
        )
      })
  })

/** `POST {functions_url}/provider-a-webhook` (EVENT-1). */
export const providerAWebhook: EdgeFunction = webhookOf("provider-a-webhook")

/** `POST {functions_url}/postmark-webhook` (EVENT-6). */
export const postmarkWebhook: EdgeFunction = webhookOf("postmark-webhook")

/** `POST {functions_url}/provider-a-events-fetcher` (EVENT-30 to EVENT-32). */
export const providerAEventsFetcher: EdgeFunction = makeFunction({
  guarded: true,
  query: [],
  maxBody: 0,
  answer: ({ settings }) =>
    Effect.gen(function* () {
      const services = Poll.layer(settings).pipe(
        Layer.provideMerge(recording(settings)),
        Layer.provide(yield* database(settings))
      )
      const context = yield* Layer.build(services)
      const answer = yield* Effect.provideContext(Effect.flatMap(EventPoll, pollAnswer), context)
      // Where only functions run, nothing else finds an alert that a dead process had claimed.
      yield* sweepAlerts.pipe(
        Effect.catch((error) =>
          Effect.logError("the alerts that are due cannot be read: the next poll tries again", error)
        ),
        Effect.provideContext(context)
      )
      return answer
    })
})

/** `POST {functions_url}/audit-digest?cadence=daily|weekly` (EVENT-50). */
export const auditDigest: EdgeFunction = makeFunction({
  guarded: true,
  query: ["cadence"],
  maxBody: 0,
  answer: ({ request, settings }) =>
    Effect.gen(function* () {
      const services = AuditDigestLayer.layer(settings).pipe(Layer.provide(yield* database(settings)))
      const digest = Context.get(yield* Layer.build(services), AuditDigest)
      return yield* digestAnswer(digest, new URL(request.url).searchParams.get("cadence"))
    })
})

const FUNCTIONS: ReadonlyMap<string, EdgeFunction> = new Map([
  ["provider-a-webhook", providerAWebhook],
  ["postmark-webhook", postmarkWebhook],
  ["provider-a-events-fetcher", providerAEventsFetcher],
  ["audit-digest", auditDigest]
])

/** All of them behind one address, each under its name as the last part of the path: what one worker needs. */
export const handleFunction: EdgeFunction = async (request, env) => {
  const name = new URL(request.url).pathname.split("/").findLast((part) => part !== "") ?? ""
  const found = FUNCTIONS.get(name)
  return found === undefined ? notFound(request, env) : found(request, env)
}

const notFound: EdgeFunction = makeFunction({
  guarded: false,
  maxBody: 0,
  answer: () => Effect.succeed(problemResponse(problem("NOT_FOUND", "There is no function of this name")))
})
