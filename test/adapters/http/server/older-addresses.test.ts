import { assert, describe, it } from "@effect/vitest"
import { Headers } from "effect/http"

import { siteOf } from "../../../../src/adapters/http/server/credentials.ts"

const site = siteOf({
  baseUrl: "https://api.example.com",
  olderBaseUrls: ["https://old.example.com/app", "https://api.example.org:8443"]
})
const of = (headers: Readonly<Record<string, string>>) => site({ headers: Headers.fromInput(headers) })

describe("pages of our older addresses (HTTP-5)", () => {
  it("are ours, whichever of our hosts they ask and whatever the browser calls that", () => {
    for (const fetchSite of ["same-origin", "same-site", "cross-site", undefined]) {
      const headers = fetchSite === undefined ? {} : { "sec-fetch-site": fetchSite }
      assert.strictEqual(
        of({ ...headers, origin: "https://old.example.com", host: "api.example.com" }),
        "own"
      )
      assert.strictEqual(of({ ...headers, origin: "https://api.example.org:8443" }), "own")
    }
  })

  it("are those of exactly these origins", () => {
    for (const origin of [
      "http://old.example.com",
      "https://old.example.com:8443",
      "https://old.example.com.evil.example",
      "https://api.example.org",
      "https://sub.old.example.com"
    ]) {
      assert.strictEqual(of({ "sec-fetch-site": "cross-site", origin }), "other", origin)
      assert.strictEqual(of({ origin, host: "api.example.com" }), "other", origin)
    }
    assert.strictEqual(of({ origin: "null" }), "unknown")
  })

  it("are none where no older address is set", () => {
    const current = siteOf({ baseUrl: "https://api.example.com" })
    const headers = Headers.fromInput({ "sec-fetch-site": "cross-site", origin: "https://old.example.com" })
    assert.strictEqual(current({ headers }), "other")
  })
})
