import { Effect, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { WriteSql } from "../../../../../src/adapters/postgres/client.ts"
import type { CustomerId } from "../../../../../src/domain/ids.ts"
import { HtmlAssembly } from "../../../../../src/ports/conversion/html-assembly.ts"
import { FileObjects } from "../../../../../src/ports/object-store.ts"
import type { ResultDocument } from "../../../../../src/reader/model/result-block.ts"
import { anyId } from "../../../../support/any-id.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { pngOf } from "../../../../support/files/picture-files.ts"
import { type FilesWorld, startFiles } from "./files-world.ts"

let world: FilesWorld
let owner: CustomerId
beforeAll(async () => {
  world = await startFiles()
  owner = await world.customer()
})
afterAll(() => world.stop())

const PNG = pngOf(40, 20, [["teXt", Buffer.alloc(900)]])
const PICTURE = `data:image/png;base64,${PNG.toString("base64")}`
const PAGES = [
  `<h1>Rivers</h1><p>They <strong>flow</strong> <a href="https://x.test/a">down</a>.</p><figure><img src="${PICTURE}" alt="A dot"></figure>`,
  `<table><thead><tr><th>Name</th></tr></thead><tbody><tr><td>Rhine</td></tr></tbody></table><p>Again <img src="${PICTURE}" alt="A dot"></p>`
]

/** A file with these pages as its result, written as every result is. */
const file = async (pages: ReadonlyArray<string> = PAGES): Promise<string> => {
  const { id } = (await world.upload(owner, numbered(2))).json.file
  await world.run(
    Effect.gen(function* () {
      const objects = yield* FileObjects
      const { assemble } = yield* HtmlAssembly
      const sql = yield* WriteSql
      const key = `jobs/${anyId()}/result-1.html`
      const html = assemble({
        facts: { lang: "en", title: undefined },
        name: "a.pdf",
        pages: Stream.fromIterable(
          pages.map((one, index) => ({ index, label: String(index + 1), html: one }))
        )
      })
      yield* objects.put(key, Stream.encodeText(html), { contentType: "text/html" })
      yield* sql`update files set status = 'completed', result_key = ${key}, done = pages where id = ${id}::uuid`
    })
  )
  return id
}

const get = (id: string, query = "", headers: Readonly<Record<string, string>> = {}) =>
  world.ask("GET", `/api/v1/files/${id}/result${query}`, owner, undefined, headers)

describe("GET /api/v1/files/:fileId/result in a format (DOC-27)", () => {
  it("takes the format from the query, else from Accept; a browser and a caller that names none get HTML", async () => {
    const id = await file()
    const html = await get(id)
    expect(html.text).toMatch(/^<!doctype html>/)
    for (const accept of [
      "*/*",
      "text/html,application/xhtml+xml,*/*;q=0.8",
      "application/json, text/plain, */*"
    ])
      expect((await get(id, "", { accept })).text).toBe(html.text)
    const types = [
      ["markdown", "text/markdown", "text/markdown; charset=utf-8"],
      ["text", "text/plain", "text/plain; charset=utf-8"],
      ["json", "application/json", "application/json"]
    ] as const
    for (const [format, accept, type] of types) {
      const named = await get(id, `?format=${format}`, { accept: "text/html" })
      const taken = await get(id, "", { accept })
      expect([named.status, named.headers["content-type"]]).toEqual([200, type])
      expect(taken.text).toBe(named.text)
      expect(named.headers["vary"]).toBe("accept, accept-encoding")
      expect(named.headers["content-security-policy"]).toMatch(/^sandbox;/)
      expect(named.headers["x-content-type-options"]).toBe("nosniff")
    }
    expect((await get(id, "?format=html", { accept: "application/json" })).text).toBe(html.text)
  })

  it("writes what the document says", async () => {
    const id = await file()
    expect((await get(id, "?format=markdown")).text).toBe(
      "<!-- page 1 -->\n\n# Rivers\n\nThey **flow** [down](https://x.test/a).\n\n![A dot]()\n\n<!-- page 2 -->\n\n| Name |\n| --- |\n| Rhine |\n\nAgain ![A dot]()\n"
    )
    expect((await get(id, "?format=text")).text).toBe(
      "Rivers\n\nThey flow down.\n\n[A dot]\n\nName\nRhine\n\nAgain [A dot]\n"
    )
    const data = (await get(id, "?format=json")).json as unknown as ResultDocument
    expect([data.title, data.lang, data.blocks.map(({ kind, page }) => [kind, page])]).toEqual([
      "Rivers",
      "en",
      [
        ["heading", 1],
        ["paragraph", 1],
        ["picture", 1],
        ["table", 2],
        ["paragraph", 2]
      ]
    ])
    expect(data.pictures).toEqual([
      { index: 0, mediaType: "image/png", bytes: PNG.length, width: 40, height: 20 }
    ])
    expect(data.blocks.flatMap(({ pictures = [] }) => pictures.map(({ picture }) => picture))).toEqual([0, 0])
  })

  it("pictures come inline on demand, and one by one", async () => {
    const id = await file()
    const data = (await get(id, "?format=json&pictures=inline")).json as unknown as ResultDocument
    expect(data.pictures[0]?.data).toBe(PNG.toString("base64"))
    const picture = await get(id, "/pictures/0")
    expect([picture.status, picture.headers["content-type"], picture.headers["content-length"]]).toEqual([
      200,
      "image/png",
      String(PNG.length)
    ])
    for (const no of ["1", "-1", "x", "00", "9999999"])
      expect((await get(id, `/pictures/${no}`)).json.code).toBe("NOT_FOUND")
    const bare = await get(id, "?pictures=none")
    expect(bare.text).toMatch(/^<!doctype html>/)
    expect(bare.text).not.toMatch(/<img|<svg|data:image/)
    expect(bare.text).toContain('<span class="about">A dot</span>')
    const fragment = await get(id, "?format=fragment")
    expect(fragment.text).toMatch(/^<div role="doc-pagebreak"/)
    expect(fragment.text).not.toMatch(/<main|<style|class="skip"/)
    expect(fragment.text).toContain(PICTURE)
  })

  it("refuses unknown formats by name: 406 for Accept, 400 for the query", async () => {
    const id = await file()
    const refused = await get(id, "", { accept: "application/pdf" })
    expect([refused.status, refused.json.code]).toEqual([406, "NOT_ACCEPTABLE"])
    for (const type of ["text/html", "text/markdown", "text/plain", "application/json"])
      expect(refused.json.detail).toContain(type)
    for (const query of ["?format=pdf", "?pictures=some"]) {
      const wrong = await get(id, query)
      expect([wrong.status, wrong.json.code]).toEqual([400, "INVALID_REQUEST"])
    }
  })

  it("is somebody else's 404, and 404 before there is a result, in every format", async () => {
    const id = await file()
    const stranger = await world.customer()
    const { id: fresh } = (await world.upload(owner, numbered(2))).json.file
    for (const query of ["?format=json", "?format=markdown", "/pictures/0"]) {
      const theirs = await world.ask("GET", `/api/v1/files/${id}/result${query}`, stranger)
      expect([theirs.status, theirs.json.code]).toEqual([404, "FILE_NOT_FOUND"])
      expect((await get(fresh, query)).json.code).toBe("RESULT_NOT_READY")
    }
  })

  it("each format has its own tag: not sent again to who has it", async () => {
    const id = await file()
    const queries = [
      "",
      "?pictures=none",
      "?format=fragment",
      "?format=markdown",
      "?format=text",
      "?format=json"
    ]
    const tags: Array<string> = []
    for (const query of queries) {
      const etag = (await get(id, query)).headers["etag"] ?? ""
      expect((await get(id, query, { "if-none-match": etag })).status).toBe(304)
      tags.push(etag)
    }
    expect(new Set(tags).size).toBe(tags.length)
  })

  it("each format is compressed for who takes it: the same text, by another tag", async () => {
    const id = await file()
    for (const query of [
      "?pictures=none",
      "?format=fragment",
      "?format=markdown",
      "?format=text",
      "?format=json"
    ]) {
      const plain = await get(id, query)
      const ask = (headers: Readonly<Record<string, string>>) =>
        fetch(`${world.server.url}/api/v1/files/${id}/result${query}`, {
          headers: { ...world.as(owner), "accept-encoding": "gzip", ...headers }
        })
      const zipped = await ask({})
      const tag = zipped.headers.get("etag") ?? ""
      expect([query, zipped.headers.get("content-encoding"), zipped.headers.get("vary")]).toEqual([
        query,
        "gzip",
        "accept, accept-encoding"
      ])
      expect(await zipped.text()).toBe(plain.text)
      expect(tag).not.toBe(plain.headers["etag"])
      expect((await ask({ "if-none-match": tag })).status).toBe(304)
    }
  })

  it("404, not a half answer, where the store no longer has the object: nobody need try again", async () => {
    const id = await file()
    await world.run(
      Effect.gen(function* () {
        const objects = yield* FileObjects
        yield* Stream.runForEach(objects.list("jobs/"), ({ key }) => objects.remove([key]))
      })
    )
    const paths = ["", "?format=json", "?pictures=none", "/pictures/0"].map(
      (of) => `/api/v1/files/${id}/result${of}`
    )
    for (const path of [...paths, `/api/v1/results?ids=${id}`]) {
      const { json } = await world.ask("GET", path, owner)
      expect([path, json.code, json.retryable]).toEqual([path, "FILE_NOT_FOUND", false])
    }
  })

  it("a large result answers while others are served", async () => {
    const page = `<h2>Chapter</h2>${"<p>Some words of a <em>long</em> book, and more of them.</p>".repeat(60)}`
    const id = await file(Array.from({ length: 300 }, () => page))
    const [data, ...others] = await Promise.all([
      get(id, "?format=json"),
      ...Array.from({ length: 10 }, () => world.ask("GET", `/api/v1/files/${id}`, owner))
    ])
    const { blocks } = data.json as unknown as ResultDocument
    expect(blocks.filter(({ kind }) => kind === "paragraph")).toHaveLength(300 * 60)
    expect(blocks.at(-1)?.page).toBe(300)
    for (const other of others) expect(other.status).toBe(200)
  })
})
