import { assert, it } from "@effect/vitest"

import { measurePdf, pdfTable } from "./pdf.ts"

it("every row of the PDF benchmark runs, and its table holds it", () => {
  const lines = measurePdf([3])
  assert.deepStrictEqual(
    lines.map(({ file, operation, pages }) => [file, operation, pages]),
    ["pages", "split", "blank"].map((operation) => ["3-pages.pdf", operation, 3])
  )
  for (const { cpuSeconds, peakBytes, seconds } of lines)
    assert.isTrue(cpuSeconds > 0 && peakBytes > 0 && seconds > 0)
  assert.lengthOf(pdfTable(lines).split("\n"), lines.length + 2)
})
