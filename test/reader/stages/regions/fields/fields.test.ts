import { assert, describe, it } from "vitest"

import type { Box, FormField, PageContent } from "../../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, lines, page, prose, rule, run, tag } from "../../page-builder.ts"

const htmlOf = (content: PageContent, tagged = false): string =>
  (
    layoutPages({ facts: { ...FACTS, tagged }, fonts: FONTS, pages: [content], others: NO_STATISTICS })[0]
      ?.html ?? ""
  ).replaceAll(/ data-(open|cut|element)="\d*"/g, "")

const field = (kind: FormField["kind"], box: Box, more: Partial<FormField> = {}): FormField => ({
  box,
  kind,
  name: "x",
  label: undefined,
  value: "",
  checked: false,
  options: [],
  ...more
})
const tick = (x: number, y: number, more: Partial<FormField> = {}) =>
  field("checkbox", { x0: x, y0: y - 9, x1: x + 10, y1: y + 1 }, more)
const intro = lines(prose(40), 60, 60, 80)
const ticked = (label: string, checked = "") =>
  `<p><label><input type="checkbox"${checked} disabled=""> ${label}</label></p>`

describe("form fields", () => {
  it("check boxes have the words beside them, wrapped lines included, under the question that they answer", () => {
    const choices = ["Books", "Music from all over the world, which", "Films"]
    const label = "a check box"
    const html = htmlOf(
      page(
        [
          ...intro,
          run("What are you interested in?", 60, 200),
          ...choices.map((choice, at) => run(choice, 80, 220 + 30 * at)),
          run("we send to you by post", 80, 262)
        ],
        0,
        {
          fields: choices.map((_, at) =>
            tick(62, 220 + 30 * at, { label, name: `c${at}`, checked: at === 2 })
          )
        }
      )
    )
    const legend = "<fieldset><legend>What are you interested in?</legend>"
    const music = ticked("Music from all over the world, which we send to you by post")
    assert.include(html, `${legend}${ticked("Books")}${music}${ticked("Films", ' checked=""')}</fieldset>`)
    assert.strictEqual(html.split("interested").length, 2)
  })

  it("a description that says less than the printed words takes none of them away", () => {
    const html = htmlOf(
      page([...intro, run("Name (as in your passport):", 60, 200), run("Street", 60, 230)], 0, {
        fields: [
          field("text", { x0: 230, y0: 190, x1: 400, y1: 204 }, { label: "Name" }),
          field("text", { x0: 230, y0: 220, x1: 400, y1: 234 }, { name: "y", label: "Street and number" })
        ]
      })
    )
    assert.include(html, "<label>Name (as in your passport) <input")
    assert.include(html, "<label>Street and number <input")
    assert.notInclude(html, "<p>Street")
  })

  it("a sentence above check boxes that asks nothing stays text", () => {
    const html = htmlOf(
      page([...intro, run("Thank you for your help.", 60, 200), run("Yes", 80, 220), run("No", 80, 240)], 0, {
        fields: [tick(62, 220), tick(62, 240, { name: "y" })]
      })
    )
    assert.include(html, `<p>Thank you for your help.</p>${ticked("Yes")}${ticked("No")}`)
  })

  it("words before the buttons of a line are theirs where none stands behind the last one", () => {
    const radio = (x: number) => field("radio", { x0: x, y0: 191, x1: x + 10, y1: 201 }, { name: "pay" })
    const html = htmlOf(
      page([...intro, run("How do you pay? Cash", 60, 200), run("Card", 190, 200)], 0, {
        fields: [radio(165), radio(215)]
      })
    )
    const answers = ["Cash", "Card"].map(
      (answer) => `<p><label><input type="radio" disabled=""> ${answer}</label></p>`
    )
    assert.include(html, `<fieldset><legend>How do you pay?</legend>${answers.join("")}</fieldset>`)
  })

  it("keeps what a field is: its choices, its length, whether it must be filled or cannot be", () => {
    const html = htmlOf(
      page([...intro, run("Code:", 60, 200), run("Land:", 60, 230), run("Notes:", 60, 260)], 0, {
        fields: [
          field(
            "text",
            { x0: 110, y0: 190, x1: 200, y1: 204 },
            { required: true, maxLength: 8, readOnly: true }
          ),
          field(
            "choice",
            { x0: 110, y0: 220, x1: 200, y1: 234 },
            { name: "land", options: ["A", "B", "C"], chosen: ["A", "C"] }
          ),
          field("text", { x0: 110, y0: 250, x1: 200, y1: 264 }, { name: "n", multiline: true, value: "one" })
        ]
      })
    )
    assert.include(
      html,
      'Code <input type="text" value="" readonly="" maxlength="8" required="" disabled="">'
    )
    assert.include(
      html,
      '<select multiple="" disabled=""><option selected="">A</option><option>B</option><option selected="">C</option></select>'
    )
    assert.include(html, 'Notes <textarea disabled="">one</textarea>')
  })

  it("fields in the cells of a table stay there, named by their row and column", () => {
    const [xs, ys] = [
      [60, 160, 260, 360],
      [200, 220, 240, 260]
    ]
    const head = ["Item", "Number", "Price"].map((word, at) => run(word, 65 + 100 * at, 214))
    const firsts = ["Pencils", "Paper"].map((word, at) => run(word, 65, 234 + 20 * at))
    const html = htmlOf(
      page([...intro, ...head, ...firsts], 0, {
        drawings: [...xs.map((x) => rule(x, 200, x, 260)), ...ys.map((y) => rule(60, y, 360, y))],
        fields: [165, 265].flatMap((x) =>
          [222, 242].map((y) => field("text", { x0: x, y0: y, x1: x + 80, y1: y + 15 }, { name: `${x}${y}` }))
        )
      })
    )
    const cell = (label: string) =>
      `<td><p><input type="text" value="" disabled="" aria-label="${label}"></p></td>`
    assert.include(html, `<td>Pencils</td>${cell("Pencils, Number")}${cell("Pencils, Price")}`)
    assert.include(html, `<td>Paper</td>${cell("Paper, Number")}${cell("Paper, Price")}`)
  })

  it("stand beside their words on a tagged page, too, and never all at its end", () => {
    const words = ["First name", "Your town and your country are", "The end"]
    const runs = words.map((word, mcid) => run(word, 60, 200 + 30 * mcid, { mcid }))
    const text = (y: number, name: string, label?: string) =>
      field("text", { x0: 250, y0: y - 10, x1: 400, y1: y + 4 }, { name, label })
    const html = htmlOf(
      page(runs, 0, {
        structure: [tag("P", [0]), tag("P", [1]), tag("P", [2])],
        fields: [text(230, "b", "Residence"), text(200, "a")]
      }),
      true
    )
    assert.strictEqual(
      html,
      '<p><label>First name <input type="text" value="" disabled=""></label></p>' +
        '<p>Your town and your country are</p><p><label>Residence <input type="text" value="" disabled=""></label></p>' +
        "<p>The end</p>"
    )
  })

  it("very many fields over one another, and words beside them, are looked at within bounds", () => {
    const fields = Array.from({ length: 5_000 }, (_, at) => tick(60, 200, { name: `f${at}` }))
    const beside = Array.from({ length: 3_000 }, (_, at) => run("o", 60 + at, 200, { size: 2 }))
    const html = htmlOf(page([...intro, ...beside], 0, { fields }))
    assert.strictEqual(html.split('<input type="checkbox"').length, 401)
  })
})
