import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { call, startServer, type TestServer } from "../harness.ts"

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

describe.each(["/openapi.json", "/docs"])("what is the same for everybody (%s)", (path) => {
  const get = async (headers: Record<string, string>) => {
    const answer = await fetch(`${server.url}${path}`, { headers })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }

  it("is not sent again to a client that has it", async () => {
    for (const accepted of ["identity", "gzip"]) {
      const etag = (await get({ "accept-encoding": accepted })).headers.get("etag")
      expect(etag).toMatch(/^"[\w-]+"$/)
      for (const known of [`${etag}`, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await get({ "accept-encoding": accepted, "if-none-match": known })
        expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag])
      }
      expect((await get({ "accept-encoding": accepted, "if-none-match": '"other"' })).status).toBe(200)
    }
  })

  it("is compressed for clients that say so, to the same bytes", async () => {
    const plain = await call(server, path, { headers: { "accept-encoding": "gzip;q=0, br" } })
    expect(plain.headers["content-encoding"]).toBeUndefined()
    const zipped = await get({ "accept-encoding": "br;q=0.5, gzip;q=0.1" })
    expect(zipped.headers.get("content-encoding")).toBe("gzip")
    expect(zipped.headers.get("vary")).toBe("accept-encoding")
    expect(Number(zipped.headers.get("content-length"))).toBeLessThan(plain.text.length / 2)
    expect(zipped.text).toBe(plain.text)
  })
})
