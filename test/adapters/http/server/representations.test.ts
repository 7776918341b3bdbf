import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { preferredType } from "../../../../src/adapters/http/server/representations.ts"

const OFFERED = ["text/html", "text/markdown", "text/plain", "application/json"] as const

describe("preferredType", () => {
  it.each([
    [undefined, "text/html"],
    ["", "text/html"],
    ["*/*", "text/html"],
    // Firefox, Chrome; axios.
    ["text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "text/html"],
    ["application/json, text/plain, */*", "text/html"],
    ["application/json", "application/json"],
    ["Text/Markdown", "text/markdown"],
    ["text/markdown, text/html;q=0.5", "text/markdown"],
    ["text/*;q=0.5, application/json", "application/json"],
    ["text/html;q=0, */*", "text/markdown"],
    ["text/html;level=1", "text/html"],
    ["text/plain;q=0.3, text/markdown;q=0.7", "text/markdown"],
    ["image/png", undefined],
    ["text/html;q=0", undefined],
    ["application/pdf, image/*", undefined]
  ])("%s: %s", (accept, type) => {
    expect(preferredType(accept, OFFERED)).toBe(type)
  })

  it("is total, and names only what is offered", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."text/html*;q=0.1, json".split("")) }), (accept) => {
        const type = preferredType(accept, OFFERED)
        expect(type === undefined || OFFERED.includes(type)).toBe(true)
      })
    )
  })
})
