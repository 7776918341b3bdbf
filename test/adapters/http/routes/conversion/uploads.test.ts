import { writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"

import { Effect } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { LEAST_BYTES } from "../../../../../src/adapters/http/server/body-watch.ts"
import { WriteSql } from "../../../../../src/adapters/postgres/client.ts"
import { FILE_ROOM } from "../../../../../src/domain/conversion/stored-files.ts"
import type { CustomerId } from "../../../../../src/domain/ids.ts"
import { anyId } from "../../../../support/any-id.ts"
import { encryptPdf } from "../../../../support/files/pdf-encrypt.ts"
import { notPdf, truncated, withoutPages } from "../../../../support/files/pdf-hostile.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { makeFolder } from "../../../../support/processes/child.ts"
import { raw } from "../../harness.ts"
import { type FilesWorld, startFiles } from "./files-world.ts"

const SHORT = numbered(3)

let world: FilesWorld
beforeAll(async () => {
  world = await startFiles()
})
afterAll(() => world.stop())

const form = (parts: ReadonlyArray<readonly [head: string, bytes: Uint8Array]>) => {
  const boundary = "b0undary"
  const body = Buffer.concat([
    ...parts.flatMap(([head, bytes]) => [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      bytes,
      Buffer.from("\r\n")
    ]),
    Buffer.from(`--${boundary}--\r\n`)
  ])
  return { body, type: { "content-type": `multipart/form-data; boundary=${boundary}` } }
}

const postForm = (owner: CustomerId, parts: Parameters<typeof form>[0]) => {
  const { body, type } = form(parts)
  return world.ask("POST", "/api/v1/files", owner, body, type)
}

describe("POST /api/v1/files", () => {
  it("takes a raw body: 201, what it is by its content, its pages counted, its name cleaned", async () => {
    const owner = await world.customer()
    const answer = await world.upload(owner, SHORT, "..\\secret/Q1\u202e report.txt")
    expect([answer.status, answer.json]).toEqual([
      201,
      {
        file: {
          id: expect.stringMatching(/^[\da-f-]{36}$/),
          name: "Q1 report.txt",
          sizeBytes: SHORT.length,
          pages: 3,
          status: "uploaded",
          phase: null,
          batchWaiting: false,
          jobId: null,
          lastJob: null,
          progress: { done: 0, total: 0 },
          error: null,
          hasResult: false,
          price: 3,
          createdAt: expect.any(String),
          unreadablePages: [],
          hasText: null,
          noModelPages: [],
          made: null,
          leftOut: { portfolio: false, files: [], fileCount: 0, remarks: 0 },
          reference: null
        }
      }
    ])
    const nameless = await world.ask("POST", "/api/v1/files", owner, SHORT, {
      "content-type": "application/pdf"
    })
    expect([nameless.status, nameless.json.file.name]).toEqual([201, "document"])
    const list = await world.ask("GET", "/api/files", owner)
    expect(list.json.files.map(({ name }: { name: string }) => name)).toEqual(["document", "Q1 report.txt"])
  })

  it("pages the list: `limit` and `cursor`, each file once, newest first", async () => {
    const owner = await world.customer()
    for (const name of ["a", "b", "c", "d"]) await world.upload(owner, SHORT, name)
    const names = ({
      json
    }: {
      readonly json: { readonly files: ReadonlyArray<{ readonly name: string }> }
    }) => json.files.map(({ name }) => name)
    const whole = await world.ask("GET", "/api/files", owner)
    expect([names(whole), Object.keys(whole.json)]).toEqual([["d", "c", "b", "a"], ["files"]])
    const half = await world.ask("GET", "/api/files?limit=2", owner)
    const rest = await world.ask("GET", `/api/files?limit=2&cursor=${half.json.nextCursor}`, owner)
    expect([names(half), names(rest), rest.json.nextCursor]).toEqual([["d", "c"], ["b", "a"], null])
    const first = await world.ask("GET", "/api/files?limit=3&cursor=", owner)
    expect([names(first), first.json.nextCursor]).toEqual([["d", "c", "b"], expect.any(String)])
    // What is deleted or comes meanwhile moves no border.
    await world.upload(owner, SHORT, "e")
    await world.ask("DELETE", `/api/v1/files/${first.json.files[2].id}`, owner)
    const next = await world.ask("GET", `/api/files?limit=3&cursor=${first.json.nextCursor}`, owner)
    expect([names(next), next.json.nextCursor]).toEqual([["a"], null])
    // The cursor of another's list shows them nothing.
    const stranger = await world.customer()
    const other = await world.ask("GET", `/api/files?cursor=${first.json.nextCursor}`, stranger)
    expect(other.json).toEqual({ files: [], nextCursor: null })
    for (const query of ["limit=0", "limit=1001", "limit=x", "limit=1.5", "cursor=x", "cursor=%00"]) {
      const refused = await world.ask("GET", `/api/files?${query}`, owner)
      expect([refused.status, refused.json.code, query]).toEqual([400, "INVALID_REQUEST", query])
    }
  })

  it.each([
    ['a\\"b.pdf', 'a"b.pdf'],
    ["a%22b.pdf", 'a"b.pdf'],
    ["old\\scans\\a b.pdf", "a b.pdf"]
  ])("takes a form's file name as it was written: %s", async (sent, kept) => {
    const owner = await world.customer()
    const answer = await postForm(owner, [
      [`name="file"; filename="${sent}"\r\nContent-Type: application/pdf`, SHORT]
    ])
    expect([answer.status, answer.json.file.name]).toEqual([201, kept])
  })

  it("takes a form: the field `file`, whatever stands around it", async () => {
    const owner = await world.customer()
    const answer = await postForm(owner, [
      ['name="note"', Buffer.from("hello")],
      ['name="other"; filename="x.bin"\r\nContent-Type: application/octet-stream', Buffer.from("other")],
      ['name="file"; filename="Bericht Ä.pdf"\r\nContent-Type: application/pdf', SHORT]
    ])
    expect([answer.status, answer.json.file.name, answer.json.file.pages]).toEqual([201, "Bericht Ä.pdf", 3])
  })

  it("400 for a form without the field, and for one that is none", async () => {
    const owner = await world.customer()
    const without = await postForm(owner, [['name="other"; filename="a.pdf"', SHORT]])
    expect([without.status, without.json.code]).toEqual([400, "INVALID_REQUEST"])
    const broken = await world.ask("POST", "/api/v1/files", owner, "nothing of the kind", {
      "content-type": "multipart/form-data"
    })
    expect([broken.status, broken.json.code]).toEqual([400, "INVALID_REQUEST"])
  })

  it("answers a large file in another field, whatever comes after it", async () => {
    const owner = await world.customer()
    const large: Parameters<typeof form>[0][number] = [
      'name="f"; filename="a.pdf"',
      Buffer.alloc(600_000, "x")
    ]
    const without = await postForm(owner, [large])
    expect([without.status, without.json.code]).toEqual([400, "INVALID_REQUEST"])
    const file = ['name="file"; filename="b.pdf"', SHORT] as const
    for (const parts of [
      [large, file],
      [file, large],
      [large, large, file, large]
    ]) {
      const taken = await postForm(owner, parts)
      expect([taken.status, taken.json.file.name]).toEqual([201, "b.pdf"])
    }
  })

  it("holds little of a form's other fields", async () => {
    const owner = await world.customer()
    const text = await postForm(owner, [
      ['name="note"', Buffer.alloc(200_000, "x")],
      ['name="file"; filename="b.pdf"', SHORT]
    ])
    expect([text.status, text.json.code]).toEqual([400, "INVALID_REQUEST"])
    const many = Array.from({ length: 200 }, () => ['name="note"', Buffer.from("x")] as const)
    const parts = await postForm(owner, many)
    expect([parts.status, parts.json.code]).toEqual([400, "INVALID_REQUEST"])
  })

  it("goes by the content, never by the name or the type: 415, 422", async () => {
    const owner = await world.customer()
    const before = (await world.objects()).length
    const folder = await makeFolder()
    const path = join(folder.path, "document.pdf")
    await writeFile(path, SHORT)
    const encrypted = await encryptPdf(path, "hunter2")
    await folder.remove()
    for (const [bytes, status, code] of [
      [notPdf(), 415, "UNSUPPORTED_FILE_TYPE"],
      [Buffer.from("<html></html>"), 415, "UNSUPPORTED_FILE_TYPE"],
      [Buffer.alloc(0), 415, "UNSUPPORTED_FILE_TYPE"],
      [encrypted, 422, "UNREADABLE_FILE"],
      [withoutPages(), 422, "UNREADABLE_FILE"]
    ] as const) {
      const answer = await world.upload(owner, bytes, "a.pdf", { "content-type": "application/pdf" })
      expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([status, code, false])
    }
    expect((await world.ask("GET", "/api/files", owner)).json.files).toEqual([])
    expect((await world.objects()).length).toBe(before)
  })

  it("any bytes end in a documented status, and leave a file or nothing", async () => {
    const owner = await world.customer()
    const pieces = fc.oneof(
      fc.uint8Array({ maxLength: 3000 }),
      fc.constantFrom(SHORT, truncated(), notPdf()),
      fc.nat(SHORT.length).map((at) => SHORT.subarray(0, at)),
      fc.string().map((text) => Buffer.from(`%PDF-1.7\n${text}`))
    )
    await fc.assert(
      fc.asyncProperty(pieces, fc.string({ maxLength: 300 }), async (bytes, name) => {
        const before = (await world.ask("GET", "/api/files", owner)).json.files.length
        const answer = await world.upload(owner, bytes, name.toWellFormed())
        expect([201, 415, 422]).toContain(answer.status)
        const after = (await world.ask("GET", "/api/files", owner)).json.files.length
        expect(after - before).toBe(answer.status === 201 ? 1 : 0)
      }),
      { numRuns: 25 }
    )
  })

  it("413 for a length over the limit, before a byte of it is read", async () => {
    const owner = await world.customer()
    const said = await raw(
      world.server,
      `POST /api/v1/files HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${owner}\r\ncontent-length: 2000000000\r\n\r\n`
    )
    expect(said).toMatch(/^HTTP\/1\.1 413 /)
    expect(said).toContain('"code":"PAYLOAD_TOO_LARGE"')
  })

  it("409 once an owner's plan has no room for another file, and nothing of it is kept", async () => {
    const owner = await world.customer()
    await world.run(
      WriteSql.use((sql) =>
        Effect.andThen(
          sql`update customers set plan_type = 'free' where id = ${owner}::uuid`,
          sql`insert into files (customer_id, name, kind, size_bytes, pages, object_key)
            select ${owner}::uuid, 'a', 'pdf', 1, 1, 'x' || n from generate_series(1, ${FILE_ROOM.free.files}::int) n`
        )
      )
    )
    const before = (await world.objects()).length
    const answer = await world.upload(owner, SHORT)
    expect([answer.status, answer.json.code]).toEqual([409, "FILE_LIMIT_REACHED"])
    expect((await world.objects()).length).toBe(before)
  })

  it("401 for nobody; the body stays unread", async () => {
    const answer = await world.ask("POST", "/api/v1/files", anyId("nobody"), SHORT)
    expect([answer.status, answer.json.code]).toEqual([401, "UNAUTHENTICATED"])
  })

  it("an upload that breaks off leaves no row and no object, half-written ones included", async () => {
    const owner = await world.customer()
    const before = (await world.objects()).length
    const { body, type } = form([['name="file"; filename="a.pdf"', numbered(200)]])
    for (const [headers, bytes] of [
      [{ "content-type": "application/pdf" }, numbered(200)],
      [type, body]
    ] as const) {
      const socket = connect(world.server.port, "127.0.0.1")
      const head = Object.entries({
        host: "x",
        authorization: `Bearer ${owner}`,
        "content-length": String(bytes.length),
        ...headers
      })
      socket.write(
        `POST /api/v1/files HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`
      )
      socket.write(bytes.subarray(0, bytes.length / 2))
      // The server has begun to write it.
      await expect.poll(async () => (await world.objects()).length).toBe(before + 1)
      socket.destroy()
      await expect.poll(async () => (await world.objects()).length).toBe(before)
    }
    expect((await world.ask("GET", "/api/files", owner)).json.files).toEqual([])
  })
})

it("a large file on a slow line takes longer than any other request may", async () => {
  const slow = await startFiles(1, {
    headersTimeout: 1_000,
    requestTimeout: 1_500,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: 100
  })
  const owner = await slow.customer()
  const part = Buffer.alloc(LEAST_BYTES / 2)
  const parts = 20
  const send = (path: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(slow.server.port, "127.0.0.1")
      let said = ""
      let left = parts
      const timer = setInterval(() => (left-- > 0 ? socket.write(part) : clearInterval(timer)), 150)
      socket.on("data", (chunk) => (said += chunk.toString("utf8")))
      socket.on("error", () => undefined)
      socket.on("close", () => {
        clearInterval(timer)
        resolve(said)
      })
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${owner}\r\n` +
          `content-type: application/json\r\ncontent-length: ${parts * part.length}\r\n\r\n`
      )
    })
  expect(await send("/api/v1/files?name=a.pdf")).toMatch(/^HTTP\/1\.1 415 /)
  expect((await slow.objects()).length).toBe(0)
  await slow.stop()
})
