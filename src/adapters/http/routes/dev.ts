import { Clock, Effect, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { Provider } from "../../../domain/mail/provider.ts"
import { pathTo } from "../../../domain/pages.ts"
import { SendQueue } from "../../../ports/mail/send-queue.ts"
import {
  MAX_SEARCHED,
  type OutboxEntry,
  SimulatedEventType,
  SimulatedMail,
  SimulatedOutcome
} from "../../../ports/mail/simulated-mail.ts"
import { TestTime } from "../../../ports/test-time.ts"
import type { Asked } from "../pages/dev/mail-list.ts"
import { MAX_WAITING, outboxPage } from "../pages/dev/outbox.ts"
import { acceptsPages } from "../pages/html-page.ts"
import { DevAccess } from "../server/access.ts"
import { apiOf, filter, Page, Text } from "../server/endpoint.ts"
import { JsonBody } from "../server/json-body.ts"
import { InvalidRequest, invalidRequest, problem, problemSchema } from "../server/problem.ts"
import { eventStream } from "../server/responses.ts"
import {
  askedIn,
  listQuery,
  makeReaderPages,
  MessageId,
  noMessage,
  outboxAway,
  shownList
} from "./dev-list.ts"

const Unavailable = problemSchema("UNAVAILABLE", {})
const NotFound = problemSchema("NOT_FOUND", {})
const Raw = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "message/rfc822" }))

const idParam = { id: MessageId }

/** The body of `POST /dev/simulate`. */
const SimulationBody = Schema.Struct({
  provider: Provider,
  /** For each of the next requests, in order; replaces what was set before for the same ones. */
  outcomes: Schema.Array(SimulatedOutcome).check(Schema.isMaxLength(1000)),
  /** For every request after them; default `ok`. */
  otherwise: Schema.optionalKey(SimulatedOutcome),
  /** Only for requests that have all of it; every other script stays. A bare address, in any case. */
  for: Schema.optionalKey(
    Schema.Struct({
      to: Schema.optionalKey(Text.check(Schema.isMaxLength(400))),
      key: Schema.optionalKey(Text.check(Schema.isMaxLength(256))),
      category: Schema.optionalKey(Text.check(Schema.isMaxLength(100)))
    })
  )
}).annotate({ identifier: "SimulationScript" })

/** The body of `POST /dev/outbox/:id/events`. */
const SimulatedEventBody = Schema.Struct({
  type: SimulatedEventType,
  /** Bare addresses; all recipients where it is missing. */
  recipients: Schema.optionalKey(
    Schema.Array(Text.check(Schema.isMaxLength(400))).check(Schema.isMinLength(1), Schema.isMaxLength(50))
  )
}).annotate({ identifier: "SimulatedEvent" })

/** The body of `POST /dev/clock`: ten years at most. */
const ClockBody = Schema.Struct({
  milliseconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 * 366 * 86_400_000 }))
}).annotate({ identifier: "ClockAdvance" })

/** The local outbox and the simulated providers; every route is 404 where nothing is embedded. */
export class DevGroup extends HttpApiGroup.make("embedded")
  .add(
    HttpApiEndpoint.get("page", "/dev", {
      query: listQuery,
      success: Page,
      error: [InvalidRequest, Unavailable]
    }).annotate(OpenApi.Summary, "The local outbox as a page")
  )
  .add(
    HttpApiEndpoint.get("outbox", "/dev/outbox", {
      query: listQuery,
      success: Schema.Struct({
        messages: Schema.Array(
          Schema.Struct({
            id: Schema.String,
            via: Schema.String,
            from: Schema.String,
            to: Schema.Array(Schema.String),
            subject: Schema.String,
            at: Schema.String,
            idempotencyKey: Schema.NullOr(Schema.String),
            category: Schema.NullOr(Schema.String),
            source: Schema.NullOr(Schema.String),
            bytes: Schema.NullOr(Schema.Int),
            attachments: Schema.NullOr(Schema.Int)
          })
        ),
        total: Schema.Int,
        lookedUntil: Schema.NullOr(Schema.String)
      }),
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "The messages that the simulated providers delivered, newest first",
        description:
          "`q`: words that the subject, an address or the text has, and `from:`, `to:`, `subject:`, `tag:`, `has:attachment`, `before:2026-12-31`, " +
          "`after:`, with quotes around what belongs together; `address`: a bare address that is sender or recipient; " +
          "`before` and `after`: only what is older or newer than the message of this id. `total` counts all messages. `lookedUntil` is the id of the last message that was " +
          "looked at, null where all were: to go on, ask again with it as `before`."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("message", "/dev/outbox/:id", {
      params: idParam,
      query: { download: Schema.optionalKey(Schema.Literal("yes")) },
      success: Raw,
      error: [NotFound, InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "One message as it was sent (RFC 5322)",
        description: "A browser is led to the message's page, unless it asks with `download=yes`."
      })
    )
  )
  .add(
    HttpApiEndpoint.delete("removeMessage", "/dev/outbox/:id", {
      params: idParam,
      success: HttpApiSchema.NoContent,
      error: [NotFound, InvalidRequest, Unavailable]
    }).annotate(OpenApi.Summary, "Removes one message from the outbox")
  )
  .add(
    HttpApiEndpoint.delete("clearOutbox", "/dev/outbox", {
      query: { newest: filter(MessageId) },
      success: Schema.Struct({ removed: Schema.Int }),
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Empties the outbox",
        description: "With `newest`, messages that are newer than the message of this id stay."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("outboxChanges", "/dev/stream", {
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" }))
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Changes of the outbox as server-sent events",
        description: "An event `changed` after each change; changes of the same moment share one."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("simulate", "/dev/simulate", {
      payload: SimulationBody,
      success: SimulationBody,
      error: [InvalidRequest, problemSchema("UNSUPPORTED_MEDIA_TYPE", {}), Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Tells a simulated provider how to answer its next requests",
        description:
          "It holds for all processes on the data folder, and until it is replaced. With `for`, it is about the requests to this address, " +
          "on this idempotency key or of this category, and comes before one without."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("reportEvent", "/dev/outbox/:id/events", {
      params: idParam,
      payload: SimulatedEventBody,
      success: SimulatedEventBody,
      error: [NotFound, InvalidRequest, problemSchema("UNSUPPORTED_MEDIA_TYPE", {}), Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Has the message's simulated provider report an event",
        description:
          "It takes the way of the provider's own reports: it is recorded, suppresses and raises alerts."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("advanceClock", "/dev/clock", {
      payload: ClockBody,
      success: Schema.Struct({ now: Schema.String }),
      error: [NotFound, InvalidRequest, problemSchema("UNSUPPORTED_MEDIA_TYPE", {}), Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Puts the time of an installation for tests forward",
        description: "404 where it was not started with `--temporary`. What is due by then happens."
      })
    )
  )
  .middleware(JsonBody)
  .middleware(DevAccess) {}

/** Most messages that the list of the API has. */
const MAX_LISTED = 200

/** Changes that are closer together than this are reported as one. */
const CALM = "150 millis"

/** After every id. */
const LAST_ID = "~"

const summaryOf = ({ at, bytes, category, files, from, id, key, source, subject, to, via }: OutboxEntry) => ({
  id,
  via,
  from,
  to,
  subject,
  at,
  idempotencyKey: key ?? null,
  category: category ?? null,
  source: source ?? null,
  bytes: bytes ?? null,
  attachments: files ?? null
})

/** What a list shows, as one text. */
const stateOf = (entries: ReadonlyArray<OutboxEntry>): string =>
  entries.map(({ id, marks = [], read }) => [id, read === true, ...marks].join(" ")).join("\n")

/** What a message's address gives depends on who asks. */
const VARY = { vary: "accept" }

/** A person who opens a message's address sees its page. */
const toPage = (id: string) =>
  HttpServerResponse.redirect(pathTo.outboxMail(id), { status: 303, headers: VARY })

/** A message for download, which no browser shows. */
const download = (id: string, raw: Uint8Array) =>
  HttpServerResponse.uint8Array(raw, {
    contentType: "message/rfc822",
    headers: {
      ...VARY,
      "content-disposition": `attachment; filename="${id}.eml"`,
      "content-security-policy": "default-src 'none'; sandbox"
    }
  })

const NOT_REPORTED =
  "no simulated provider sent this message, or it reports no such event (smtp: delivered, delivery_delayed and bounced, where BOUNCE_ADDRESS is set)"
const noProvider = Effect.fail(invalidRequest([{ path: "", message: NOT_REPORTED }]))

/** The page of the outbox that is asked for. */
const shownOutbox = (
  outbox: SimulatedMail["Service"]["outbox"],
  upcoming: SendQueue["Service"]["upcoming"],
  asked: Asked
) =>
  Effect.map(
    Effect.all([shownList(outbox, asked), upcoming({ category: undefined, limit: MAX_WAITING + 1 })]),
    ([list, waiting]) => outboxPage(list, waiting)
  )

/** The local outbox and the simulated providers. */
export const devHandlers = HttpApiBuilder.group(
  apiOf(DevGroup),
  "embedded",
  Effect.fnUntraced(function* (handlers) {
    const { outbox, report, script } = yield* SimulatedMail
    const { upcoming } = yield* SendQueue
    const time = yield* TestTime
    const page = makeReaderPages()
    return handlers.handleAll({
      page: ({ query }) =>
        shownOutbox(outbox, upcoming, askedIn(query)).pipe(Effect.catch(outboxAway), Effect.map(page)),
      outbox: ({ query }) =>
        outbox.page({ ...askedIn(query), limit: MAX_LISTED }).pipe(
          Effect.catch(outboxAway),
          Effect.map(({ entries, lookedUntil, total }) => ({
            messages: entries.map(summaryOf),
            total,
            lookedUntil: lookedUntil ?? null
          }))
        ),
      message: Effect.fnUntraced(function* ({ params: { id }, query, request }) {
        const raw = yield* outbox.get(id).pipe(Effect.catch(outboxAway))
        if (raw === undefined) return yield* Effect.fail(noMessage)
        return query.download === undefined && acceptsPages(request) ? toPage(id) : download(id, raw)
      }),
      removeMessage: Effect.fnUntraced(function* ({ params: { id } }) {
        if (!(yield* outbox.remove(id).pipe(Effect.catch(outboxAway)))) return yield* Effect.fail(noMessage)
      }),
      clearOutbox: ({ query: { newest = "" } }) =>
        outbox.clear(newest === "" ? LAST_ID : newest).pipe(
          Effect.catch(outboxAway),
          Effect.map((removed) => ({ removed }))
        ),
      reportEvent: Effect.fnUntraced(function* ({ params: { id }, payload }) {
        const entry = yield* outbox.entry(id).pipe(Effect.catch(outboxAway))
        if (entry === undefined) return yield* Effect.fail(noMessage)
        const reported = yield* report(entry, payload.type, payload.recipients).pipe(Effect.catch(outboxAway))
        return reported ? payload : yield* noProvider
      }),
      advanceClock: Effect.fnUntraced(function* ({ payload: { milliseconds } }) {
        if (time === undefined)
          return yield* Effect.fail(problem("NOT_FOUND", "It was not started for tests"))
        yield* time.advance(milliseconds).pipe(Effect.catch(outboxAway))
        return { now: new Date(yield* Clock.currentTimeMillis).toISOString() }
      }),
      outboxChanges: ({ request }) =>
        Effect.succeed(
          eventStream(
            request,
            // The state at once where a stream is opened again.
            Stream.merge(
              Stream.debounce(outbox.changes, CALM),
              request.headers["last-event-id"] === undefined ? Stream.empty : Stream.make(undefined)
            ).pipe(
              Stream.mapEffect(() => outbox.list({ limit: MAX_SEARCHED })),
              Stream.map((entries) => ({ event: "changed", data: {}, state: stateOf(entries) })),
              Stream.changesWith((one, other) => one.state === other.state),
              Stream.catch((error) =>
                Stream.fromEffectDrain(
                  Effect.logWarning("the outbox cannot be read: load its page again", error)
                )
              )
            )
          )
        ),
      simulate: ({ payload }) =>
        script(payload.provider, payload.outcomes, payload.otherwise, payload.for).pipe(
          Effect.catch(outboxAway),
          Effect.as(payload)
        )
    })
  })
)
