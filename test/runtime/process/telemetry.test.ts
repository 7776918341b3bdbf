import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"

import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Redacted, Result } from "effect"

import { layerTelemetry } from "../../../src/runtime/process/telemetry.ts"
import { type Env, decodeSettings } from "../../../src/runtime/settings/settings.ts"
import { programOf } from "../../support/processes/child.ts"

const SECRET = "re_SuperSecret123"

const settingsOf = (env: Env) => Result.getOrThrow(decodeSettings(env, { embedded: true }))

/** Runs an effect under the telemetry of these settings and gives the text that it wrote. */
const written = (env: Env, isTTY: boolean, effect: Effect.Effect<unknown>): Effect.Effect<string> =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const sink = { isTTY, write: (line: string) => lines.push(line) }
    return effect.pipe(
      Effect.provide(layerTelemetry(settingsOf(env), { sink, version: "1.0.0" })),
      Effect.map(() => lines.join(""))
    )
  })

describe("logs", () => {
  it.effect("are one JSON object a line, with annotations, cause and span", () =>
    Effect.gen(function* () {
      const output = yield* written(
        {},
        false,
        Effect.gen(function* () {
          yield* Effect.logInfo("EMAIL_FAILOVER").pipe(
            Effect.annotateLogs({ from: "provider_a", to: "provider_b", message: "not this" }),
            Effect.withSpan("send")
          )
          yield* Effect.logError("two\nlines", { a: 1n }, new Error("boom"))
        })
      )
      const [first, second, ...more] = output
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(
        [first.level, first.message, first.from, first.to, first.timestamp],
        ["info", "EMAIL_FAILOVER", "provider_a", "provider_b", "1970-01-01T00:00:00.000Z"]
      )
      assert.match(first.traceId, /^[0-9a-f]{32}$/)
      assert.deepStrictEqual([second.message, second.a], ["two\nlines", "1n"])
      assert.include(second.cause, "boom")
    })
  )

  it.effect("start at POSTLANE_LOG_LEVEL", () =>
    Effect.gen(function* () {
      const all = Effect.all([
        Effect.logDebug("d"),
        Effect.logInfo("i"),
        Effect.logWarning("w"),
        Effect.logError("e")
      ])
      const levels = (output: string) =>
        output
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line).message)
      assert.deepStrictEqual(levels(yield* written({}, false, all)), ["i", "w", "e"])
      assert.deepStrictEqual(levels(yield* written({ POSTLANE_LOG_LEVEL: "debug" }, false, all)), [
        "d",
        "i",
        "w",
        "e"
      ])
      assert.deepStrictEqual(levels(yield* written({ POSTLANE_LOG_LEVEL: "error" }, false, all)), ["e"])
    })
  )

  it.effect("never hold a secret, in neither form", () =>
    Effect.gen(function* () {
      const env = { PROVIDERA_API_KEY: SECRET }
      const careless = Effect.gen(function* () {
        yield* Effect.logInfo(`key ${SECRET}`, Redacted.make("another-secret")).pipe(
          Effect.annotateLogs({
            key: SECRET,
            deep: { key: SECRET },
            redacted: Redacted.make("another-secret")
          })
        )
        yield* Effect.logError("failed", new Error(`401 for ${SECRET}`))
      })
      for (const isTTY of [true, false]) {
        const output = yield* written(env, isTTY, careless)
        assert.include(output, "401 for <redacted>")
        assert.notInclude(output, SECRET)
        assert.notInclude(output, "another-secret")
      }
    })
  )

  it.effect("are for people on a terminal", () =>
    Effect.gen(function* () {
      const line = Effect.logWarning("slow").pipe(Effect.annotateLogs({ ms: 12 }))
      const output = yield* written({}, true, line)
      // oxlint-disable-next-line no-control-regex -- colours are control characters
      assert.strictEqual(output.replace(/\u001b\[\d+m/g, ""), "00:00:00.000 WARN  slow ms=12\n")
    })
  )

  it.live("a closed stdout does not end the process", () =>
    Effect.promise(async () => {
      const child = spawn(process.execPath, [programOf("test/runtime/closed-output-child.ts")], {
        stdio: ["ignore", "pipe", "pipe"]
      })
      const errors = text(child.stderr)
      await once(child.stdout, "data")
      child.stdout.destroy()
      const [code] = await once(child, "exit")
      assert.deepStrictEqual([code, await errors], [0, "survived\n"])
    })
  )
})

describe("OTLP", () => {
  it.live("traces, metrics and logs go to the collector, with its headers and without secrets", () =>
    Effect.gen(function* () {
      const bodies = new Map<string, string>()
      const headers = new Set<string>()
      const complete = yield* Deferred.make<void>()
      const server = createServer((request, response) => {
        const answer = async () => {
          const body = await text(request)
          headers.add(JSON.stringify([request.headers["x-key"], request.headers["x-odd"]]))
          bodies.set(request.url!, (bodies.get(request.url!) ?? "") + body)
          response.end("{}")
          if (bodies.size === 3) Deferred.doneUnsafe(complete, Effect.void)
        }
        void answer()
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
        () => Effect.sync(() => server.close())
      )
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/`,
        OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b,x-odd=%FF,broken",
        OTEL_SERVICE_NAME: "postlane-test",
        PROVIDERA_API_KEY: SECRET
      }
      const lines: Array<string> = []
      const telemetry = layerTelemetry(settingsOf(env), {
        sink: { write: (line) => lines.push(line) },
        version: "1.0.0"
      })
      const work = Effect.logInfo(`hello ${SECRET}`).pipe(
        Effect.withSpan("work", { attributes: { key: SECRET } })
      )
      yield* Effect.scoped(Effect.flatMap(Layer.build(telemetry), (context) => Effect.provide(work, context)))
      yield* Deferred.await(complete)
      assert.deepStrictEqual([...bodies.keys()].sort(), ["/v1/logs", "/v1/metrics", "/v1/traces"])
      assert.deepStrictEqual([...headers], ['["a b","%FF"]'])
      assert.include(bodies.get("/v1/logs")!, "hello <redacted>")
      assert.include(bodies.get("/v1/traces")!, "postlane-test")
      assert.notInclude([...bodies.values()].join(""), SECRET)
      assert.strictEqual(lines.length, 1)
    })
  )
})
