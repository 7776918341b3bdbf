import { assert, describe, it } from "@effect/vitest"

import { loadQpdf } from "../../../../../src/reader/sources/pdf/engine/qpdf.ts"

/** qpdf's exit code for a file that it cannot read. */
const FAILURE = 2

describe("qpdf", () => {
  it("may be run any number of times: arguments are not left on its stack of 64 KiB, nor what stood there at an error", async () => {
    const qpdf = await loadQpdf()
    const long = "x".repeat(4_000)
    const codes = Array.from({ length: 100 }, () => qpdf.callMain([long, "--show-npages"]))
    assert.deepStrictEqual(new Set(codes), new Set([FAILURE]))
  })

  it("several may be loaded at once, each with its own memory", async () => {
    const [one, other] = await Promise.all([loadQpdf(), loadQpdf()])
    one.FS.mkdir("/only-here")
    assert.include(one.FS.readdir("/"), "only-here")
    assert.notInclude(other.FS.readdir("/"), "only-here")
  })
})
