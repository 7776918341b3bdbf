import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"

import * as ServicePipeline from "../../../src/adapters/cloudflare/service-pipeline.ts"
import { ConvertPipeline } from "../../../src/ports/inbound/convert-pipeline.ts"
import { MailObjects } from "../../../src/ports/object-store.ts"
import { makeMapObjects } from "../../support/worlds/map-objects.ts"

const PDF = new TextEncoder().encode("%PDF-1.7 a document")
const HTML = "<!doctype html><p>done"

type Answer = (request: Request, body: Uint8Array) => Promise<Response>

/** Asks a pipeline that answers so; what came to it, and what was stored. */
const asking = (answer: Answer, options: { readonly timeLimit?: Duration.Duration } = {}) => {
  const seen: Array<{ readonly path: string; readonly headers: Headers; readonly body: string }> = []
  const stored = new Map<string, Uint8Array>([["mails/1/source.pdf", PDF]])
  const binding = {
    fetch: async (request: Request) => {
      const body = new Uint8Array(await request.arrayBuffer())
      const path = new URL(request.url).pathname
      seen.push({ path, headers: request.headers, body: new TextDecoder().decode(body) })
      return answer(request, body)
    }
  }
  const layer = ServicePipeline.layer({
    binding,
    proxySecret: Redacted.make("secret-4711"),
    ...options
  }).pipe(Layer.provide(Layer.succeed(MailObjects, makeMapObjects(stored))))
  const convert = ConvertPipeline.use((pipeline) =>
    pipeline.convert({
      sourceKey: "mails/1/source.pdf",
      resultKey: "mails/1/result.html",
      name: "Grüße 1.pdf"
    })
  ).pipe(Effect.provide(layer))
  const count = ConvertPipeline.use((pipeline) => pipeline.countPages("mails/1/source.pdf")).pipe(
    Effect.provide(layer)
  )
  return { seen, stored, convert, count }
}

const converted = (headers: Readonly<Record<string, string>> = {}, body: BodyInit | null = HTML) =>
  new Response(body, {
    headers: {
      "x-standard-pages": "2",
      "x-complex-pages": "1",
      "x-unreadable-pages": "3,17",
      "x-has-text": "0",
      "x-result-bytes": String(HTML.length),
      ...headers
    }
  })

const unreadable = new Response(
  JSON.stringify({ code: "UNREADABLE_FILE", detail: "It opens with a password only." }),
  {
    status: 422,
    headers: { "content-type": "application/problem+json" }
  }
)

describe("the pipeline behind a service binding", () => {
  it.live("gets the PDF and the file's name, and its HTML is stored", () =>
    Effect.gen(function* () {
      const { convert, seen, stored } = asking(async () => converted())
      assert.deepStrictEqual(yield* convert, {
        bytes: HTML.length,
        standardPages: 2,
        complexPages: 1,
        unreadablePages: [3, 17],
        hasText: false
      })
      assert.strictEqual(new TextDecoder().decode(stored.get("mails/1/result.html")), HTML)
      const [one] = seen
      assert.strictEqual(one?.path, "/internal/convert-email/convert")
      assert.strictEqual(one?.body, "%PDF-1.7 a document")
      assert.strictEqual(one?.headers.get("x-file-name"), "Gr%C3%BC%C3%9Fe%201.pdf")
      assert.strictEqual(one?.headers.get("x-proxy-secret"), "secret-4711")
    })
  )

  it.live("counts pages; one that cannot leaves it to an estimate", () =>
    Effect.gen(function* () {
      const counts = asking(async () => Response.json({ pages: 12 }))
      assert.strictEqual(yield* counts.count, 12)
      assert.strictEqual(counts.seen[0]?.path, "/internal/convert-email/pages")
      assert.isUndefined(yield* asking(async () => new Response("no", { status: 404 })).count)
    })
  )

  it.live("says of a document that it is at fault only where the pipeline does", () =>
    Effect.gen(function* () {
      const { convert, count } = asking(async () => unreadable.clone())
      for (const error of [yield* Effect.flip(convert), yield* Effect.flip(count)]) {
        assert.strictEqual(error.reason, "document")
        assert.strictEqual(error.message, "It opens with a password only.")
      }
      const crashed = { code: "READER_CRASHED", detail: "Its reader died." }
      const died = yield* Effect.flip(asking(async () => Response.json(crashed, { status: 500 })).convert)
      assert.strictEqual(died.reason, "crashed")
      const answers: ReadonlyArray<readonly [string, Answer]> = [
        ["busy", async () => new Response("busy", { status: 503 })],
        ["a proxy's page", async () => new Response("<html>422</html>", { status: 422 })],
        ["forbidden", async () => Response.json({ detail: "no secret" }, { status: 403 })],
        ["endless problem", async () => new Response("x".repeat(200_000), { status: 500 })],
        ["no way", async () => Promise.reject(new Error("connection refused"))],
        ["no headers", async () => new Response(HTML)],
        ["strange headers", async () => converted({ "x-standard-pages": "two" })],
        ["negative pages", async () => converted({ "x-complex-pages": "-1" })],
        ["no page", async () => converted({ "x-standard-pages": "0", "x-complex-pages": "0" })],
        ["cut", async () => converted({}, HTML.slice(0, -3))],
        ["longer", async () => converted({}, `${HTML}more`)],
        ["nothing", async () => converted({}, null)],
        [
          "breaks off",
          async () =>
            converted(
              {},
              new ReadableStream({
                pull: (controller) => controller.error(new Error("reset"))
              })
            )
        ]
      ]
      for (const [about, answer] of answers) {
        const error = yield* Effect.flip(asking(answer).convert)
        assert.strictEqual(error.reason, "unavailable", about)
        assert.notInclude(error.message, "secret", about)
      }
      for (const answer of [Response.json({ pages: 0 }), new Response("{}"), new Response("nothing")]) {
        assert.strictEqual((yield* Effect.flip(asking(async () => answer).count)).reason, "unavailable")
      }
    })
  )

  it.effect("gives up in time", () =>
    Effect.gen(function* () {
      const { convert } = asking(() => new Promise(() => undefined), { timeLimit: Duration.minutes(1) })
      const asked = yield* Effect.forkChild(Effect.flip(convert))
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual((yield* Fiber.join(asked)).reason, "unavailable")
    })
  )

  it.effect(
    "a document that takes too long is at fault where the service still answers: it is tried a few times only",
    () =>
      Effect.gen(function* () {
        const { convert, seen } = asking(
          (request) =>
            request.url.endsWith("/pages")
              ? Promise.resolve(Response.json({ pages: 900 }))
              : new Promise(() => undefined),
          { timeLimit: Duration.minutes(1) }
        )
        const asked = yield* Effect.forkChild(Effect.flip(convert))
        yield* TestClock.adjust("31 seconds")
        const error = yield* Fiber.join(asked)
        assert.strictEqual(error.reason, "crashed")
        assert.match(error.message, /takes longer/)
        assert.deepStrictEqual(
          seen.map(({ path }) => path.split("/").at(-1)),
          ["convert", "pages"]
        )
      })
  )
})
