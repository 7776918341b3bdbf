import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Stream } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import * as PipelineAnswers from "../../../../../src/adapters/http/routes/inbound/pipeline-answer.ts"
import { ConvertPipeline, PipelineError } from "../../../../../src/ports/inbound/convert-pipeline.ts"
import { MailObjects } from "../../../../../src/ports/object-store.ts"
import { type OpenPipeline, openPipeline } from "../../../../../src/runtime/entries/pipeline.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { makeMapObjects } from "../../../../support/worlds/map-objects.ts"
import { call, PROXY_SECRET, startServer, type TestServer } from "../../harness.ts"

const PAGES = "/internal/convert-email/pages"
const CONVERT = "/internal/convert-email/convert"

describe("the pipeline behind the API's listener", () => {
  const stored = new Map<string, Uint8Array>()
  const objects = makeMapObjects(stored)
  const names: Array<string> = []
  const sizeOf = (key: string) => Effect.orDie(Effect.map(objects.stat(key), ({ size }) => size))
  const REASONS = ["document", "unavailable", "crashed"] as const
  /** A page each byte; a document of one byte is at fault, one of two cannot be converted now, one of three ends its reader. */
  const checked = (key: string) =>
    Effect.flatMap(sizeOf(key), (size) =>
      size > 3
        ? Effect.succeed(size)
        : Effect.fail(
            new PipelineError({ reason: REASONS[size - 1] ?? "document", message: "It is damaged." })
          )
    )
  const pipeline = Layer.succeed(
    ConvertPipeline,
    ConvertPipeline.of({
      countPages: checked,
      convert: ({ name, resultKey, sourceKey }) =>
        Effect.gen(function* () {
          names.push(name)
          const pages = yield* checked(sourceKey)
          const html = new TextEncoder().encode("<!doctype html><p>done")
          const put = objects.put(resultKey, Stream.make(html), { contentType: "text/html" })
          return {
            bytes: yield* Effect.orDie(put),
            standardPages: pages,
            complexPages: 1,
            unreadablePages: [3, 17],
            poorlyReadPages: [4],
            doubtfulPages: [{ reason: "odd_angles", pages: [5] }],
            hasText: false
          }
        })
    })
  )
  let server: TestServer
  beforeAll(async () => {
    const answers = PipelineAnswers.layer.pipe(
      Layer.provide([pipeline, Layer.succeed(MailObjects, objects), NodeCrypto.layer])
    )
    server = await startServer({ pipeline: answers })
  })
  afterAll(() => server.stop())

  const ask = (path: string, body: Uint8Array | string, headers: Readonly<Record<string, string>> = {}) =>
    call(server, path, { method: "POST", headers: { "x-proxy-secret": PROXY_SECRET, ...headers }, body })

  it("knows nobody without the secret", async () => {
    for (const path of [PAGES, CONVERT]) {
      for (const secret of ["", "wrong"]) {
        const answer = await ask(path, "12345", { "x-proxy-secret": secret })
        assert.deepStrictEqual([answer.status, answer.json.code], [403, "FORBIDDEN"])
      }
    }
    assert.deepStrictEqual(names, [])
  })

  it("counts pages, and answers HTML with what it came to", async () => {
    assert.deepStrictEqual((await ask(PAGES, "12345")).json, { pages: 5 })
    const answer = await ask(CONVERT, "12345", { "x-file-name": encodeURIComponent("Grüße.pdf") })
    assert.deepStrictEqual([answer.status, answer.text], [200, "<!doctype html><p>done"])
    assert.deepStrictEqual(
      ["x-standard-pages", "x-complex-pages", "x-result-bytes"].map((name) => answer.headers[name]),
      ["5", "1", "22"]
    )
    const doubts = decodeURIComponent(String(answer.headers["x-doubtful-pages"]))
    assert.deepStrictEqual(JSON.parse(doubts), [{ reason: "odd_angles", pages: [5] }])
    assert.strictEqual((await ask(CONVERT, "12345", { "x-file-name": "%E0%A4%A" })).status, 200)
    assert.deepStrictEqual(names, ["Grüße.pdf", "document.pdf"])
    assert.deepStrictEqual([...stored.keys()], [])
  })

  it("says what is the document's fault and what may pass, and keeps nothing", async () => {
    for (const path of [PAGES, CONVERT]) {
      const fault = await ask(path, "1")
      assert.deepStrictEqual(
        [fault.status, fault.json.code, fault.json.detail],
        [422, "UNREADABLE_FILE", "It is damaged."]
      )
      assert.deepStrictEqual((await ask(path, "12")).json.code, "UNAVAILABLE")
      assert.deepStrictEqual((await ask(path, "123")).json.code, "READER_CRASHED")
      assert.strictEqual((await ask(path, new Uint8Array(25 * 1024 * 1024))).status, 200)
      const large = await ask(path, new Uint8Array(25 * 1024 * 1024 + 1)).catch(() => ({ status: 413 }))
      assert.strictEqual(large.status, 413)
      assert.strictEqual((await call(server, path, { method: "GET" })).status, 405)
    }
    assert.deepStrictEqual([...stored.keys()], [])
  })
})

describe("the pipeline as a plain fetch handler", () => {
  let pipeline: OpenPipeline
  beforeAll(async () => {
    pipeline = await openPipeline({ threads: 1 })
  })
  afterAll(() => pipeline.close())

  const ask = (path: string, body: BodyInit, method = "POST") =>
    pipeline.fetch(
      new Request(`https://pipeline.internal${path}`, method === "POST" ? { method, body } : { method })
    )

  it("converts a real document, and several at once", async () => {
    const pages = await ask(PAGES, new Uint8Array(numbered(3)))
    assert.deepStrictEqual(await pages.json(), { pages: 3 })
    const answers = await Promise.all(
      [1, 2, 3].map(async (count) => {
        const answer = await ask(CONVERT, new Uint8Array(numbered(count)))
        return [
          answer.headers.get("x-standard-pages"),
          (await answer.text()).match(/Page number \d/g)?.length
        ]
      })
    )
    assert.deepStrictEqual(answers, [
      ["1", 1],
      ["2", 2],
      ["3", 3]
    ])
  })

  it("refuses what is no document, no path and no way to ask", async () => {
    const broken = await ask(CONVERT, "%PDF-1.7 and no more")
    assert.strictEqual(broken.status, 422)
    assert.strictEqual(broken.headers.get("content-type"), "application/problem+json")
    assert.strictEqual((await ask("/convert", "x")).status, 404)
    assert.strictEqual((await ask(CONVERT, "", "GET")).status, 405)
    const cut = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) })
    const init = { method: "POST", body: cut, duplex: "half" }
    const request = new Request(`https://pipeline.internal${CONVERT}`, init)
    assert.strictEqual((await pipeline.fetch(request)).status, 400)
  })
})
