import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"

import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { fromBufferPromise } from "yauzl"

import { distinctNames, zipOf, type ZipEntry } from "../../../../src/adapters/http/server/zip-stream.ts"
import { until } from "../../../support/until.ts"

const bodyOf = (chunks: ReadonlyArray<Uint8Array>): AsyncIterable<Uint8Array> =>
  Readable.from(chunks.map((chunk) => Buffer.from(chunk)))

/** What another program reads in the archive: names and bytes, whose checksums it compares. */
const read = async (entries: ReadonlyArray<ZipEntry>): Promise<ReadonlyArray<readonly [string, string]>> => {
  const zip = await fromBufferPromise(await buffer(zipOf(entries)), { lazyEntries: true })
  const found: Array<readonly [string, string]> = []
  for await (const entry of zip.eachEntry())
    found.push([entry.fileName, (await buffer(await zip.openReadStreamPromise(entry))).toString("base64")])
  return found
}

describe("an archive that is written while it is read", () => {
  it("holds every file, whatever its name and bytes, as another program reads it", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            name: fc
              .string({ minLength: 1, maxLength: 20, unit: "grapheme" })
              .filter((name) => !/^\.+$/.test(name)),
            chunks: fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 4 })
          }),
          { maxLength: 5 }
        ),
        async (files) => {
          const names = distinctNames(files.map(({ name }) => name))
          const found = await read(
            files.map(({ chunks }, at) => ({ name: names[at]!, body: bodyOf(chunks) }))
          )
          assert.deepStrictEqual(
            found,
            files.map(({ chunks }, at) => [names[at]!, Buffer.concat(chunks).toString("base64")])
          )
        }
      ),
      { numRuns: 30 }
    ))

  it("takes a name for a name: none leads to another folder or drive", async () => {
    const names = ["../../up.html", "C:drive.html", "/root.html", "a\\b.html", "\u0000.html"]
    const found = await read(names.map((name) => ({ name, body: bodyOf([]) })))
    assert.deepStrictEqual(
      found.map(([name]) => name),
      [".._.._up.html", "C_drive.html", "_root.html", "a_b.html", "_.html"]
    )
  })

  it("is not read on once nobody takes it, and lets go of the file that it was reading", async () => {
    let [chunks, isClosed] = [0, false]
    const endless = async function* () {
      try {
        for (;;) {
          chunks += 1
          yield Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)))
        }
      } finally {
        isClosed = true
      }
    }
    const archive = zipOf([{ name: "a.html", body: endless() }])
    for await (const chunk of archive) if (chunk.length > 0 && chunks > 3) break
    const then = chunks
    await until("the source is closed", () => isClosed)
    assert.isAtMost(chunks - then, 1)
  })

  it("ends with the failure of a file that cannot be read", async () => {
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from("half")
        throw new Error("the disk is gone")
      })()
    )
    const failure = await read([{ name: "a.html", body: broken }]).then(
      () => undefined,
      (error: unknown) => String(error)
    )
    assert.include(failure, "the disk is gone")
  })

  it("names that are the same get numbers, in time that grows with their count alone", () => {
    assert.deepStrictEqual(distinctNames(["a.html", "A.html", "a (2).html", "a.html", "b", "b"]), [
      "a.html",
      "A (2).html",
      "a (2) (2).html",
      "a (3).html",
      "b",
      "b (2)"
    ])
    assert.deepStrictEqual(distinctNames(["a:b.html", "a_b.html"]), ["a_b.html", "a_b (2).html"])
    const many = distinctNames(Array.from({ length: 20_000 }, () => "a.html"))
    assert.strictEqual(new Set(many).size, 20_000)
  })
})
