import { expect, it } from "vitest"

import { descriptionIn, fits, listOf, rowsOf } from "../../../src/reader/html/repair.ts"
import { element, type HtmlNode } from "../../../src/reader/model/html-tree.ts"

const rowsWith = (...rows: ReadonlyArray<ReadonlyArray<string>>) =>
  rowsOf(
    element("table", {}, [
      element(
        "tbody",
        {},
        rows.map((cells) =>
          element(
            "tr",
            {},
            cells.map((cell) => element("td", {}, [cell]))
          )
        )
      )
    ])
  )

it("a table fits where its longest words do, beside each other, on a narrow page", () => {
  expect(fits(rowsWith(["type", "a text of many words, which goes on over the lines of its cell"]))).toBe(
    true
  )
  expect(fits(rowsWith(["Completed", "Configuration"]))).toBe(true)
  expect(fits(rowsWith(["Completed", "OneType,OtherType,ThirdType"]))).toBe(false)
  // Capitals are wider.
  expect(fits(rowsWith(["completed.jobs", "configuration"]))).toBe(true)
  expect(fits(rowsWith(["COMPLETED.JOBS", "CONFIGURATION"]))).toBe(false)
  // Each column is as wide as its own longest word, of whichever script.
  expect(fits(rowsWith(["type", "a".repeat(20)], ["a".repeat(20), "type"]))).toBe(false)
  expect(fits(rowsWith(["тип", "б".repeat(30)]))).toBe(false)
  // Lines end between any two of these signs, and after hyphens.
  expect(fits(rowsWith(["語".repeat(90), "one-of-many-words-".repeat(9)]))).toBe(true)
  expect(fits(rowsWith(["a", "b", "c", "d"]))).toBe(true)
  expect(fits(rowsWith(["a".repeat(6), "b".repeat(6), "c".repeat(6), "d".repeat(6)]))).toBe(true)
  expect(fits(rowsWith(Array.from({ length: 20 }, () => "")))).toBe(true)
  expect(fits(rowsWith(Array.from({ length: 22 }, () => "")))).toBe(false)
})

it("a list in the only item of a list, which says nothing else, stands for both", () => {
  const item = (...inside: ReadonlyArray<HtmlNode>) => element("li", {}, inside)
  const inner = element("ol", {}, [item("a"), item("b")])
  expect(listOf("ul", {}, [item(inner)])).toEqual([inner])
  const kept = [[item("x", inner)], [item(inner), item("y")], [item("a")], [item(element("p", {}, ["a"]))]]
  for (const items of kept)
    expect(listOf("ul", { id: "l" }, items)).toEqual([element("ul", { id: "l" }, items)])
  expect(listOf("ul", {}, [" "])).toEqual([])
  expect(listOf("ul", {}, ["loose"])).toEqual([element("ul", {}, [item("loose")])])
})

it("what programs call a picture says nothing of it", () => {
  const nothing = [
    undefined,
    " ",
    "image7.png",
    "Picture 3",
    "Grafik 12",
    "Image",
    "\\\\server\\My pictures\\cat photo.jpg",
    "/pictures/cat"
  ]
  for (const alt of nothing) expect(descriptionIn(alt)).toBe(undefined)
  for (const alt of ["A cat", "Picture of a cat", "See cat.png", "Image 3: a cat", "1/2 cup"])
    expect(descriptionIn(alt)).toBe(alt)
  expect(descriptionIn("A cat on a mat\n\nDescription automatically generated")).toBe("A cat on a mat")
})
