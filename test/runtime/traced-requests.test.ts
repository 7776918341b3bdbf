import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Result } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"

import { serveRoutes } from "../../src/adapters/http/http-layer.ts"
import { layerTelemetry } from "../../src/runtime/process/telemetry.ts"
import { decodeSettings } from "../../src/runtime/settings/settings.ts"
import { startCollector } from "../support/processes/otlp-collector.ts"

const TOKEN = "eyJ0b2tlbiI.secret-of-a-link_-~"
const PATHS = [
  `/unsubscribe/${TOKEN}`,
  `/invites/${TOKEN}?x=plain`,
  `/convert-email/results/${TOKEN}`,
  `/auth/magic?token=${TOKEN}&x=plain`,
  // Answered with a 500, which is logged with its path and whose span has an error.
  `/shared/${TOKEN}`,
  // No route takes these, or this method.
  `/unsubscribe/${TOKEN}/more`,
  `//shared//${TOKEN}`
]

/** Answers with what the handler was asked for: it has the token. */
const echo = Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => HttpServerResponse.text(url))

it.live(
  "no span and no log line of a request that a collector gets holds a link's token, but its route",
  () =>
    Effect.gen(function* () {
      const collector = yield* startCollector
      const settings = Result.getOrThrow(
        decodeSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, { embedded: true })
      )
      const lines: Array<string> = []
      const telemetry = layerTelemetry(settings, {
        sink: { write: (line) => lines.push(line) },
        version: "1.0.0"
      })
      const routes = HttpRouter.use(
        Effect.fnUntraced(function* (router) {
          for (const path of [
            "/unsubscribe/:token",
            "/invites/:token",
            "/convert-email/results/:token"
          ] as const) {
            yield* router.add("GET", path, echo)
          }
          yield* router.add("GET", "/auth/magic", echo)
          yield* router.add("GET", "/plain/:token", echo)
          yield* router.add("GET", "/shared/:token", Effect.die(new Error("broken")))
        })
      )
      const served = serveRoutes({ host: "127.0.0.1", port: 0, embedded: false }, routes).pipe(
        Layer.provide(telemetry),
        Layer.provide(NodeServices.layer)
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { address } = Context.get(yield* Layer.build(served), HttpServer.HttpServer)
          const base = `http://127.0.0.1:${"port" in address ? address.port : 0}`
          const answers: Array<string> = []
          for (const path of [...PATHS, "/plain/stays"]) {
            const response = yield* Effect.promise(() => fetch(`${base}${path}`))
            answers.push(`${response.status} ${yield* Effect.promise(() => response.text())}`)
          }
          yield* Effect.promise(() => fetch(`${base}/invites/${TOKEN}`, { method: "PUT" }))
          yield* Effect.promise(() =>
            fetch(`${base}/plain/ann%40inbox.test?address=bo@inbox.test&subject=private`)
          )
          assert.deepStrictEqual(
            answers.slice(0, 4),
            PATHS.slice(0, 4).map((path) => `200 ${path}`)
          )
          assert.match(answers[4]!, /^500 /)
        })
      )
      const traces = collector.text("/v1/traces")
      assert.include(traces, '"name":"GET /plain/:token"')
      for (const path of ["/unsubscribe/", "/invites/", "/shared/", "/convert-email/results/"]) {
        assert.include(traces, `{"key":"url.path","value":{"stringValue":"${path}:token"}}`)
        assert.include(traces, `{"key":"http.route","value":{"stringValue":"${path}:token"}}`)
      }
      assert.include(traces, "/plain/stays")
      assert.include(traces, "/plain/<redacted>")
      assert.notMatch(traces, /ann|bo@|private/)
      assert.include(traces, "x=plain")
      assert.include(collector.text("/v1/logs"), "/shared/:token")
      assert.notInclude([collector.text(), ...lines].join("\n"), "secret-of-a-link")
    })
)
