import { Effect, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { languageOf, outlineOf } from "../../../../../src/application/conversion/result-pages.ts"
import { fileKey } from "../../../../../src/domain/conversion/stored-files.ts"
import type { FileId } from "../../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../../src/ports/conversion/conversion-store.ts"
import { FileObjects } from "../../../../../src/ports/object-store.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { type FilesWorld, startFiles } from "./files-world.ts"

let world: FilesWorld
beforeAll(async () => {
  world = await startFiles()
})
afterAll(() => world.stop())

describe("the outline of a result", () => {
  const line = (page: number, tier: Parameters<typeof outlineOf>[0][number]["tier"]) => ({
    page,
    label: "i",
    tier
  })

  it("names the pages that need a look; one that no model converted though it was asked for, whatever the others are", () => {
    expect(outlineOf([line(0, "layout"), line(1, "poorly-recognised"), line(2, "unreadable")])).toEqual([
      { page: 1, label: "i", tier: "layout", look: null },
      { page: 2, label: "i", tier: "poorly-recognised", look: "poorly_read" },
      { page: 3, label: "i", tier: "unreadable", look: "unreadable" }
    ])
    const without = { noModel: "refused" } as const
    const asked = outlineOf([
      line(0, "hifi-single-pass"),
      { ...line(1, "layout"), ...without },
      { ...line(2, "recognised"), ...without },
      line(3, "agentic"),
      line(4, "coverage-retry"),
      line(5, "blank"),
      line(6, "table-of-contents")
    ])
    expect(asked.map(({ look }) => look)).toEqual([
      null,
      "no_model",
      "no_model",
      "mended",
      "mended",
      null,
      null
    ])
    const none = outlineOf(
      [line(0, "layout"), line(1, "poorly-recognised")].map((one) => ({ ...one, ...without }))
    )
    expect(none.map(({ look }) => look)).toEqual(["no_model", "no_model"])
    const doubts = ["cells_left_over", "unseen_text"] as const
    const doubted = outlineOf(
      [line(0, "layout"), line(1, "recognised"), line(2, "unreadable")].map((one) => ({ ...one, doubts }))
    )
    expect(doubted.map(({ look }) => look)).toEqual(["cells_left_over", "cells_left_over", "unreadable"])
  })
})

describe("the language of a result", () => {
  it("is found in pieces of any size; one that names none is taken for English", async () => {
    const piecesOf = (text: string, size: number) =>
      Stream.fromIterable(text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []).pipe(Stream.encodeText)
    const result = `<!doctype html>\n<html lang="pt-BR"><head>${"x".repeat(3_000)}`
    for (const size of [1, 20, 5_000]) {
      expect(await Effect.runPromise(languageOf(piecesOf(result, size)))).toBe("pt-BR")
      expect(await Effect.runPromise(languageOf(piecesOf("<p>none</p>", size)))).toBe("en")
    }
  })
})

describe("the pages of a result", () => {
  it("are listed, shown one by one in any chunk, and drawn beside what they were made of; for their owner alone", async () => {
    const [owner, other] = [await world.customer(), await world.customer()]
    const uploaded = await world.upload(owner, numbered(22), "Report.pdf")
    const id: FileId = uploaded.json.file.id
    const path = `/api/v1/files/${id}/pages`
    const before = await world.ask("GET", path, owner)
    expect([before.status, before.json.code]).toEqual([404, "RESULT_NOT_READY"])
    const unchecked = await world.ask("GET", `/api/v1/files/${id}/accessibility`, owner)
    expect([unchecked.status, unchecked.json.code]).toEqual([404, "RESULT_NOT_READY"])
    await world.ask("POST", `/api/v1/files/${id}/convert`, owner)
    await world.work()
    const { json } = await world.ask("GET", path, owner)
    expect(json.pages).toHaveLength(22)
    expect(json.pages[20]).toEqual({ page: 21, label: "21", tier: "layout", look: null })

    const page = await world.ask("GET", `${path}/21/result`, owner)
    expect(page.status).toBe(200)
    expect(page.headers["content-security-policy"]).toMatch(/^sandbox allow-same-origin; default-src 'none'/)
    expect(page.headers["content-security-policy"]).not.toMatch(/allow-scripts|script-src/)
    expect(page.text).toMatch(/^<!doctype html>\n<html lang="[a-z-]+"/)
    expect(page.text).toContain("21")
    expect(page.text).not.toContain("<script")

    const picture = await world.ask("GET", `${path}/22/picture`, owner)
    expect([picture.status, picture.headers["content-type"]]).toEqual([200, "image/png"])
    expect(picture.headers["cache-control"]).toBe("private, max-age=3600")

    const checked = `/api/v1/files/${id}/accessibility`
    const check = await world.ask("GET", checked, owner)
    expect([check.status, check.json.lang, check.json.title]).toEqual([
      200,
      expect.stringMatching(/^[a-z]{2}/),
      "Report"
    ])
    expect(check.json.checks).toContainEqual({ check: "title", count: 1, flagged: 1, pages: [] })
    const strange = await world.ask("GET", checked, other)
    expect([strange.status, strange.json.code]).toEqual([404, "FILE_NOT_FOUND"])

    for (const wrong of ["0", "23", "-1", "1.5", "1e1", "01", "999999999999", "x", "%00", "%2e%2e"]) {
      for (const what of ["result", "picture"]) {
        const refused = await world.ask("GET", `${path}/${wrong}/${what}`, owner)
        expect([wrong, refused.status]).toEqual([wrong, 404])
      }
    }
    for (const part of ["", "/1/result", "/1/picture"]) {
      const foreign = await world.ask("GET", `${path}${part}`, other)
      expect([foreign.status, foreign.json.code]).toEqual([404, "FILE_NOT_FOUND"])
    }
    // While it is converted again, the pages are those of the result that is there.
    await world.ask("POST", `/api/v1/files/${id}/convert`, owner)
    await world.execute()
    expect((await world.ask("GET", path, owner)).json).toEqual(json)
  })

  it("of a page that cannot be drawn are a problem, not a crash", async () => {
    const owner = await world.customer()
    const id: FileId = (await world.upload(owner, numbered(2), "a.pdf")).json.file.id
    await world.run(
      FileObjects.use((objects) =>
        objects.put(fileKey(id), Stream.make(Buffer.from("no PDF")), { contentType: "application/pdf" })
      )
    )
    const refused = await world.ask("GET", `/api/v1/files/${id}/pages/1/picture`, owner)
    expect([refused.status, refused.json.code]).toEqual([422, "UNREADABLE_FILE"])
  })
})

describe("the preview of a conversion under way", () => {
  const begin = async (pages = 45, name = "Report.pdf") => {
    // Nothing else is worked on.
    await world.work()
    const owner = await world.customer()
    const id: FileId = (await world.upload(owner, numbered(pages), name)).json.file.id
    await world.ask("POST", `/api/v1/files/${id}/convert`, owner)
    const preview = (page: number | string, who = owner) =>
      world.ask("GET", `/api/v1/files/${id}/pages/${page}/preview`, who)
    const refused = async (page: number | string = 1, who = owner) => {
      const { json, status } = await preview(page, who)
      return [status, json.code]
    }
    return { owner, id, preview, refused }
  }
  const NOT_READY = [404, "NOT_FOUND"]
  const GONE = [404, "FILE_NOT_FOUND"]

  it("shows pages of stored chunks and no others, as unfinished, sandboxed as the result is, until that takes their place", async () => {
    const { id, owner, preview, refused } = await begin(45, "<script>alert(1)<\u2044script>.pdf")
    expect(await refused()).toEqual(NOT_READY)
    await world.workOnce()
    const page = await preview(20)
    expect(page.status).toBe(200)
    expect(page.text).toMatch(/^<!doctype html>\n<html lang="[a-z-]+"/)
    expect(page.text).toContain('role="note"')
    expect(page.text).toContain("still being converted")
    expect(page.text).toContain("Page number 20")
    expect(page.text).not.toContain("<script")
    expect(await refused(21)).toEqual(NOT_READY)
    for (const wrong of ["0", "46", "-1", "1.5", "1e1", "01", "999999999999", "x", "%00", "%2e%2e"])
      expect([wrong, (await preview(wrong)).status]).toEqual([wrong, 404])
    const tag = page.headers["etag"]!
    const same = await world.ask("GET", `/api/v1/files/${id}/pages/20/preview`, owner, undefined, {
      "if-none-match": tag
    })
    expect(same.status).toBe(304)
    await world.workOnce()
    expect((await preview(21)).status).toBe(200)
    expect((await world.ask("GET", `/api/v1/files/${id}/result`, owner)).json.code).toBe("RESULT_NOT_READY")

    await world.work()
    expect(await refused()).toEqual(NOT_READY)
    const result = await world.ask("GET", `/api/v1/files/${id}/result`, owner)
    for (const name of ["content-security-policy", "cache-control", "x-content-type-options"])
      expect([name, page.headers[name]]).toEqual([name, result.headers[name]])
    expect(result.text).not.toContain("still being converted")
  })

  it("is its owner's alone, before, during and after", async () => {
    const { id, owner, refused } = await begin()
    const other = await world.customer()
    for (const step of [world.execute, world.workOnce, world.work]) {
      await step()
      expect(await refused(1, other)).toEqual(GONE)
      const nobody = await fetch(`${world.server.url}/api/v1/files/${id}/pages/1/preview`)
      expect(nobody.status).toBe(401)
    }
    const file = await world.ask("GET", `/api/v1/files/${id}`, other)
    expect([file.status, file.json.code]).toEqual(GONE)
    expect((await world.ask("GET", `/api/v1/files/${id}`, owner)).status).toBe(200)
  })

  it("ends with the conversion: cancelled, failed, or its file deleted; converted again, it shows the new one alone", async () => {
    const cancelled = await begin()
    await world.workOnce()
    expect((await cancelled.preview(1)).status).toBe(200)
    await world.ask("POST", `/api/v1/files/${cancelled.id}/cancel`, cancelled.owner)
    expect(await cancelled.refused()).toEqual(NOT_READY)
    await world.ask("POST", `/api/v1/files/${cancelled.id}/convert`, cancelled.owner)
    await world.execute()
    expect(await cancelled.refused()).toEqual(NOT_READY)
    await world.work()

    const failed = await begin()
    await world.workOnce()
    const { jobId } = (await world.ask("GET", `/api/v1/files/${failed.id}`, failed.owner)).json.file
    await world.run(ConversionStore.use((store) => store.failJob(jobId, "It is upside down")))
    expect(await failed.refused()).toEqual(NOT_READY)

    const deleted = await begin()
    await world.workOnce()
    expect((await deleted.preview(1)).status).toBe(200)
    // Its objects are gone before its row is seen to be.
    await world.run(
      Effect.gen(function* () {
        const store = yield* ConversionStore
        const objects = yield* FileObjects
        const file = yield* store.file(deleted.id, deleted.owner)
        const chunks = yield* store.chunkResults(file!.jobId!)
        yield* objects.remove(chunks.map(({ key }) => key))
      })
    )
    expect(await deleted.refused()).toEqual(NOT_READY)
    await world.ask("DELETE", `/api/v1/files/${deleted.id}`, deleted.owner)
    expect(await deleted.refused()).toEqual(GONE)
  })

  it("of hostile text is text, and of a hostile fragment a document that may run and load nothing", async () => {
    const { id, owner, preview } = await begin()
    await world.workOnce()
    const hostile = `<p lang="de">Der Bericht ist noch nicht fertig, und die Seiten werden gerade gelesen.</p><script>parent.x=1</script><img src="https://evil.test/x">`
    await world.run(
      Effect.gen(function* () {
        const store = yield* ConversionStore
        const objects = yield* FileObjects
        const file = yield* store.file(id, owner)
        const [chunk] = yield* store.chunkResults(file!.jobId!)
        const line = { page: 0, label: "1", tier: "layout", html: hostile }
        yield* objects.put(chunk!.key, Stream.make(Buffer.from(`${JSON.stringify(line)}\n`)), {
          contentType: "application/x-ndjson"
        })
      })
    )
    const page = await preview(1)
    expect(page.text).toContain('<html lang="de"')
    expect(page.headers["content-security-policy"]).toMatch(/^sandbox; default-src 'none'/)
    expect(page.headers["content-security-policy"]).not.toMatch(/allow-|script-src|https?:/)
    expect(page.headers["x-content-type-options"]).toBe("nosniff")
    // Its chunk has no other page any more: one that is not there is not made up.
    expect((await preview(2)).status).toBe(404)
    await world.work()
  })
})
