import { Context, Effect, Exit, Layer, Redacted, Result, Schema, Scope } from "effect"
import { HttpServer, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"

import { serveRoutes } from "../../../src/adapters/http/http-layer.ts"
import { decodeWebhookEvent } from "../../../src/adapters/resend/webhook-event.ts"
import { makeSignatureCheck } from "../../../src/adapters/resend/webhook-signature.ts"
import { servePeer } from "../process.ts"
import { SECRET, WEBHOOK } from "./intake.ts"

/**
 * The HTTP stack that Postlane serves on, with one route that reads an event, verifies its signature, decodes it and answers: what
 * intake is measured by.
 */
class BareApi extends HttpApi.make("bare").add(
  HttpApiGroup.make("bare").add(
    HttpApiEndpoint.post("post", WEBHOOK, {
      success: Schema.Struct({ ok: Schema.Boolean })
    })
  )
) {}

const check = makeSignatureCheck([Redacted.make(`whsec_${SECRET.toString("base64")}`)])

const taken = (bytes: Uint8Array, headers: Readonly<Record<string, unknown>>) => {
  const body = new TextDecoder().decode(bytes)
  const checked = check(body, headers)
  if (Result.isFailure(checked)) throw checked.failure
  const event = decodeWebhookEvent(JSON.parse(body))
  if (event._tag !== "Event") throw new Error("not an event")
}

const handlers = HttpApiBuilder.group(BareApi, "bare", (group) =>
  group.handleRaw("post", ({ request }) =>
    Effect.map(Effect.orDie(request.arrayBuffer), (bytes) => {
      taken(new Uint8Array(bytes), request.headers)
      return HttpServerResponse.text('{"ok":true}', { contentType: "application/json" })
    })
  )
)

const scope = Scope.makeUnsafe()
const context = await Effect.runPromise(
  Scope.provide(
    Layer.build(
      serveRoutes(
        { host: "127.0.0.1", port: 0, embedded: false },
        Layer.provide(HttpApiBuilder.layer(BareApi), handlers)
      )
    ),
    scope
  )
)
const { address } = Context.get(context, HttpServer.HttpServer)

process.once("SIGTERM", () => {
  void Effect.runPromise(Scope.close(scope, Exit.void)).then(() => process.exit(0))
})
servePeer({ port: "port" in address ? address.port : 0 }, () => {
  const { user, system } = process.cpuUsage()
  return user + system
})
