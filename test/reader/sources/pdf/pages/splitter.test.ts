/** How often and with what qpdf is run on a document: each run reads its whole page tree. */
import { assert, describe, it } from "vitest"

import type { Qpdf } from "../../../../../src/reader/sources/pdf/engine/qpdf.ts"
import { Splitter } from "../../../../../src/reader/sources/pdf/pages/splitter.ts"

const PAGE_BYTES = 1_000

/** A qpdf that writes a page of its own for each that it is asked for, and the arguments of its runs. */
const recording = () => {
  const runs: Array<ReadonlyArray<string>> = []
  const files = new Map<string, Uint8Array<ArrayBuffer>>()
  const qpdf: Qpdf = {
    FS: {
      init: () => undefined,
      mkdir: () => undefined,
      mount: () => undefined,
      unmount: () => undefined,
      rmdir: () => undefined,
      readdir: () => [...files.keys()].map((path) => path.split("/").at(-1) ?? ""),
      readFile: (path) => files.get(path) ?? new Uint8Array(),
      stat: () => ({ size: PAGE_BYTES }),
      unlink: (path) => void files.delete(path)
    },
    NODEFS: {},
    callMain: (args) => {
      runs.push(args)
      const pages = (args[args.indexOf("--") - 1] ?? "").split(",")
      for (const page of pages)
        files.set((args.at(-1) ?? "").replace("%d", page.padStart(6, "0")), Uint8Array.of(Number(page) % 256))
      return 0
    },
    output: () => "",
    memoryBytes: () => 0
  }
  return { runs, qpdf }
}

const split = (pageCount: number) => {
  const { qpdf, runs } = recording()
  const splitter = new Splitter(qpdf, "/files/a.pdf", 1_000_000, pageCount)
  for (let page = 0; page < pageCount; page++)
    assert.deepStrictEqual(splitter.page(page, pageCount), Uint8Array.of((page + 1) % 256))
  splitter.close()
  return runs
}

describe("a splitter", () => {
  it("takes a few passes over a document however long it is, and adds its pages to an empty one", () => {
    for (const pageCount of [2_000, 50_000]) {
      const runs = split(pageCount)
      assert.isAtMost(runs.length, 25)
      assert.isTrue(runs.every((args) => args.includes("--empty") && !args.includes(".")))
    }
  })

  it("leaves shorter documents to qpdf, whose comments come out smaller so", () => {
    const runs = split(1_999)
    assert.isTrue(runs.every((args) => args.includes("/in/a.pdf") && !args.includes("--empty")))
  })
})
