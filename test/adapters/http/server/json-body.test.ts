import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApi } from "effect/http-api"
import { TestClock } from "effect/testing"

import { Api } from "../../../../src/adapters/http/routes/api.ts"
import { JsonBody, readLargeJson } from "../../../../src/adapters/http/server/json-body.ts"

const MIB = 1024 * 1024

/** A request of unknown length, as far as a body is read from it. */
const request = (body: Effect.Effect<ArrayBuffer>, socket: { readonly bytesRead: number }) =>
  ({ headers: {}, source: { socket }, arrayBuffer: body }) as unknown as HttpServerRequest.HttpServerRequest

const whole = Effect.succeed(new TextEncoder().encode("{}").buffer)

it.effect("bodies that dawdle lose their places to those that wait", () =>
  Effect.gen(function* () {
    const dawdling = yield* Effect.forEach([1, 2, 3, 4], () =>
      Effect.forkChild(Effect.flip(readLargeJson(request(Effect.never, { bytesRead: 0 }), 40 * MIB)))
    )
    yield* Effect.yieldNow
    const waiting = yield* Effect.forkChild(readLargeJson(request(whole, { bytesRead: 0 }), 40 * MIB))
    // What cannot become large waits for nobody.
    assert.deepStrictEqual(yield* readLargeJson(request(whole, { bytesRead: 0 }), MIB), {})
    yield* TestClock.adjust("4 seconds")
    assert.isUndefined(waiting.pollUnsafe())
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* Fiber.join(waiting), {})
    for (const one of dawdling) assert.strictEqual((yield* Fiber.join(one)).code, "REQUEST_TIMEOUT")
  })
)

it.effect("one that comes on keeps its place", () =>
  Effect.gen(function* () {
    const socket = { bytesRead: 0 }
    const body = Effect.andThen(Effect.sleep("21 seconds"), whole)
    const reading = yield* Effect.forkChild(readLargeJson(request(body, socket), 40 * MIB))
    for (let second = 0; second < 21; second += 1) {
      socket.bytesRead += MIB / 4
      yield* TestClock.adjust("1 second")
    }
    assert.deepStrictEqual(yield* Fiber.join(reading), {})
  })
)

it("a declared body is read by the middleware, after the caller is known; but for the raw routes, which read it themselves", () => {
  const raw: Array<string> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      if (endpoint.payload.size === 0) return
      const middlewares: ReadonlyArray<unknown> = [...endpoint.middlewares]
      if (middlewares.includes(JsonBody)) assert.strictEqual(middlewares[0], JsonBody, endpoint.path)
      else raw.push(endpoint.identifier)
    }
  })
  assert.deepStrictEqual(raw.sort(), [
    "beginSession",
    "claimPromo",
    "convertFile",
    "email",
    "enqueueBatch",
    "internal",
    "requestLink",
    "shareFile",
    "startBulk",
    "uploadFile",
    "useMagicLink"
  ])
})
