import { assert, describe, it } from "vitest"

import {
  hasTitleRow,
  type Looks
} from "../../../../../../src/reader/stages/regions/tables/cells/table-head.ts"

const looks = (text: string): Looks => ({
  lines: [],
  text: text.replaceAll("*", ""),
  bold: text.startsWith("*"),
  numeric: /^[\d.,]+$/.test(text)
})

/** Whether a table has a title, of its rows' texts (`*`: bold); a row of one cell is over all columns. */
const isTitled = (columns: number, ...rows: ReadonlyArray<ReadonlyArray<string>>): boolean =>
  hasTitleRow(
    rows.map((row) => row.map(() => ({ colSpan: row.length === 1 ? columns : 1, rowSpan: 1 }))),
    rows.map((row) => row.map(looks))
  )

describe("a row over all columns", () => {
  it("is the title of a table whose next row surely names the columns", () => {
    assert.isTrue(
      isTitled(3, ["Loans, 2021"], ["*Town", "*Books", "*Films"], ["A", "x", "y"], ["B", "z", "w"])
    )
    assert.isTrue(isTitled(3, ["Loans, 2021"], ["Town", "Books", "Films"], ["A", "1", "2"], ["B", "3", "4"]))
    assert.isTrue(isTitled(3, ["Loans, 2021"], ["", "Books", "Films"], ["A", "1", "2"], ["B", "3", "4"]))
  })

  it("is one also where years name the columns, and where sums below are as bold as these", () => {
    const years = ["*Town", "*2019", "*2020"]
    assert.isTrue(isTitled(3, ["Loans"], years, ["A", "10", "20"], ["B", "30", "40"], ["*All", "*40", "*60"]))
    assert.isTrue(isTitled(3, ["Loans"], ["", "2019", "2020"], ["A", "10", "20"], ["B", "30", "40"]))
    assert.isFalse(isTitled(3, ["Loans"], ["Town", "19", "20"], ["A", "10", "20"], ["B", "30", "40"]))
    assert.isFalse(isTitled(3, ["Loans"], ["*A", "*x", "*y"], ["*B", "*z", "*w"], ["C", "v", "u"]))
  })

  it("is none above rows that are data, or more heads", () => {
    assert.isFalse(isTitled(3, ["North"], ["Anna", "Berlin", "10"], ["Ben", "Rome", "20"]))
    assert.isFalse(isTitled(3, ["North"], ["Anna", "Berlin", "red"], ["Ben", "Rome", "blue"]))
    assert.isFalse(isTitled(2, ["North"], ["*Anna", "*Berlin"], ["*Ben", "*Rome"]))
    assert.isFalse(isTitled(3, [""], ["*Town", "*Books", "*Films"], ["A", "1", "2"], ["B", "3", "4"]))
    assert.isFalse(isTitled(3, ["2021"], ["*Town", "*Books", "*Films"], ["A", "1", "2"], ["B", "3", "4"]))
    assert.isFalse(isTitled(3, ["Loans"], ["*Books"], ["A", "1", "2"]))
    assert.isFalse(isTitled(4, ["Loans"], ["*Town", "*Books", "*Films"], ["A", "1", "2"], ["B", "3", "4"]))
    assert.isFalse(isTitled(3, ["Loans"]))
  })
})
