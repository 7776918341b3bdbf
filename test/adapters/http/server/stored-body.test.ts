import { gunzipSync } from "node:zlib"

import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

import {
  bytesAnswer,
  rangeOf,
  storedAnswer,
  textDownload
} from "../../../../src/adapters/http/server/stored-body.ts"

const bytes = Uint8Array.from({ length: 1000 }, (_, at) => at % 251)

/** The answer to a request with these headers, whose body is read in pieces of `piece` bytes. */
const ask = async (headers: Readonly<Record<string, string>>, contentType = "text/html", piece = 7) => {
  let taken = 0
  const response = storedAnswer(
    {
      contentType,
      size: bytes.length,
      etag: '"one"',
      headers: { "cache-control": "private, no-cache" },
      read: (from) =>
        Stream.fromIterable(
          Array.from({ length: Math.ceil((bytes.length - from) / piece) }, (_, at) => {
            const start = from + at * piece
            return bytes.subarray(start, start + piece)
          })
        ).pipe(
          Stream.rechunk(1),
          Stream.tap(({ length }) => Effect.sync(() => void (taken += length)))
        )
    },
    { headers: headers as never }
  )
  const web = HttpServerResponse.toWeb(response)
  const body = new Uint8Array(await web.arrayBuffer())
  return { status: web.status, headers: web.headers, body, taken }
}

describe("a stored body", () => {
  /** What a server answers to `bytes=from-last` of 1,000 bytes (RFC 9110, sections 14.2, 15.3.7 and 15.5.17). */
  const due = (from: number, last: number) => {
    if (last < from) return { status: 200, range: null, part: bytes }
    if (from >= 1000) return { status: 416, range: "bytes */1000", part: bytes.subarray(0, 0) }
    const end = Math.min(last, 999)
    return { status: 206, range: `bytes ${from}-${end}/1000`, part: bytes.subarray(from, end + 1) }
  }

  it("is answered in the part that is asked for, and no more of it is read", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1100),
        fc.nat(1100),
        fc.integer({ min: 1, max: 300 }),
        async (from, last, piece) => {
          const range = `bytes=${from}-${last}`
          const { body, headers, status, taken } = await ask({ range }, "text/html", piece)
          const right = due(from, last)
          expect([status, headers.get("content-range")]).toEqual([right.status, right.range])
          expect(Buffer.compare(body, right.part)).toBe(0)
          expect(taken).toBeLessThan(body.length + piece)
        }
      )
    )
  })

  it("goes on where a download broke off, and begins again where it is another one by now", async () => {
    const rest = await ask({ range: "bytes=600-", "if-range": '"one"' })
    expect([rest.status, rest.body.length]).toEqual([206, 400])
    for (const other of ['"two"', 'W/"one"', "Sat, 28 Nov 2026 12:00:00 GMT"]) {
      const whole = await ask({ range: "bytes=600-", "if-range": other })
      expect([whole.status, whole.body.length]).toEqual([200, 1000])
    }
    expect((await ask({ range: "bytes=-10" })).headers.get("content-range")).toBe("bytes 990-999/1000")
  })

  it("is not sent to a client that has it, compressed or not", async () => {
    for (const known of ['"one"', '"one-gzip"', 'W/"one"', '"x", "one"', "*"]) {
      const { body, headers, status } = await ask({ "if-none-match": known, range: "bytes=0-1" })
      expect([status, body.length, headers.get("cache-control")]).toEqual([304, 0, "private, no-cache"])
    }
  })

  it("is compressed where it is text and the client takes it: other bytes by another name", async () => {
    const zipped = await ask({ "accept-encoding": "gzip" })
    expect([zipped.headers.get("content-encoding"), zipped.headers.get("etag")]).toEqual([
      "gzip",
      '"one-gzip"'
    ])
    expect(zipped.headers.get("vary")).toBe("accept-encoding")
    expect(Buffer.compare(gunzipSync(zipped.body), bytes)).toBe(0)
    const picture = await ask({ "accept-encoding": "gzip" }, "image/png")
    expect([picture.headers.get("content-encoding"), picture.headers.get("vary")]).toEqual([null, null])
    expect(Buffer.compare(picture.body, bytes)).toBe(0)
    // A part is one of the plain bytes: its client puts it behind what it has.
    expect(
      (await ask({ "accept-encoding": "gzip", range: "bytes=0-9" })).headers.get("content-encoding")
    ).toBeNull()
  })

  it("has a name of its own for each content", async () => {
    const tag = async (text: string) => {
      const answer = await Effect.runPromise(
        bytesAnswer(new TextEncoder().encode(text), "text/html", { headers: {} as never }, {})
      )
      return answer.headers["etag"]
    }
    expect(await tag("a")).toBe(await tag("a"))
    expect(await tag("a")).not.toBe(await tag("b"))
  })
})

it("no header makes a range that is not in the body", () => {
  const part = fc.oneof(
    fc.constantFrom("bytes=", "-", ",", " ", "9", "0", "999999999999999", "BYTES=", "x", "=", "1"),
    fc.string({ maxLength: 3 })
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), fc.nat(2000), (parts, size) => {
      const range = rangeOf(parts.join(""), size)
      const { from, length } = typeof range === "object" ? range : { from: 0, length: 1 }
      expect(from >= 0 && length > 0 && from + length <= Math.max(size, 1)).toBe(true)
    })
  )
})

it("text that is made while it is read is compressed, and a failure in it breaks the download off", async () => {
  const download = (text: Stream.Stream<string>, headers: Record<string, string>) =>
    HttpServerResponse.toWeb(
      textDownload(text, { headers: headers as never }, { contentType: "text/csv", headers: {} })
    )
  const zipped = download(Stream.make("a,b\r\n", "1,2\r\n"), { "accept-encoding": "gzip" })
  expect(zipped.headers.get("content-encoding")).toBe("gzip")
  expect(gunzipSync(new Uint8Array(await zipped.arrayBuffer())).toString()).toBe("a,b\r\n1,2\r\n")
  expect(await download(Stream.make("a"), {}).text()).toBe("a")
  const broken = Stream.concat(Stream.make("a"), Stream.die("the log is away"))
  for (const headers of [{ "accept-encoding": "gzip" }, {}])
    await expect(download(broken, headers as never).arrayBuffer()).rejects.toBeDefined()
})
