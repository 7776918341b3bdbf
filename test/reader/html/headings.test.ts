import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { parseFragment } from "../../../src/reader/html/parse-fragment.ts"
import { placeHeading, planOf, startHeadings, Surveyor } from "../../../src/reader/html/survey.ts"

const placed = (levels: ReadonlyArray<number>, ownTitle: boolean): ReadonlyArray<number> => {
  let state = startHeadings(ownTitle)
  return levels.map((level) => {
    const next = placeHeading(state, level)
    state = next.state
    return next.level
  })
}

describe("headings of a document", () => {
  it("keep their ranks where these are sound", () => {
    assert.deepStrictEqual(placed([1, 2, 3, 3, 2, 3, 4], true), [1, 2, 3, 3, 2, 3, 4])
  })

  it("close gaps, and every first-level heading but the title is a second", () => {
    assert.deepStrictEqual(placed([1, 3, 5, 3, 1, 2], true), [1, 2, 3, 2, 2, 3])
    assert.deepStrictEqual(placed([1, 2, 1, 4], false), [2, 3, 2, 3])
  })

  it("are below the first one where that is tagged as the title, whatever their level; a later one is none", () => {
    const ownTitleOf = (html: string): boolean => {
      const surveyor = new Surveyor()
      surveyor.add(parseFragment(html))
      return planOf(
        surveyor.survey(),
        { lang: undefined, title: undefined },
        { detect: () => "en", name: "scan.pdf" }
      ).ownTitle
    }
    assert.isTrue(ownTitleOf('<h1 data-title="">Annual report</h1><h1>Members</h1>'))
    assert.isFalse(ownTitleOf("<h1>Annual report</h1><h1>Members</h1>"))
    assert.isFalse(ownTitleOf('<h1>Members</h1><h1 data-title="">Annual report</h1>'))
  })

  it("have at most one h1 and skip no level, whatever the pages say", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 6 })), fc.boolean(), (levels, ownTitle) => {
        const all = placed(levels, ownTitle)
        assert.isAtMost(all.filter((level) => level === 1).length, ownTitle ? 1 : 0)
        for (const [at, level] of all.entries()) {
          assert.isTrue(level >= 1 && level <= 6)
          assert.isAtMost(level, at === 0 ? 2 : (all[at - 1] ?? 1) + 1)
        }
      })
    )
  })
})
