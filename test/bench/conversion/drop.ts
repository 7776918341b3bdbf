import { spawnSync } from "node:child_process"
import { openAsBlob } from "node:fs"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

import { type Client, createClient } from "../../../src/adapters/client/client.ts"
import { unwrap } from "../../../src/adapters/client/problems.ts"
import { writeLargePdf } from "../../support/files/pdf-large.ts"
import { median } from "../measure.ts"
import { markdown } from "../report.ts"
import { foreignManuals } from "./pdf.ts"
import { startServer } from "./server-memory.ts"

/** From the first byte of an upload, medians, in seconds. */
export interface DropTimes {
  readonly pages: number
  /** Until a page can be read: one of the preview, or the result where that came first. */
  readonly firstPage: number
  /** Until the whole result has been fetched. */
  readonly result: number
  /** What `pdftohtml` takes for the same file; undefined where it is not installed. */
  readonly pdftohtml: number | undefined
}

const seconds = (since: number): number => (performance.now() - since) / 1_000

/** Uploads, converts, looks at the first page as soon as one is named, and fetches the result. */
const drop = async (client: Client, path: string) => {
  const started = performance.now()
  const uploaded = unwrap(
    await client.files.uploadFile({ name: basename(path), body: await openAsBlob(path) })
  )
  const { id: fileId, pages } = uploaded.file
  try {
    unwrap(await client.files.convertFile({ fileId }))
    let firstPage: number | undefined
    for await (const { data, event } of client.files.streamConversion({ fileId })) {
      if (event === "failed" || event === "cancelled") throw new Error(`${path}: ${event}, ${data.phase}`)
      const [ready] = data.readyPages
      if (firstPage !== undefined || ready === undefined) continue
      const preview = await client.resultPages.previewPage({ fileId, page: String(ready.first) })
      if (preview.ok) firstPage = seconds(started)
    }
    unwrap(await client.files.getResult({ fileId }))
    const result = seconds(started)
    return { pages, firstPage: firstPage ?? result, result }
  } finally {
    unwrap(await client.files.deleteFile({ fileId }))
  }
}

const byPdftohtml = (path: string, folder: string): number | undefined => {
  const started = performance.now()
  const { status } = spawnSync("pdftohtml", ["-noframes", "-i", "-q", path, join(folder, "out")])
  return status === 0 ? seconds(started) : undefined
}

/** Documents of so many pages, one after the other; `manuals`: also those that were fetched, as `--pdf` reads them. */
export const measureDrops = async (options: {
  readonly pages: ReadonlyArray<number>
  readonly rounds: number
  readonly manuals: boolean
}): Promise<ReadonlyArray<DropTimes>> => {
  const folder = await mkdtemp(join(tmpdir(), "postlane-bench-"))
  // PostgreSQL's user enters it where we are root.
  await chmod(folder, 0o755)
  const server = await startServer(join(folder, "data"), false)
  const client = createClient({ baseUrl: server.baseUrl, token: server.token })
  try {
    const made = options.pages.map((pages) => {
      const path = join(folder, `${pages}.pdf`)
      writeLargePdf(path, pages, false)
      return path
    })
    const times: Array<DropTimes> = []
    for (const path of [...made, ...(options.manuals ? foreignManuals() : [])]) {
      // The first one loads the code.
      await drop(client, path)
      const rounds: Array<Awaited<ReturnType<typeof drop>>> = []
      const beside: Array<number> = []
      for (let round = 0; round < options.rounds; round++) {
        rounds.push(await drop(client, path))
        const peer = byPdftohtml(path, folder)
        if (peer !== undefined) beside.push(peer)
      }
      times.push({
        pages: rounds[0]?.pages ?? 0,
        firstPage: median(rounds.map(({ firstPage }) => firstPage)),
        result: median(rounds.map(({ result }) => result)),
        pdftohtml: beside.length === 0 ? undefined : median(beside)
      })
    }
    return times
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}

/** The table for docs/explanation/performance.md. */
export const dropTable = (times: ReadonlyArray<DropTimes>): string =>
  markdown([
    ["pages", "first page s", "result s", "pdftohtml s"],
    ...times.map(({ firstPage, pages, pdftohtml, result }) => [
      String(pages),
      firstPage.toFixed(2),
      result.toFixed(2),
      pdftohtml?.toFixed(2) ?? "–"
    ])
  ])
