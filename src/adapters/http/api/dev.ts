import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSchema, OpenApi } from "effect/http-api"

import { Provider } from "../../../domain/mail/provider.ts"
import { SimulatedOutcome } from "../../../ports/simulated-mail.ts"
import { problemSchema } from "../problem.ts"
import { InvalidRequest } from "./relay.ts"

/** Lets loopback peers with a loopback `Host` pass, and admins (contract, "Embedded only"). */
export class DevAccess extends HttpApiMiddleware.Service<DevAccess>()("postlane/http/DevAccess", {
  error: [problemSchema("UNAUTHENTICATED", {}), problemSchema("FORBIDDEN", {})]
}) {}

const NotFound = problemSchema("NOT_FOUND", {})
const Unavailable = problemSchema("UNAVAILABLE", {})
const Html = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html; charset=utf-8" }))
const Raw = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "message/rfc822" }))
const id = { id: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/)) }

/** The body of `POST /dev/simulate`. */
export const SimulationBody = Schema.Struct({
  provider: Provider,
  /** For each of the next requests, in order; in place of what was told before. */
  outcomes: Schema.Array(SimulatedOutcome).check(Schema.isMaxLength(1000)),
  /** For every request after them; `ok` where it is missing. */
  otherwise: Schema.optionalKey(SimulatedOutcome)
}).annotate({ identifier: "SimulationScript" })

/** The local outbox and the simulated providers; every route is 404 where nothing is embedded. */
export class DevGroup extends HttpApiGroup.make("embedded")
  .add(
    HttpApiEndpoint.get("page", "/dev", { success: Html, error: Unavailable }).annotate(
      OpenApi.Summary,
      "The local outbox as a page"
    )
  )
  .add(
    HttpApiEndpoint.get("messagePage", "/dev/messages/:id", {
      params: id,
      success: Html,
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
      params: id,
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
