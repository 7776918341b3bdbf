import { Context, Effect, Exit, Layer, Option, Scope, Tracer } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { expect, it } from "vitest"

import { serveRoutes } from "../../../../src/adapters/http/http-layer.ts"

it("the span of a request holds neither a link's token, nor a bearer token, nor a cookie", async () => {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const routes = HttpRouter.add("GET", "/auth/magic", HttpServerResponse.text("here"))
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(
    Layer.buildWithScope(
      serveRoutes({ host: "127.0.0.1", port: 0, embedded: false }, routes).pipe(
        Layer.provide(Layer.succeed(Tracer.Tracer, tracer))
      ),
      scope
    )
  )
  try {
    const { address } = Context.get(context, HttpServer.HttpServer)
    const url = `http://127.0.0.1:${"port" in address ? address.port : 0}/auth/magic?token=secret-in-link&x=plain`
    const headers = { authorization: "Bearer secret-bearer", cookie: "postlane_session=secret-cookie" }
    expect((await fetch(url, { headers })).status).toBe(200)
    const recorded = () =>
      spans
        .map(({ attributes, name, parent }) => JSON.stringify([name, [...attributes], Option.isSome(parent)]))
        .join("\n")
    await expect.poll(recorded).toContain("plain")
    expect(recorded()).not.toContain("secret-")
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
})
