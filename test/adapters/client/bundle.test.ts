import { gzipSync } from "node:zlib"

import { build } from "esbuild"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import type * as Postlane from "../../../src/runtime/entries/client.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { closePages, workersBrowser } from "../../support/processes/browser.ts"
import { type FilesWorld, startFiles } from "../http/routes/conversion/files-world.ts"

/** What the client may cost a page, bytes, gzipped: 5.8 KB with 90 routes, each of which takes some 25 bytes. */
const MAX_GZIPPED = 8 * 1024

const bundle = async (format: "esm" | "iife") => {
  const { metafile, outputFiles } = await build({
    entryPoints: ["src/runtime/entries/client.ts"],
    bundle: true,
    minify: true,
    platform: "browser",
    format,
    globalName: "postlane",
    write: false,
    metafile: true
  })
  return { text: outputFiles[0]!.text, inputs: Object.keys(metafile.inputs) }
}

describe("the client in a bundle", () => {
  it("is small, and holds no package", async () => {
    const { inputs, text } = await bundle("esm")
    expect(
      inputs.filter((path) => !/^src\/(?:adapters\/client\/|runtime\/entries\/client\.ts$)/.test(path))
    ).toEqual([])
    expect(gzipSync(text, { level: 9 }).byteLength).toBeLessThan(MAX_GZIPPED)
  })
})

describe("the client in Chromium", () => {
  let world: FilesWorld
  let browser: Browser
  beforeAll(async () => {
    ;[world, browser] = await Promise.all([startFiles(), workersBrowser()])
  })
  afterAll(async () => {
    await closePages(browser)
    await world.stop()
  })

  it("uploads with progress, watches a conversion to its end and reports problems, on the page's own origin", async () => {
    const token = await world.customer()
    const page = await browser.newPage()
    await page.goto(`${world.server.url}/`)
    await page.evaluate((await bundle("iife")).text.replace("var postlane=", "window.postlane="))
    const bytes = [...numbered(2)]
    const uploaded = await page.evaluate<Record<string, unknown>>(
      `(${String(async (given: { token: string; bytes: ReadonlyArray<number> }) => {
        const { createClient } = (window as unknown as { postlane: typeof Postlane }).postlane
        const client = createClient({ baseUrl: "", token: given.token })
        const steps: Array<number> = []
        const body = new Blob([new Uint8Array(given.bytes)])
        const answer = await client.files.uploadFile(
          { name: "a.pdf", body },
          { onProgress: ({ sent }) => steps.push(sent) }
        )
        if (!answer.ok) return { answer }
        const { id } = answer.data.file
        await client.files.convertFile({ fileId: id })
        const refused = await client.files.convertFile({ fileId: id })
        const first = await client.files.streamConversion({ fileId: id }).next()
        return { id, steps, size: body.size, refused, first: first.value }
      })})(${JSON.stringify({ token, bytes })})`
    )
    expect(uploaded).toMatchObject({
      refused: { ok: false, attempts: 1, error: { code: "CONVERSION_ACTIVE", status: 409 } },
      first: { event: "progress" }
    })
    expect((uploaded["steps"] as ReadonlyArray<number>).at(-1)).toBe(uploaded["size"])
    await page.close()
  })
})
