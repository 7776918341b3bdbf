import { describe, expect, it } from "vitest"

import { readContent } from "./score.ts"
import { pageDiffers, pageIsWrong } from "./wrong-pages.ts"

describe("a page of a result", () => {
  const table = (rows: string) => `<table>${rows}</table>`
  const words = Array.from({ length: 30 }, (_, at) => `word${at}`)
  const rows = "<tr><td>Ann</td><td>Rome</td></tr><tr><td>Ben</td><td>Oslo</td></tr>"
  const truth = readContent(`<p>${words.join(" ")}</p>${table(rows)}`)
  const isWrong = (page: ReturnType<typeof readContent>): boolean => {
    const wrong = pageIsWrong(truth)(page)
    expect(pageDiffers(truth)(page)).toBe(wrong)
    return wrong
  }

  it("is right with a part of the truth in its order, and with few words", () => {
    for (const html of [
      `<p>${words.slice(10).join(" ")}</p>`,
      `<p>${words.join(" ")}</p>${table(rows)}`,
      "<p>Else</p>"
    ])
      expect(isWrong(readContent(html))).toBe(false)
  })

  it("is right with a table of what the truth has as text, and wrong with its cells cut in another way", () => {
    const listed = "<tr><td>word3</td><td>word4 word5</td></tr><tr><td>word6</td><td>word7</td></tr>"
    const text = `<p>${words.slice(8).join(" ")}</p>`
    expect(isWrong(readContent(`${table(listed)}${text}`))).toBe(false)
    const cut = "<tr><td>Ann Rome</td><td></td></tr><tr><td>Ben Oslo</td><td></td></tr>"
    expect(isWrong(readContent(`${text}${table(cut)}`))).toBe(true)
  })

  it("is wrong with words in another order, and with cells in other rows", () => {
    const mixed = words.flatMap((word, at) => (at < 15 ? [word, words[29 - at] ?? ""] : []))
    expect(isWrong(readContent(`<p>${mixed.join(" ")}</p>`))).toBe(true)
    const apart = "<tr><td>Ann</td><td>Oslo</td></tr><tr><td>Ben</td><td>Rome</td></tr>"
    expect(isWrong(readContent(`<p>${words.join(" ")}</p>${table(apart)}`))).toBe(true)
  })

  const textOf = (at: number) => `<p>${words.slice(at).join(" ")}</p>`
  const of = (truthHtml: string, html: string): readonly [boolean, boolean] => {
    const [known, page] = [readContent(truthHtml), readContent(html)]
    return [pageIsWrong(known)(page), pageDiffers(known)(page)]
  }

  it("is not wrong for words that the truth leaves out, but for its own in another order, torn or glued", () => {
    const other = Array.from({ length: 20 }, (_, at) => `else${at}`)
    expect(of(textOf(0), `${textOf(15)}<p>${other.join(" ")}</p>`)).toEqual([false, true])
    const torn = words.flatMap((word) => [word.slice(0, 2), word.slice(2)]).join(" ")
    expect(of(textOf(0), `<p>${torn}</p>`)).toEqual([true, true])
    const glued = words.flatMap((word, at) => (at % 2 === 0 ? [`${word}${words[at + 1]}`] : [])).join(" ")
    expect(of(textOf(0), `<p>${glued}</p>`)).toEqual([true, true])
  })

  it("is not wrong for spaces in scripts that have none, and for bullets", () => {
    expect(
      of(
        "<p>live-buildはGitバージョン管理システムで使われます</p>",
        "<p>live-build は Git バージョン 管理 システム で使われます</p>"
      )
    ).toEqual([false, false])
    const items = words.map((word) => `<li>o ${word}</li>`).join("")
    expect(of(`<ul>${items}</ul>`, textOf(0))).toEqual([false, true])
  })

  const rowOf = (...cells: ReadonlyArray<string>) =>
    `<tr>${cells.map((one) => `<td>${one}</td>`).join("")}</tr>`
  const whole = [
    rowOf("Ann", "lives in Rome now"),
    rowOf("Ben", "lives in Oslo"),
    rowOf("Cid", "was in Bern then")
  ]

  it("is not wrong for the numbers of a list, cells over several columns or rows, and columns without a word", () => {
    const made = [
      rowOf("[1] Ann", "", "lives in Rome now"),
      '<tr><td>Ben</td><td></td><td colspan="2">lives in Oslo</td></tr>',
      rowOf("Cid", "", "was in Bern then")
    ]
    expect(of(textOf(0) + table(whole.join("")), textOf(10) + table(made.join("")))).toEqual([false, true])
    const named = ["Towns", "Rome", "Oslo"].map((town, at) =>
      rowOf(at === 0 ? "All" : "", town, `${at} of them`)
    )
    const spanning = named.map((row, at) =>
      at === 0 ? row.replace("<td>", '<td rowspan="3">') : row.replace("<td></td>", "")
    )
    expect(of(textOf(0) + table(named.join("")), textOf(10) + table(spanning.join("")))).toEqual([
      false,
      true
    ])
  })

  it("is not wrong for a row that its end cuts in two, but for one that is cut within", () => {
    const [ann = "", ben = ""] = whole
    const [beginning, rest] = [rowOf("Cid", "was in"), rowOf("Dorn", "Bern then")]
    const known = textOf(0) + table(ann + ben + rowOf("Cid Dorn", "was in Bern then"))
    expect(of(known, textOf(10) + table(ben + beginning))).toEqual([false, true])
    expect(of(known, table(rest) + textOf(10))).toEqual([false, true])
    expect(of(known, textOf(10) + table(beginning + rest + ben))).toEqual([true, true])
  })
})
