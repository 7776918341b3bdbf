import { assert, it } from "@effect/vitest"

import {
  legibilityHeaders,
  legibilityOf,
  PIPELINE_HEADERS
} from "../../../src/domain/inbound/pipeline-wire.ts"
import { Doubt, type DoubtfulPages, doubtfulPages, doubtTexts } from "../../../src/reader/model/doubt.ts"

it("DOC-28: each reason is a sentence, with its first pages", () => {
  const pages = Array.from({ length: 30 }, (_, at) => at + 1)
  const [one, many, ...more] = doubtTexts([
    { reason: "odd_angles", pages: [7] },
    { reason: "unseen_text", pages },
    ...Array.from({ length: 50 }, (): DoubtfulPages => ({ reason: "unseen_text", pages: [1] }))
  ])
  assert.match(one ?? "", /^Page 7 needs a look beside the original: .+\.$/)
  assert.match(many ?? "", /^Pages 1, 2, .+ 20 and 10 more need a look/)
  // Whatever a document holds, there are no more sentences than reasons.
  assert.lengthOf(more, Doubt.literals.length - 2)
  assert.deepStrictEqual(doubtTexts([]), [])
})

it("DOC-28: pages are named by reason, in order", () => {
  const found = new Map<number, ReadonlyArray<Doubt>>([
    [4, ["unseen_text", "tags_disagree"]],
    [0, ["unseen_text"]]
  ])
  assert.deepStrictEqual(doubtfulPages(found), [
    { reason: "tags_disagree", pages: [5] },
    { reason: "unseen_text", pages: [1, 5] }
  ])
})

it("DOC-28: they go through the headers of the pipeline, and what is none of them is left out", () => {
  const wire = (doubtful: ReadonlyArray<DoubtfulPages>) => {
    const headers = legibilityHeaders({ unreadablePages: [], hasText: true, doubtfulPages: doubtful })
    return { headers, ...legibilityOf(new Headers(headers)) }
  }
  const some: ReadonlyArray<DoubtfulPages> = [{ reason: "tags_disagree", pages: [2, 3] }]
  assert.deepStrictEqual(wire(some).doubtfulPages, some)
  assert.notProperty(wire([]).headers, PIPELINE_HEADERS.doubtfulPages)
  const pages = Array.from({ length: 5_000 }, (_, at) => 10_000 + at)
  const most = wire(Doubt.literals.map((reason) => ({ reason, pages })))
  assert.isBelow(most.headers[PIPELINE_HEADERS.doubtfulPages]?.length ?? Infinity, 3_000)
  for (const odd of ["%", "{}", "%7B", '[{"reason":"none","pages":[1]}]'])
    assert.notProperty(legibilityOf(new Headers({ [PIPELINE_HEADERS.doubtfulPages]: odd })), "doubtfulPages")
})
