import { assert, describe, it } from "vitest"

import { FONT, htmlOf, lines, prose, run } from "../page-builder.ts"

const below = (...texts: ReadonlyArray<string>) =>
  htmlOf([
    ...texts.map((text, at) => run(text, 60, 60 + 14 * at, { size: 10 })),
    ...lines(prose(300), 60, 200, 90)
  ])
const signs = (count: number) => "港口年度报告公司简介".repeat(10).slice(0, count)

describe("lines of Chinese", () => {
  it("that leave room for the next one's first signs are each a line or a paragraph", () => {
    const end = "(?:<br>|</p><p>)"
    assert.match(
      below("公司简介", "联系地址：北风市", "邮政编码：412002"),
      new RegExp(`公司简介${end}联系地址：北风市${end}邮政编码：412002`)
    )
  })

  it("that are full go on without a space", () => {
    const full = run(signs(80), 60, 60, { size: 10 })
    assert.isAbove(full.box.x1, 400)
    assert.include(below(signs(80), "报纸。"), `${signs(80)}报纸。`)
  })

  it("are no code, though all signs have one width; code with some Chinese in it is", () => {
    const html = htmlOf([
      run("港口年度报告", 60, 60, { font: FONT.code }),
      ...lines(prose(60), 60, 90, 90),
      run('print("报告")', 60, 300, { font: FONT.code })
    ])
    assert.notMatch(html, /<code>港口/)
    assert.match(html, /<code>print\("报告"\)/)
  })
})
