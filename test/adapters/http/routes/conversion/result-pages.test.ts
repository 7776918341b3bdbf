import { Effect, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { languageOf, outlineOf } from "../../../../../src/application/conversion/result-pages.ts"
import { fileKey } from "../../../../../src/domain/conversion/stored-files.ts"
import type { FileId } from "../../../../../src/domain/ids.ts"
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
