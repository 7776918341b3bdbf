import { Schema, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { Provider } from "../../../domain/mail/failover.ts"
import { SimulatedOutcome, SimulatedMail } from "../../../ports/mail/simulated-mail.ts"
import { messagePage, outboxPage, PAGE_POLICY } from "../pages/dev-page.ts"
import { pageResponse } from "../pages/html-page.ts"
import { DevAccess } from "../server/access.ts"
import { apiOf, Page } from "../server/endpoint.ts"
import { InvalidRequest, problem, problemSchema, unavailable } from "../server/problem.ts"

const Unavailable = problemSchema("UNAVAILABLE", {})
const NotFound = problemSchema("NOT_FOUND", {})
const Raw = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "message/rfc822" }))
const idParam = { id: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/)) }

/** The body of `POST /dev/simulate`. */
const SimulationBody = Schema.Struct({
  provider: Provider,
  /** For each of the next requests, in order; replaces what was set before. */
  outcomes: Schema.Array(SimulatedOutcome).check(Schema.isMaxLength(1000)),
  /** For every request after them; default `ok`. */
  otherwise: Schema.optionalKey(SimulatedOutcome)
}).annotate({ identifier: "SimulationScript" })

/** The local outbox and the simulated providers; every route is 404 where nothing is embedded. */
export class DevGroup extends HttpApiGroup.make("embedded")
  .add(
    HttpApiEndpoint.get("page", "/dev", { success: Page, error: Unavailable }).annotate(
      OpenApi.Summary,
      "The local outbox as a page"
    )
  )
  .add(
    HttpApiEndpoint.get("messagePage", "/dev/messages/:id", {
      params: idParam,
      success: Page,
      error: [NotFound, InvalidRequest, Unavailable]
    }).annotate(OpenApi.Summary, "One message as a page, its source as plain text")
  )
  .add(
    HttpApiEndpoint.get("outbox", "/dev/outbox", {
      success: Schema.Struct({
        messages: Schema.Array(
          Schema.Struct({
            id: Schema.String,
            via: Schema.String,
            from: Schema.String,
            to: Schema.Array(Schema.String),
            subject: Schema.String,
            at: Schema.String
          })
        )
      }),
      error: Unavailable
    }).annotate(OpenApi.Summary, "The messages that the simulated providers delivered, newest first")
  )
  .add(
    HttpApiEndpoint.get("message", "/dev/outbox/:id", {
      params: idParam,
      success: Raw,
      error: [NotFound, InvalidRequest, Unavailable]
    }).annotate(OpenApi.Summary, "One message as it was sent (RFC 5322)")
  )
  .add(
    HttpApiEndpoint.post("simulate", "/dev/simulate", {
      payload: SimulationBody,
      success: SimulationBody,
      error: [InvalidRequest, problemSchema("UNSUPPORTED_MEDIA_TYPE", {}), Unavailable]
    }).annotate(OpenApi.Summary, "Tells a simulated provider how to answer its next requests")
  )
  .middleware(DevAccess) {}

/** Most messages that the list and the page show. */
const MAX_MESSAGES = 200

const html = (body: string) => pageResponse(body, { policy: PAGE_POLICY })

const away = unavailable("the outbox cannot be read", "The outbox cannot be read now")

/** The local outbox and the simulated providers. */
export const devHandlers = HttpApiBuilder.group(
  apiOf(DevGroup),
  "embedded",
  Effect.fnUntraced(function* (handlers) {
    const { outbox, script } = yield* SimulatedMail
    const list = outbox.list({ limit: MAX_MESSAGES }).pipe(Effect.catch(away))
    const get = Effect.fnUntraced(function* (id: string) {
      const raw = yield* outbox.get(id).pipe(Effect.catch(away))
      return raw ?? (yield* Effect.fail(problem("NOT_FOUND", "There is no message of this id")))
    })
    return handlers.handleAll({
      page: () => Effect.map(list, (messages) => html(outboxPage(messages))),
      messagePage: ({ params: { id } }) => Effect.map(get(id), (raw) => html(messagePage(id, raw))),
      outbox: () =>
        Effect.map(list, (messages) => ({
          messages: messages.map(({ id, via, from, to, subject, at }) => ({ id, via, from, to, subject, at }))
        })),
      message: ({ params: { id } }) =>
        Effect.map(get(id), (raw) =>
          HttpServerResponse.uint8Array(raw, {
            contentType: "message/rfc822",
            headers: {
              "content-disposition": `attachment; filename="${id}.eml"`,
              "content-security-policy": "default-src 'none'; sandbox"
            }
          })
        ),
      simulate: ({ payload }) =>
        Effect.as(script(payload.provider, payload.outcomes, payload.otherwise), payload)
    })
  })
)
