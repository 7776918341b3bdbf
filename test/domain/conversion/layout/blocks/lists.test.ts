import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../../src/domain/conversion/layout/layout-pages.ts"
import { NO_STATISTICS } from "../../../../../src/domain/conversion/layout/statistics.ts"
import { FACTS, FONTS, page, run } from "../page-builder.ts"

/** Items at their indents, a line each. */
const htmlOf = (...items: ReadonlyArray<readonly [text: string, x: number]>): string =>
  layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: [page(items.map(([text, x], at) => run(text, x, 100 + 14 * at)))],
    others: NO_STATISTICS
  })[0]?.html.replaceAll(/ data-(open|cut)=""/g, "") ?? ""

describe("nested lists", () => {
  it("have three levels by their indents, each with its marks and its start", () => {
    assert.strictEqual(
      htmlOf(
        ["3. three", 60],
        ["• inner", 80],
        ["◦ deep", 100],
        ["◦ deeper", 100],
        ["• other", 80],
        ["4. four", 60],
        ["b) letter", 80],
        ["c) letter", 80]
      ),
      '<ol start="3"><li>three<ul><li>inner<ul><li>deep</li><li>deeper</li></ul></li><li>other</li></ul></li>' +
        '<li>four<ol start="2" type="a"><li>letter</li><li>letter</li></ol></li></ol>'
    )
  })

  it("bullets between a number and the next one are inside of it without an indent, too", () => {
    assert.strictEqual(
      htmlOf(
        ["1. one", 60],
        ["• inner", 62],
        ["• other", 62],
        ["2. two", 60],
        ["• last", 62],
        ["3. three", 60]
      ),
      "<ol><li>one<ul><li>inner</li><li>other</li></ul></li><li>two<ul><li>last</li></ul></li><li>three</li></ol>"
    )
  })

  it("bullets behind a list that does not go on are a list of their own", () => {
    assert.strictEqual(
      htmlOf(["1. one", 60], ["2. two", 60], ["• point", 62], ["• other", 62]),
      "<ol><li>one</li><li>two</li></ol><ul><li>point</li><li>other</li></ul>"
    )
  })
})
