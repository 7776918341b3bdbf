import * as fc from "fast-check"
import PostalMime from "postal-mime"
import { assert, describe, it } from "vitest"

import { readHead } from "../../../src/adapters/postal-mime/read-head.ts"
import { readMail } from "../../../src/adapters/postal-mime/read-mail.ts"

const PIECES = [
  "From: ann@reader.test",
  "from : Ann <ann@reader.test>",
  "\u00a0From: x@y.test",
  "\ufeffFrom: x@y.test",
  "From",
  "Authentication-Results: mx.hop.test; dmarc=pass",
  " folded",
  "\t",
  "a\rb: c\rd",
  ":",
  "x:y:z",
  "ü: ß",
  "\n",
  "\r\n",
  "\r\r\n",
  "\r",
  "\n\n",
  "body"
]

describe("the header section by itself (H4)", () => {
  it("is what the parser of whole mails makes of it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }), async (pieces) => {
        const raw = new TextEncoder().encode(pieces.join(""))
        const { headers } = await PostalMime.parse(raw)
        const head = readHead(raw)
        assert.deepStrictEqual(
          head.headers,
          headers.map(({ key, value }) => ({ name: key, value }))
        )
        const whole = await readMail(raw)
        if (whole.kind === "read") assert.deepStrictEqual(head.from, whole.mail.from)
      }),
      { numRuns: 2_000 }
    )
  })
})
