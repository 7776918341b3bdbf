import { assert, it } from "@effect/vitest"

import {
  legibilityHeaders,
  legibilityOf,
  PIPELINE_HEADERS
} from "../../../src/domain/inbound/pipeline-wire.ts"
import { documentStart } from "../../../src/reader/html/shell.ts"
import { planOf, Surveyor } from "../../../src/reader/html/survey.ts"
import { type LeftOut, leftOutTexts } from "../../../src/reader/model/left-out.ts"

const NOTHING: LeftOut = { portfolio: false, files: [], fileCount: 0, remarks: 0 }
const FILES = { files: ["boats.csv"], fileCount: 1 }

it("DOC-16: what was not converted is said in sentences, and nothing where all was", () => {
  const said: ReadonlyArray<readonly [Partial<LeftOut> | undefined, ReadonlyArray<string>]> = [
    [undefined, []],
    [{}, []],
    [FILES, ["1 file attached to this PDF was not converted: “boats.csv”."]],
    [
      { files: ["a", "b"], fileCount: 7, remarks: 1 },
      [
        "7 files attached to this PDF were not converted: “a”, “b” and 5 more.",
        "1 note or remark in this PDF was not converted."
      ]
    ],
    [
      { ...FILES, portfolio: true, remarks: 2 },
      [
        "This PDF is a portfolio. Only its cover sheet was converted; the 1 file in it was not: “boats.csv”.",
        "2 notes or remarks in this PDF were not converted."
      ]
    ]
  ]
  for (const [leftOut, sentences] of said)
    assert.deepStrictEqual(leftOutTexts(leftOut && { ...NOTHING, ...leftOut }), sentences)
})

it("DOC-16: it stands above the document, as notes, whatever is in a name", () => {
  const start = (leftOut: LeftOut | undefined) =>
    documentStart(
      planOf(
        new Surveyor().survey(),
        { lang: "de", title: "Bericht", leftOut },
        { detect: () => undefined, name: undefined, notes: ["Before."] }
      )
    )
  const html = start({ ...NOTHING, files: ["<img src=x onerror=y>&"], fileCount: 1, remarks: 3 })
  assert.include(
    html,
    '<p role="note" lang="en">Before.</p><p role="note" lang="en">1 file attached to this PDF was not converted: “&lt;img src=x onerror=y&gt;&amp;”.</p><p role="note" lang="en">3 notes or remarks'
  )
  assert.notInclude(start(NOTHING), "attached")
  assert.strictEqual(start(NOTHING), start(undefined))
})

it("DOC-16: it goes over the wire, with as many names as a header may hold", () => {
  const wire = (leftOut: LeftOut | undefined) => {
    const headers = legibilityHeaders({
      unreadablePages: [],
      hasText: true,
      ...(leftOut === undefined ? {} : { leftOut })
    })
    return { headers, ...legibilityOf(new Headers(headers)) }
  }
  const some = { ...NOTHING, files: ["Übersicht, 1.pdf", "\u6587\u4ef6.pdf"], fileCount: 2, remarks: 1 }
  assert.deepStrictEqual(wire(some).leftOut, some)
  for (const leftOut of [undefined, NOTHING])
    assert.notProperty(wire(leftOut).headers, PIPELINE_HEADERS.leftOut)
  const many = {
    ...NOTHING,
    files: Array.from({ length: 20 }, (_, at) => `${at}${"\u6587".repeat(150)}`),
    fileCount: 20
  }
  const { headers, leftOut } = wire(many)
  assert.isBelow(headers[PIPELINE_HEADERS.leftOut]?.length ?? Infinity, 2_001)
  assert.deepStrictEqual(leftOut, { ...many, files: many.files.slice(0, 1) })
  for (const odd of ["%", "{}", "%7B", '{"portfolio":1}'])
    assert.notProperty(legibilityOf(new Headers({ [PIPELINE_HEADERS.leftOut]: odd })), "leftOut")
})
