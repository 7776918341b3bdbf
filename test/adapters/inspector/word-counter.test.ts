import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

import { WordCounter } from "../../../src/adapters/inspector/word-counter.ts"

const counted = (xml: string, cuts: ReadonlyArray<number> = []) => {
  const counter = new WordCounter()
  const bytes = Buffer.from(xml)
  let from = 0
  for (const cut of [...cuts].map((at) => at % (bytes.length + 1)).sort((a, b) => a - b)) {
    counter.add(bytes.subarray(from, cut))
    from = cut
  }
  counter.add(bytes.subarray(from))
  return { words: counter.words, paragraphs: counter.paragraphs, breaks: counter.breaks }
}

const SAMPLE =
  '<w:p><w:r><w:t xml:space="preserve">One tw</w:t></w:r><w:r><w:t>o thrée</w:t></w:r></w:p>' +
  "<w:p><w:r><w:instrText>PAGE NUMBER</w:instrText><w:t/>four<w:t>five</w:t><w:tab/><w:t>six</w:t></w:r></w:p>" +
  '<w:p><w:r><w:lastRenderedPageBreak/><w:t>東京都庁</w:t><w:br w:type="page"/><w:br/></w:r></w:p>'

it("counts words over runs, and letters of scripts without spaces by halves", () => {
  assert.deepStrictEqual(counted(SAMPLE), { words: 7, paragraphs: 3, breaks: 2 })
})

it.prop(
  "counts the same however the bytes come, words at a cut aside",
  { cuts: Schema.Array(Schema.Natural) },
  ({ cuts }) => {
    const whole = counted(SAMPLE)
    const cut = counted(SAMPLE, cuts)
    assert.deepStrictEqual(cut, whole)
  },
  { arbitrary: { runs: 300 } }
)
