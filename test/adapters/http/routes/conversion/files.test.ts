import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { WriteSql } from "../../../../../src/adapters/postgres/client.ts"
import type { CustomerId, FileId } from "../../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../../src/ports/conversion/conversion-store.ts"
import { FileObjects } from "../../../../../src/ports/object-store.ts"
import { anyId } from "../../../../support/any-id.ts"
import { numbered, portfolioOf } from "../../../../support/files/pdf-samples.ts"
import { pngOf } from "../../../../support/files/picture-files.ts"
import { call } from "../../harness.ts"
import { type FilesWorld, LEASE, startFiles } from "./files-world.ts"

const SHORT = numbered(3)

let world: FilesWorld
beforeAll(async () => {
  world = await startFiles()
})
afterAll(() => world.stop())

const uploaded = async (owner: CustomerId, bytes: Uint8Array = SHORT): Promise<string> =>
  (await world.upload(owner, bytes)).json.file.id

/** A result as a worker would have stored it. */
const finish = (fileId: FileId, html = "<!doctype html><title>t</title><p>done") =>
  world.run(
    Effect.gen(function* () {
      const objects = yield* FileObjects
      const sql = yield* WriteSql
      const key = `jobs/${anyId()}/result-1.html`
      yield* objects.put(key, Stream.make(Buffer.from(html)), { contentType: "text/html" })
      yield* sql`update files set status = 'completed', result_key = ${key}, done = pages where id = ${fileId}::uuid`
      return key
    })
  )

const ROUTES = [
  ["GET", ""],
  ["DELETE", ""],
  ["GET", "/result"],
  ["POST", "/convert"],
  ["POST", "/cancel"],
  ["POST", "/preserve-formatting"],
  ["POST", "/share"]
] as const

describe("a file", () => {
  it("is its owner's on every route: somebody else's, a deleted one and none at all are one and the same 404", async () => {
    const [owner, stranger] = [await world.customer(), await world.customer()]
    const theirs = await uploaded(owner)
    const deleted = await uploaded(stranger)
    await world.ask("DELETE", `/api/v1/files/${deleted}`, stranger)
    const ids = fc.oneof(
      fc.constantFrom(theirs, theirs.toUpperCase(), deleted),
      fc.uuid(),
      fc.constantFrom("x", "0", "%00", "..%2f..", "'%20or%201=1", `${theirs}%20`, "%F0%9F%92%A9", "{}")
    )
    await fc.assert(
      fc.asyncProperty(ids, fc.constantFrom(...ROUTES), async (id, [method, rest]) => {
        const body = rest === "/share" ? { recipients: ["a@x.test"] } : rest === "/convert" ? {} : undefined
        const answer = await world.ask(method, `/api/v1/files/${id}${rest}`, stranger, body)
        expect([answer.status, answer.json.code]).toEqual([404, "FILE_NOT_FOUND"])
      }),
      { numRuns: 60 }
    )
    const stream = await world.ask("GET", `/api/convert/${theirs}/stream`, stranger)
    expect([stream.status, stream.json.code]).toEqual([404, "FILE_NOT_FOUND"])
    expect((await world.ask("GET", `/api/v1/files/${theirs}`, owner)).json.file.status).toBe("uploaded")
  })

  it("is deleted once, its conversion cancelled with it", async () => {
    const owner = await world.customer(10)
    const id = await uploaded(owner)
    await world.ask("POST", `/api/v1/files/${id}/convert`, owner, {})
    const first = await world.ask("DELETE", `/api/v1/files/${id}`, owner)
    expect([first.status, first.text]).toEqual([204, ""])
    expect((await world.ask("DELETE", `/api/v1/files/${id}`, owner)).status).toBe(404)
    const held = await world.run(
      WriteSql.use(
        (sql) => sql`select 1 from funds_holds where customer_id = ${owner}::uuid and state = 'held'`
      )
    )
    expect(held).toEqual([])
  })

  it("answers HEAD as GET without a body, and other methods with 405", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    const head = await world.ask("HEAD", `/api/v1/files/${id}`, owner)
    expect([head.status, head.text]).toEqual([200, ""])
    for (const [method, path, allow] of [
      ["PUT", `/api/v1/files/${id}`, "GET, HEAD, DELETE"],
      ["PUT", "/api/v1/files", "POST, GET, HEAD"],
      ["GET", `/api/v1/files/${id}/convert`, "POST"],
      ["POST", "/api/files", "GET, HEAD"],
      ["DELETE", `/api/v1/files/${id}/result`, "GET, HEAD"]
    ] as const) {
      const answer = await world.ask(method, path, owner)
      expect([method, answer.status, answer.json.code, answer.headers["allow"]]).toEqual([
        method,
        405,
        "METHOD_NOT_ALLOWED",
        allow
      ])
    }
  })
})

describe("POST /api/v1/files/:fileId/convert", () => {
  it("202 with the job; 409 while it is under way", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    const executing = world.execute()
    const started = await world.ask("POST", `/api/v1/files/${id}/convert`, owner, {
      options: { highFidelity: true, parser: "auto" }
    })
    await executing
    expect([started.status, started.json]).toEqual([
      202,
      { job: { id: expect.stringMatching(/^[\da-f-]{36}$/), status: "pending", price: 3 } }
    ])
    const again = await world.ask("POST", `/api/v1/files/${id}/convert`, owner)
    expect([again.status, again.json.code]).toEqual([409, "CONVERSION_ACTIVE"])
  })

  it("sets a credit a page aside for 90 minutes", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    const { job } = (await world.ask("POST", `/api/v1/files/${id}/convert`, owner)).json
    const holds = await world.run(
      WriteSql.use(
        (
          sql
        ) => sql`select credits, state, round(extract(epoch from expires_at - created_at) / 60)::int as minutes
          from funds_holds where job_id = ${job.id}::uuid`
      )
    )
    expect(holds).toEqual([{ credits: 3, state: "held", minutes: 90 }])
  })

  it("takes no body, an empty one, or one without options", async () => {
    const owner = await world.customer()
    for (const body of [undefined, {}, { options: {} }]) {
      const id = await uploaded(owner)
      expect((await world.ask("POST", `/api/v1/files/${id}/convert`, owner, body)).status).toBe(202)
    }
  })

  it("takes the options of a body that names no type, and an empty body of any length's header", async () => {
    const owner = await world.customer()
    const convert = async (body: string | ReadonlyArray<string>, headers: Record<string, string>) => {
      const id = await uploaded(owner)
      return call(world.server, `/api/v1/files/${id}/convert`, {
        method: "POST",
        headers: { authorization: `Bearer ${owner}`, ...headers },
        body
      })
    }
    const options = '{"options":{"parser":"gpt"}}'
    for (const body of [options, [options]]) {
      const answer = await convert(body, {})
      expect([answer.status, answer.json.issues[0].path]).toEqual([400, "options.parser"])
    }
    const type = { "content-type": "application/json" }
    expect((await convert("", type)).status).toBe(202)
    expect((await convert([], { ...type, "transfer-encoding": "chunked" })).status).toBe(202)
    const other = await convert("a=b", { "content-type": "text/plain" })
    expect(other.status).toBe(415)
  })

  it("402 where the credits do not suffice, and nothing is set aside", async () => {
    const owner = await world.customer(2)
    const id = await uploaded(owner)
    const answer = await world.ask("POST", `/api/v1/files/${id}/convert`, owner)
    expect([answer.status, answer.json.code]).toEqual([402, "INSUFFICIENT_CREDITS"])
    expect((await world.ask("GET", `/api/v1/files/${id}`, owner)).json.file.status).toBe("uploaded")
  })

  it.each(["null", "[]", "{}", '{"options":null}', '{"options":[]}', '\uFEFF{"options":{"parser":null}}'])(
    "takes %s, as clients of other languages write that nothing is wished",
    async (body) => {
      const owner = await world.customer()
      const id = await uploaded(owner)
      expect((await world.ask("POST", `/api/v1/files/${id}/convert`, owner, body)).status).toBe(202)
    }
  )

  it("400 that names the option; Postlane's own cannot be set", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    const own = ["_batchLane", "_batchPrimed", "_batchCostUsd", "_compedFlyerJobId", "__proto__", "_"]
    for (const [body, path] of [
      ...own.map((name) => [`{"options":{"${name}":true}}`, `options.${name}`] as const),
      ['{"options":{"highFidelity":"yes"}}', "options.highFidelity"],
      ['{"options":{"parser":"gpt"}}', "options.parser"],
      ['{"options":[1]}', "options"],
      ['{"highFidelity":true}', "highFidelity"],
      ["[1]", ""],
      ["{", ""]
    ] as const) {
      const answer = await world.ask("POST", `/api/v1/files/${id}/convert`, owner, body)
      expect([body, answer.status, answer.json.code]).toEqual([body, 400, "INVALID_REQUEST"])
      expect([body, answer.json.issues[0].path]).toEqual([body, path])
    }
    expect((await world.ask("GET", `/api/v1/files/${id}`, owner)).json.file.status).toBe("uploaded")
  })

  it("415 for a body of another type, 413 for one that is too large", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    const path = `/api/v1/files/${id}/convert`
    const other = await world.ask("POST", path, owner, "a=b", { "content-type": "text/plain" })
    expect([other.status, other.json.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"])
    const large = await world.ask("POST", path, owner, { options: {}, more: "x".repeat(100_000) })
    expect([large.status, large.json.code]).toEqual([413, "PAYLOAD_TOO_LARGE"])
  })

  it("converts for real: uploaded, converted, charged, the result is there and fits its promises", async () => {
    const owner = await world.customer(10)
    const id = await uploaded(owner)
    await world.ask("POST", `/api/v1/files/${id}/convert`, owner, { options: { parser: "layout" } })
    await world.work()
    const { file } = (await world.ask("GET", `/api/v1/files/${id}`, owner)).json
    expect([file.status, file.progress]).toEqual(["completed", { done: 3, total: 3 }])
    const result = await world.ask("GET", `/api/v1/files/${id}/result`, owner)
    expect(result.status).toBe(200)
    for (const page of [1, 2, 3]) expect(result.text).toContain(`Page number ${page}`)
    const [row] = await world.run(
      WriteSql.use(
        (sql) =>
          sql<{ left: number }>`select credits_remaining as left from customers where id = ${owner}::uuid`
      )
    )
    expect(row?.left).toBe(7)
  })

  it("DOC-16: a portfolio's cover sheet does not pass for the document: file and result name what is in it", async () => {
    const owner = await world.customer(10)
    const { file } = (await world.upload(owner, portfolioOf(["a.csv", "b.docx"]))).json
    const leftOut = { portfolio: true, files: ["a.csv", "b.docx"], fileCount: 2, remarks: 1 }
    expect(file.leftOut).toEqual(leftOut)
    await world.ask("POST", `/api/v1/files/${file.id}/convert`, owner, { options: { parser: "layout" } })
    await world.work()
    const after = (await world.ask("GET", `/api/v1/files/${file.id}`, owner)).json.file
    expect([after.status, after.leftOut]).toEqual(["completed", leftOut])
    const { text } = await world.ask("GET", `/api/v1/files/${file.id}/result`, owner)
    expect(text).toMatch(/<header>.*is a portfolio\. .* “a\.csv”, “b\.docx”\..*1 note or remark.*<\/header>/s)
    expect(text).toContain("Open this portfolio")
  })
})

describe("GET /api/v1/files/:fileId/result", () => {
  it("404 RESULT_NOT_READY before, the document under a sandbox after", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    const early = await world.ask("GET", `/api/v1/files/${id}/result`, owner)
    expect([early.status, early.json.code, early.json.retryable]).toEqual([404, "RESULT_NOT_READY", true])
    await finish(anyId(id), "<!doctype html><p>Größe")
    for (const method of ["GET", "HEAD"]) {
      const answer = await world.ask(method, `/api/v1/files/${id}/result`, owner)
      expect([method, answer.status, answer.headers["content-type"]]).toEqual([
        method,
        200,
        "text/html; charset=utf-8"
      ])
      expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength("<!doctype html><p>Größe")))
      const policy = answer.headers["content-security-policy"] ?? ""
      expect(policy).toMatch(/^sandbox; default-src 'none';/)
      expect(policy).not.toMatch(/allow-|script-src|https?:/)
      expect(answer.headers["x-content-type-options"]).toBe("nosniff")
      expect(answer.headers["cache-control"]).toContain("private")
      expect(answer.text).toBe(method === "GET" ? "<!doctype html><p>Größe" : "")
    }
  })

  it("is not sent again to a client that has it, in the part that it asks for, compressed where it can be", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    await finish(anyId(id), `<!doctype html><p>${"word ".repeat(500)}`)
    const get = (headers: Readonly<Record<string, string>>) =>
      world.ask("GET", `/api/v1/files/${id}/result`, owner, undefined, headers)
    const whole = await get({})
    const etag = whole.headers["etag"] ?? ""
    expect([(await get({ "if-none-match": etag })).status, etag]).toEqual([304, expect.stringMatching(/^"/)])
    const rest = await get({ range: "bytes=2000-", "if-range": etag })
    expect([rest.status, rest.text]).toEqual([206, whole.text.slice(2000)])
    const zipped = await get({ "accept-encoding": "gzip" })
    expect([zipped.headers["content-encoding"], zipped.headers["vary"]]).toEqual([
      "gzip",
      "accept, accept-encoding"
    ])

    await finish(anyId(id), "<!doctype html><p>Another")
    expect((await get({ "if-none-match": etag })).text).toContain("Another")
  })

  it("R1: a paid result is read and shared while a new one is made, after a cancel and after a failure, until it is replaced", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    const path = `/api/v1/files/${id}`
    const fresh = (await world.ask("GET", path, owner)).json.file
    expect([fresh.hasResult, fresh.price]).toEqual([false, 3])
    const first = await finish(anyId(id), "<!doctype html><p>first")
    const stands = async (status: string, html: string) => {
      const { file } = (await world.ask("GET", path, owner)).json
      const result = await world.ask("GET", `${path}/result`, owner)
      const shared = await world.ask("POST", `${path}/share`, owner, { recipients: ["a@x.test"] })
      expect([file.status, file.hasResult, result.text, shared.status]).toEqual([status, true, html, 200])
    }
    await stands("completed", "<!doctype html><p>first")

    expect((await world.ask("POST", `${path}/convert`, owner)).status).toBe(202)
    await stands("chunked_processing", "<!doctype html><p>first")
    await world.ask("POST", `${path}/cancel`, owner)
    await stands("uploaded", "<!doctype html><p>first")

    const { job } = (await world.ask("POST", `${path}/convert`, owner)).json
    await world.execute()
    await world.run(ConversionStore.use((store) => store.failJob(job.id, "no")))
    await stands("failed", "<!doctype html><p>first")

    await world.ask("POST", `${path}/convert`, owner, { options: { parser: "layout" } })
    await world.work()
    const result = await world.ask("GET", `${path}/result`, owner)
    expect(result.text).toContain("Page number 1")
    expect(result.text).not.toContain("<p>first")
    // What was replaced goes with the file, not before: somebody may be reading it.
    expect(await world.run(FileObjects.use((objects) => objects.stat(first)))).toMatchObject({ size: 23 })
  })

  it("404, not a half answer, where the store no longer has the object", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    const key = await finish(anyId(id))
    await world.run(FileObjects.use((objects) => objects.remove([key])))
    const answer = await world.ask("GET", `/api/v1/files/${id}/result`, owner)
    expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([404, "FILE_NOT_FOUND", false])
  })
})

describe("POST /api/v1/files/:fileId/cancel", () => {
  const cancel = (owner: CustomerId, id: string) => world.ask("POST", `/api/v1/files/${id}/cancel`, owner)

  it("200, the file is as if just uploaded; then 409 NOT_CONVERTING", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    const none = await cancel(owner, id)
    expect([none.status, none.json.code]).toEqual([409, "NOT_CONVERTING"])
    const { job } = (await world.ask("POST", `/api/v1/files/${id}/convert`, owner)).json
    const answer = await cancel(owner, id)
    expect([answer.status, answer.json]).toEqual([200, { fileId: id, jobId: job.id, status: "cancelled" }])
    expect((await cancel(owner, id)).json.code).toBe("NOT_CONVERTING")
    expect((await world.ask("GET", `/api/v1/files/${id}`, owner)).json.file.status).toBe("uploaded")
  })

  it("409 CONVERSION_FINISHING while the result is put together, for Delete too", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    await world.ask("POST", `/api/v1/files/${id}/convert`, owner)
    await world.execute()
    await world.run(
      ConversionStore.use((store) =>
        Effect.gen(function* () {
          const chunk = yield* store.claimChunk("w", anyId())
          if (chunk !== undefined) yield* store.completeChunk(chunk, "jobs/x/chunks/0-a.jsonl", [])
        })
      )
    )
    const answer = await cancel(owner, id)
    expect([answer.status, answer.json.code]).toEqual([409, "CONVERSION_FINISHING"])
    const removed = await world.ask("DELETE", `/api/v1/files/${id}`, owner)
    expect([removed.status, removed.json.code]).toEqual([409, "CONVERSION_FINISHING"])
    // Out of the way of the tests that work.
    await world.run(
      ConversionStore.use((store) =>
        Effect.flatMap(store.claimAssembly(anyId(), LEASE), (assembly) =>
          assembly === undefined ? Effect.void : store.failJob(assembly.jobId, "over", assembly.lease)
        )
      )
    )
  })

  it("409 CONVERSION_INLINE, with what to do, for what is converted in one go", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner, pngOf())
    await world.ask("POST", `/api/v1/files/${id}/convert`, owner)
    const answer = await cancel(owner, id)
    expect([answer.status, answer.json.code]).toEqual([409, "CONVERSION_INLINE"])
    expect(answer.json.detail).toMatch(/wait for the result, or delete the file/)
  })
})
