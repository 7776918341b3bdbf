import { Context, Effect, Exit, Layer, Schema, Scope } from "effect"
import { HttpServer, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"

import { serveRoutes } from "../../../src/adapters/http/http-layer.ts"
import { servePeer } from "../process.ts"

/** The HTTP stack that Postlane serves on, with one route that reads its body and answers: what intake is measured by. */
class BareApi extends HttpApi.make("bare").add(
  HttpApiGroup.make("bare").add(
    HttpApiEndpoint.post("post", "/functions/v1/provider-a-webhook", {
      success: Schema.Struct({ ok: Schema.Boolean })
    })
  )
) {}

const handlers = HttpApiBuilder.group(BareApi, "bare", (group) =>
  group.handleRaw("post", ({ request }) =>
    Effect.as(
      Effect.orDie(request.arrayBuffer),
      HttpServerResponse.text('{"ok":true}', { contentType: "application/json" })
    )
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
