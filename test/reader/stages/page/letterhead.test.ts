/** The title of a letter, an invoice or a report: not the name of who sent it. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { FONT, htmlOf, lines, prose, run } from "../page-builder.ts"

const bold = { font: FONT.bold }
const sender = run("Norrvik Harbour Ltd", 60, 60, { ...bold, size: 20 })
const address = (called: string) =>
  ["Dock Street 4", "4411 Norrvik", called].map((text, at) => run(text, 60, 80 + 11 * at, { size: 8 }))
const recipient = ["Ms Eva Holm", "Hill Road 7"].map((text, at) => run(text, 60, 160 + 12 * at))
const body = lines(prose(80), 60, 320, 90)
const titleOf = (...runs: ReadonlyArray<TextRun>): string | undefined =>
  /<h\d>(.*?)<\/h\d>/.exec(htmlOf([...runs, ...body]))?.[1]

describe("the title of a document with a letterhead", () => {
  it("is the subject of a letter", () => {
    const subject = run("Renewal of your berth", 60, 240, { ...bold, size: 14 })
    for (const salutation of ["Dear Ms Holm,", "Sehr geehrte Frau Holm,", "Madame,", "Estimada Eva:"])
      assert.strictEqual(
        titleOf(sender, ...address("Dock 3"), ...recipient, subject, run(salutation, 60, 290)),
        "Renewal of your berth",
        salutation
      )
  })

  it("is what stands below the sender's address, which tells a telephone or the form of a company", () => {
    const invoice = run("Invoice of May", 60, 240, { ...bold, size: 16 })
    assert.strictEqual(titleOf(sender, ...address("Tel. +47 22 33 44"), invoice), "Invoice of May")
    assert.strictEqual(titleOf(sender, ...address("Norway"), invoice), "Invoice of May")
  })

  it("is the first one where authors are below it, where text is, or where there is no other", () => {
    const title = run("A study of harbours", 60, 60, { ...bold, size: 20 })
    const section = run("Boats of the north", 60, 240, { ...bold, size: 14 })
    const history = run("History and hints,", 60, 270)
    assert.strictEqual(titleOf(title, section, history), "A study of harbours")
    const author = run("Eva Holm, eva@lindby.test", 60, 80)
    assert.strictEqual(titleOf(title, author, section), "A study of harbours")
    assert.strictEqual(titleOf(sender, ...lines(prose(60, 2), 60, 90, 90), section), "Norrvik Harbour Ltd")
    assert.strictEqual(titleOf(sender, ...address("Tel. +47 22 33 44")), "Norrvik Harbour Ltd")
  })

  it("may end in a year, and is no date then", () => {
    const report = run("Annual report 2026", 60, 60, { ...bold, size: 24 })
    const date = run("London, May 2026", 60, 100, { ...bold, size: 14 })
    assert.strictEqual(titleOf(report, date), "Annual report 2026")
    const company = run("Norrvik", 60, 60, { ...bold, size: 14 })
    assert.strictEqual(
      titleOf(company, { ...report, ...run(report.text, 60, 120, { ...bold, size: 24 }) }),
      "Annual report 2026"
    )
  })
})
