import { assert, it } from "vitest"

import { PageFold } from "../../../../src/domain/conversion/html/fold.ts"
import { planOf, Surveyor } from "../../../../src/domain/conversion/html/survey.ts"
import { element } from "../../../../src/domain/conversion/html/tree.ts"

it("a page is written whole, however many blocks it has", () => {
  const nodes = Array.from({ length: 250_000 }, (_, at) => element("p", {}, [String(at)]))
  const surveyor = new Surveyor()
  surveyor.add(nodes)
  const facts = { lang: "en", title: undefined }
  const fold = new PageFold(planOf(surveyor.survey(), facts, { detect: () => undefined, name: undefined }))
  const html = fold.add({ index: 0, label: "1", nodes }) + fold.end()
  assert.strictEqual(html.match(/<p>\d+<\/p>/g)?.length, nodes.length)
})
