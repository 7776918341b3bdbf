import { Effect, Schema } from "effect"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { ConfiguredProviders } from "../../../../application/configured-providers.ts"
import { QueueConfig } from "../../../../application/send-queue/queue-config.ts"
import { Provider } from "../../../../domain/mail/provider.ts"
import { QUEUE_ORDER, QueueState } from "../../../../domain/mail/queue.ts"
import { rateOf } from "../../../../domain/mail/rate.ts"
import { Category } from "../../../../domain/mail/suppression/policy.ts"
import { type QueueOverview, SendQueue } from "../../../../ports/mail/send-queue.ts"
import { AdminAccess, CurrentPrincipal } from "../../server/access.ts"
import { apiOf, filter, page } from "../../server/endpoint.ts"
import { JsonBody, optionalJsonBody } from "../../server/json-body.ts"
import { bodyRefusals, InvalidRequest, Unavailable } from "../../server/problem.ts"
import { cancelQueued, NotQueued, queueAway, QueueCancelled, QueueMailNotFound } from "./queue.ts"

/** Requests that the overview shows, unless it is asked for another number. */
const UPCOMING = 50
const MAX_UPCOMING = 200

const QueueAnswer = Schema.Struct({
  categories: Schema.Array(
    Schema.Struct({
      category: Category,
      queued: Schema.Int.annotate({ description: "Due now, and not under way." }),
      later: Schema.Int.annotate({ description: "Due later: by `sendAt`, or after a refusal." }),
      sending: Schema.Int,
      deferred: Schema.Int,
      oldestDueAt: Schema.NullOr(Schema.String),
      paused: Schema.Boolean
    })
  ),
  oldestDueAt: Schema.NullOr(Schema.String),
  paused: Schema.Array(
    Schema.Struct({ scope: Schema.String, actor: Schema.String, pausedAt: Schema.String })
  ),
  pace: Schema.Array(
    Schema.Struct({
      provider: Provider,
      ratePerSecond: Schema.Finite.annotate({ description: "0: no pace." }),
      heldUntil: Schema.NullOr(Schema.String).annotate({
        description: "The provider said that it takes nothing before."
      })
    })
  ),
  upcoming: Schema.Array(
    Schema.Struct({
      queueId: Schema.String,
      category: Category,
      state: QueueState,
      to: Schema.Array(Schema.String),
      subject: Schema.String,
      sendAt: Schema.String,
      nextAttemptAt: Schema.NullOr(Schema.String),
      attempts: Schema.Int,
      error: Schema.NullOr(Schema.String)
    })
  )
}).annotate({ identifier: "EmailQueue" })

/** What a pause is about. */
const Scope = Schema.Struct({ category: Schema.optionalKey(Category) }).annotate({
  identifier: "QueueScope"
})

const Paused = Schema.Struct({
  scope: Schema.String,
  paused: Schema.Boolean,
  changed: Schema.Boolean
}).annotate({ identifier: "QueuePaused" })

const PATH = "/api/admin/email-queue"

/** The send queue for admins. */
export class AdminQueueGroup extends HttpApiGroup.make("adminQueue")
  .add(
    HttpApiEndpoint.get("readQueue", PATH, {
      query: { category: filter(Category), limit: page(UPCOMING, MAX_UPCOMING) },
      success: QueueAnswer,
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "What waits in the send queue, what is paused, and the pace of each provider",
        description: "`category` and `limit` are about `upcoming`, the requests that are sent next."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("pauseQueue", `${PATH}/pause`, {
      payload: Scope,
      success: Paused,
      error: [...bodyRefusals(), Unavailable]
    })
      .annotateMerge(optionalJsonBody(1024))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Pauses the send queue, or one category of it",
          description:
            "What is under way ends. One `email_queue_pause` row in `admin_audit_log` names who did it."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("resumeQueue", `${PATH}/resume`, {
      payload: Scope,
      success: Paused,
      error: [...bodyRefusals(), Unavailable]
    })
      .annotateMerge(optionalJsonBody(1024))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Resumes the send queue, or one category of it",
          description: "Without a category only the pause of the whole is lifted."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("cancelUpcoming", `${PATH}/:queueId/cancel`, {
      params: { queueId: Schema.String },
      success: QueueCancelled,
      error: [QueueMailNotFound, NotQueued, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Cancels a mail that waits in the queue",
        description:
          "409 `NOT_QUEUED` once it is being sent or has ended: nothing was changed then. One `email_queue_cancel` row in " +
          "`admin_audit_log` names who did it."
      })
    )
  )
  .middleware(JsonBody)
  .middleware(AdminAccess) {}

/** Every category, also those of which nothing waits. */
const categoriesOf = ({ categories, paused }: QueueOverview) =>
  QUEUE_ORDER.map((category) => {
    const found = categories.find((one) => one.category === category)
    return {
      category,
      queued: found?.due ?? 0,
      later: found?.later ?? 0,
      sending: found?.sending ?? 0,
      deferred: found?.deferred ?? 0,
      oldestDueAt: found?.oldestDueAt ?? null,
      paused: paused.some(({ scope }) => scope === "*" || scope === category)
    }
  })

const isoOrNull = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

export const adminQueueHandlers = HttpApiBuilder.group(
  apiOf(AdminQueueGroup),
  "adminQueue",
  Effect.fnUntraced(function* (handlers) {
    const queue = yield* SendQueue
    const configured = yield* ConfiguredProviders
    const paces = (yield* QueueConfig).paces.filter(({ provider }) => configured.includes(provider))

    const pause = Effect.fnUntraced(function* (category: Category | undefined, isPaused: boolean) {
      const { actor } = yield* CurrentPrincipal
      const changed = yield* queue.pause({ category, actor, isPaused })
      return { scope: category ?? "*", paused: isPaused, changed }
    })

    return handlers.handleAll({
      readQueue: ({ query }) =>
        Effect.gen(function* () {
          const overview = yield* queue.overview
          const upcoming = yield* queue.upcoming({
            category: query.category,
            limit: query.limit ?? UPCOMING
          })
          const oldest = overview.categories.flatMap(({ oldestDueAt }) => oldestDueAt ?? [])
          return {
            categories: categoriesOf(overview),
            oldestDueAt: oldest.toSorted()[0] ?? null,
            paused: overview.paused,
            pace: paces.map((pace) => {
              const { provider } = pace
              const known = overview.pace.find((one) => one.provider === provider)
              return {
                provider,
                ratePerSecond: rateOf(pace, known?.ratePerSecond),
                heldUntil: known?.heldUntil ?? null
              }
            }),
            upcoming: upcoming.map((mail) => ({
              queueId: mail.id,
              state: mail.state,
              attempts: mail.attempts,
              error: mail.error,
              category: mail.category,
              to: mail.to,
              subject: mail.subject,
              sendAt: new Date(mail.sendAt).toISOString(),
              nextAttemptAt: isoOrNull(mail.nextAttemptAt)
            }))
          }
        }).pipe(Effect.catch(queueAway)),
      pauseQueue: ({ payload: { category } }) => pause(category, true).pipe(Effect.catch(queueAway)),
      cancelUpcoming: ({ params: { queueId } }) =>
        CurrentPrincipal.use(({ actor }) => cancelQueued(queue, queueId, actor)),
      resumeQueue: ({ payload: { category } }) => pause(category, false).pipe(Effect.catch(queueAway))
    })
  })
)
