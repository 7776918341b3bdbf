import { DateTime, Effect, Schema } from "effect"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { hookUrlFault, WantedType } from "../../../../domain/delivery/event-hooks.ts"
import { AuditNotes } from "../../../../ports/accounts/audit-log.ts"
import {
  DELIVERY_STATES,
  EventHooks,
  HOOK_OFF_BY,
  MAX_HOOK_PAGE
} from "../../../../ports/delivery/event-hooks.ts"
import { AdminAccess, CurrentPrincipal } from "../../server/access.ts"
import { apiOf, cursor, DEFAULT_PAGE, filter, isUuid, page, Text } from "../../server/endpoint.ts"
import { JsonBody, jsonBody } from "../../server/json-body.ts"
import {
  bodyRefusals,
  invalidCursor,
  InvalidRequest,
  invalidRequest,
  problem,
  problemSchema,
  Unavailable,
  unavailable
} from "../../server/problem.ts"

const TextOrNull = Schema.NullOr(Schema.String)

const Types = Schema.Array(WantedType)
  .check(Schema.isMinLength(1), Schema.isMaxLength(20))
  .annotate({ description: "Types of events: `email.bounced`, all of an area (`email.*`), or `*`." })

const Url = Text.check(
  Schema.isMaxLength(2000),
  Schema.makeFilter((url) => hookUrlFault(url) ?? true)
)

const fields = { url: Url, types: Types, enabled: Schema.Boolean }

const HookRow = Schema.Struct({
  id: Schema.String,
  url: Schema.String,
  types: Schema.Array(WantedType),
  enabled: Schema.Boolean,
  offBy: Schema.NullOr(Schema.Literals(HOOK_OFF_BY)).annotate({
    description:
      "Null while it is on. `itself`: five days without a receipt; its events are dead and can be sent again. `settings`: EVENT_HOOK_URL was unset."
  }),
  fromSettings: Schema.Boolean.annotate({
    description: "The hook of EVENT_HOOK_URL: only `enabled` changes here."
  }),
  rotatingUntil: TextOrNull.annotate({ description: "Until when the secret before this one signs, too." }),
  failingSince: TextOrNull.annotate({ description: "The first failed try since the last receipt." }),
  receivedAt: TextOrNull.annotate({ description: "The last receipt, to ten seconds." }),
  createdAt: Schema.String,
  pending: Schema.Int,
  dead: Schema.Int
}).annotate({ identifier: "EventHook" })

const DeliveryRow = Schema.Struct({
  id: Schema.String,
  messageId: Schema.String.annotate({ description: "`webhook-id`: the same on every try." }),
  type: Schema.String,
  state: Schema.Literals(DELIVERY_STATES),
  tries: Schema.Int,
  nextAt: TextOrNull,
  triedAt: TextOrNull,
  endedAt: TextOrNull,
  answerStatus: Schema.NullOr(Schema.Int),
  answer: TextOrNull.annotate({ description: "The first 1,000 characters of the last answer." }),
  error: TextOrNull.annotate({ description: "Why there was no answer, or none that counts." }),
  body: Schema.String.annotate({ description: "JSON as it is sent." }),
  createdAt: Schema.String
}).annotate({ identifier: "EventHookDelivery" })

/** ISO 8601, of the years that the database knows and that ISO writes with four digits. */
const Moment = Schema.String.annotate({ format: "date-time" }).pipe(
  Schema.decodeTo(
    Schema.DateTimeUtcFromString.check(
      Schema.makeFilter((at) => /^(?!0000)\d/.test(DateTime.formatIso(at)) || "is of no year from 1 to 9999")
    )
  )
)

const PATH = "/api/admin/event-hooks"
const params = { hookId: Schema.String }
const NotFound = problemSchema("NOT_FOUND", {})
const OfSettings = problemSchema("EVENT_HOOK_OF_SETTINGS", {})
const Off = problemSchema("EVENT_HOOK_OFF", {})

/** Receivers of events, for admins (EVENT-85). */
export class EventHookGroup extends HttpApiGroup.make("eventHooks")
  .add(
    HttpApiEndpoint.get("listEventHooks", PATH, {
      query: { limit: page(DEFAULT_PAGE, MAX_HOOK_PAGE), cursor },
      success: Schema.Struct({ rows: Schema.Array(HookRow), nextCursor: TextOrNull }),
      error: [InvalidRequest, Unavailable]
    }).annotate(OpenApi.Summary, "Event hooks, newest first")
  )
  .add(
    HttpApiEndpoint.post("addEventHook", PATH, {
      payload: Schema.Struct({
        url: fields.url,
        types: Schema.optionalKey(fields.types),
        enabled: Schema.optionalKey(fields.enabled)
      }).annotate({ identifier: "EventHookRequest" }),
      success: Schema.Struct({ id: Schema.String, secret: Schema.String })
        .annotate({ identifier: "EventHookAdded" })
        .pipe(HttpApiSchema.status(201)),
      error: [...bodyRefusals(), Unavailable]
    })
      .annotateMerge(jsonBody(16 * 1024))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Makes an event hook",
          description:
            "Its signing secret is in this answer and in no other. Without `types`, all. The address is looked up at every try; private " +
            "ones are refused then, unless EVENT_HOOK_PRIVATE_NETWORKS names them."
        })
      )
  )
  .add(
    HttpApiEndpoint.patch("changeEventHook", `${PATH}/:hookId`, {
      params,
      payload: Schema.Struct({
        url: Schema.optionalKey(fields.url),
        types: Schema.optionalKey(fields.types),
        enabled: Schema.optionalKey(fields.enabled)
      }).annotate({ identifier: "EventHookChange" }),
      success: HookRow,
      error: [...bodyRefusals(), NotFound, OfSettings, Unavailable]
    })
      .annotateMerge(jsonBody(16 * 1024))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Changes, pauses or resumes an event hook",
          description:
            "Nothing is written for a hook while it is paused; what is pending goes out when it is resumed."
        })
      )
  )
  .add(
    HttpApiEndpoint.delete("removeEventHook", `${PATH}/:hookId`, {
      params,
      success: HttpApiSchema.NoContent,
      error: [NotFound, OfSettings, Unavailable]
    }).annotate(OpenApi.Summary, "Removes an event hook with its deliveries")
  )
  .add(
    HttpApiEndpoint.post("testEventHook", `${PATH}/:hookId/test`, {
      params,
      success: Schema.Struct({ deliveryId: Schema.String }).pipe(HttpApiSchema.status(202)),
      error: [NotFound, Off, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Sends an event of the type `test`",
        description: "Within a second or two; the deliveries show the answer."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("rotateEventHook", `${PATH}/:hookId/rotate`, {
      params,
      success: Schema.Struct({ secret: Schema.String }),
      error: [NotFound, OfSettings, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Gives an event hook a new secret",
        description: "It is in this answer and in no other. Both secrets sign for 24 hours."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("eventHookDeliveries", `${PATH}/:hookId/deliveries`, {
      params,
      query: {
        state: filter(Schema.Literals(DELIVERY_STATES)),
        limit: page(DEFAULT_PAGE, MAX_HOOK_PAGE),
        cursor
      },
      success: Schema.Struct({ rows: Schema.Array(DeliveryRow), nextCursor: TextOrNull }),
      error: [InvalidRequest, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "Events of a hook, newest first, each with its last answer")
  )
  .add(
    HttpApiEndpoint.post("redeliverEvents", `${PATH}/:hookId/redeliver`, {
      params,
      payload: Schema.Struct({ from: Moment }).annotate({
        identifier: "RedeliveryRequest"
      }),
      success: Schema.Struct({ redelivered: Schema.Int }).pipe(HttpApiSchema.status(202)),
      error: [...bodyRefusals(), NotFound, Off, Unavailable]
    })
      .annotateMerge(jsonBody(4096))
      .annotate(
        OpenApi.Summary,
        "Sends a hook's dead events since a time once more, and now those that wait for their next try"
      )
  )
  .add(
    HttpApiEndpoint.post("redeliverEvent", `${PATH}/deliveries/:deliveryId/redeliver`, {
      params: { deliveryId: Schema.String },
      success: Schema.Struct({ redelivered: Schema.Int }).pipe(HttpApiSchema.status(202)),
      error: [NotFound, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Sends an event once more, or now",
        description:
          "One that was delivered, is dead or waits for its next try, with the same `webhook-id`. A hook that is off by itself is resumed first."
      })
    )
  )
  .middleware(JsonBody)
  .middleware(AdminAccess) {}

const noHook = problem("NOT_FOUND", "There is no such event hook")
const noDelivery = problem("NOT_FOUND", "There is no such event that has been tried, or its hook is off")
const off = problem("EVENT_HOOK_OFF", "The event hook is off: resume it first")
const ofSettings = problem(
  "EVENT_HOOK_OF_SETTINGS",
  "This event hook is that of EVENT_HOOK_URL: change the settings and start again"
)
const away = unavailable("event hooks cannot be reached", "Event hooks cannot be reached now")

const EVERYTHING: ReadonlyArray<WantedType> = ["*"]

/** What the handlers share: looking a hook up, and the entry in the audit log. */
const makeDesk = Effect.gen(function* () {
  const hooks = yield* EventHooks
  const notes = yield* AuditNotes
  const find = Effect.fnUntraced(function* (id: string) {
    const hook = isUuid(id) ? yield* hooks.find(id).pipe(Effect.catch(away)) : undefined
    return hook ?? (yield* Effect.fail(noHook))
  })
  const findOwn = Effect.fnUntraced(function* (id: string) {
    const hook = yield* find(id)
    return hook.fromSettings ? yield* Effect.fail(ofSettings) : hook
  })
  /** Written down before it is done: an act without its entry is worse than an entry without its act. */
  const note = Effect.fnUntraced(function* (action: string, target: string) {
    const { actor } = yield* CurrentPrincipal
    yield* notes.add({ action, actor, target }).pipe(Effect.catch(away))
  })
  return { hooks, find, findOwn, note }
})

/** `/api/admin/event-hooks`. */
export const eventHookHandlers = HttpApiBuilder.group(
  apiOf(EventHookGroup),
  "eventHooks",
  Effect.fnUntraced(function* (handlers) {
    const { find, findOwn, hooks, note } = yield* makeDesk
    return handlers.handleAll({
      listEventHooks: ({ query }) =>
        hooks
          .page({ cursor: query.cursor, limit: query.limit ?? DEFAULT_PAGE })
          .pipe(Effect.catchTags({ StoreUnavailable: away, InvalidCursor: () => invalidCursor("list") })),
      addEventHook: Effect.fnUntraced(function* ({ payload: { enabled = true, types = EVERYTHING, url } }) {
        yield* note("event_hook_added", url)
        return yield* hooks.add({ url, types, enabled }).pipe(Effect.catch(away))
      }),
      changeEventHook: Effect.fnUntraced(function* ({ params: { hookId }, payload }) {
        const hook = yield* find(hookId)
        if (hook.fromSettings && (payload.url !== undefined || payload.types !== undefined)) {
          return yield* Effect.fail(ofSettings)
        }
        if (Object.keys(payload).length === 0) {
          return yield* Effect.fail(
            invalidRequest([{ path: "", message: "names no change: url, types or enabled" }])
          )
        }
        yield* note("event_hook_changed", hook.url)
        yield* hooks.change(hookId, payload).pipe(Effect.catch(away))
        return yield* find(hookId)
      }),
      removeEventHook: Effect.fnUntraced(function* ({ params: { hookId } }) {
        const hook = yield* findOwn(hookId)
        yield* note("event_hook_removed", hook.url)
        yield* hooks.remove(hookId).pipe(Effect.catch(away))
      }),
      testEventHook: Effect.fnUntraced(function* ({ params: { hookId } }) {
        yield* find(hookId)
        const deliveryId = yield* hooks.test(hookId).pipe(Effect.catch(away))
        return deliveryId === undefined ? yield* Effect.fail(off) : { deliveryId }
      }),
      rotateEventHook: Effect.fnUntraced(function* ({ params: { hookId } }) {
        const hook = yield* findOwn(hookId)
        yield* note("event_hook_rotated", hook.url)
        const secret = yield* hooks.rotate(hookId).pipe(Effect.catch(away))
        return secret === undefined ? yield* Effect.fail(noHook) : { secret }
      }),
      eventHookDeliveries: Effect.fnUntraced(function* ({ params: { hookId }, query }) {
        yield* find(hookId)
        return yield* hooks
          .deliveries({
            hookId,
            state: query.state,
            cursor: query.cursor,
            limit: query.limit ?? DEFAULT_PAGE
          })
          .pipe(Effect.catchTags({ StoreUnavailable: away, InvalidCursor: () => invalidCursor("list") }))
      }),
      redeliverEvents: Effect.fnUntraced(function* ({ params: { hookId }, payload: { from } }) {
        const hook = yield* find(hookId)
        if (hook.offBy === "itself") return yield* Effect.fail(off)
        yield* note("event_hook_redelivered", hook.url)
        const redelivered = yield* hooks
          .redeliverFrom(hookId, new Date(from.epochMilliseconds).toISOString())
          .pipe(Effect.catch(away))
        return { redelivered }
      }),
      redeliverEvent: Effect.fnUntraced(function* ({ params: { deliveryId } }) {
        const found = isUuid(deliveryId) && (yield* hooks.redeliver(deliveryId).pipe(Effect.catch(away)))
        return found ? { redelivered: 1 } : yield* Effect.fail(noDelivery)
      })
    })
  })
)
