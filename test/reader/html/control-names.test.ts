import { assert, describe, it } from "@effect/vitest"

import { controlNames } from "../../../src/reader/html/control-names.ts"
import { parseFragment } from "../../../src/reader/html/parse-fragment.ts"

const namesOf = (html: string) => [...controlNames(parseFragment(html)).values()]
const tick = '<input type="checkbox">'
const field = '<input type="text">'

describe("names of controls", () => {
  it("are the words of a line that has one, without the colon", () => {
    assert.deepStrictEqual(namesOf(`<p>Agree ${tick} yes <b>I do</b></p>`), ["Agree yes I do"])
    assert.deepStrictEqual(namesOf(`<p>Name: ${field}</p>`), ["Name"])
  })

  it("are the words behind a tick and before a field, where a line has more", () => {
    assert.deepStrictEqual(namesOf(`<p>${tick} Yes ${tick} No</p>`), ["Yes", "No"])
    assert.deepStrictEqual(namesOf(`<p>Day ${field} Month ${field}</p>`), ["Day", "Month"])
    assert.deepStrictEqual(namesOf(`<p>Yes ${tick}<br>No ${tick}</p>`), ["Yes", "No"])
  })

  it("are those of the cells around one that is alone in its cell", () => {
    const table = (...rows: ReadonlyArray<ReadonlyArray<string>>) =>
      `<table>${rows.map((cells) => `<tr>${cells.map((cell) => `<td><p>${cell}</p></td>`).join("")}</tr>`).join("")}</table>`
    assert.deepStrictEqual(namesOf(table([tick, "Letter"], [tick, "Passport"])), ["Letter", "Passport"])
    assert.deepStrictEqual(namesOf(table(["Name:", field], ["Port", field])), ["Name", "Port"])
    const asked = table(["", "Yes", "No"], ["Ship", tick, tick])
    assert.deepStrictEqual(namesOf(asked), ["Ship, Yes", "Ship, No"])
    assert.deepStrictEqual(namesOf(table([tick, `Other ${tick}`], ["", field])), ["Other"])
  })

  it("are never those of another block or item, and none where no word is", () => {
    assert.deepStrictEqual(namesOf(`<p>Before</p><p>${tick}</p>`), [])
    assert.deepStrictEqual(namesOf(`<table><tr><td></td><td>${tick}</td></tr></table>`), [])
    assert.deepStrictEqual(namesOf(`<ul><li>One ${tick}<ul><li>Two</li></ul></li></ul>`), ["One"])
  })

  it("end, however long the line or deep the tree", () => {
    const [name = ""] = namesOf(`<p>${"word ".repeat(100_000)}${tick}</p>`)
    assert.isAtMost(name.length, 120)
    assert.deepStrictEqual(namesOf(`${"<span>".repeat(5000)}${tick}`), [])
  })
})
