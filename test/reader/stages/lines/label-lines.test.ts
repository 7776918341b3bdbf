/** Lines of labels and values in a script without spaces: each stands by itself. */
import { assert, describe, it } from "vitest"

import { htmlOf, lines, prose, run } from "../page-builder.ts"

/** Signs are as wide as they are high. */
const signs = (text: string, x: number, y: number) => {
  const one = run(text, x, y)
  return {
    ...one,
    box: { ...one.box, x1: x + 10 * text.length },
    edges: Array.from({ length: text.length + 1 }, (_, at) => x + 10 * at)
  }
}

const read = (...texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const html = htmlOf([
    ...texts.map((text, at) => signs(text, 60, 60 + 12 * at)),
    ...lines(prose(200), 60, 400, 90)
  ])
  return html
    .replace(/<p>alpha.*$|<p>river.*$/su, "")
    .split(/<[^>]*>/)
    .filter((text) => text.trim() !== "")
}

describe("lines of labels", () => {
  for (const [language, ...texts] of [
    [
      "Chinese",
      "（一）公司法定中文名称：林比港口控制股份有限公司",
      "公司法定英文名称：林比港口控制股份有限公司",
      "联系电话：零七三一二八五五九五一五零七三一二八五五九五一五",
      "传　真：零七三一二八五五九七一四",
      "邮政编码：四一二零零二"
    ],
    [
      "Chinese, the longest above",
      "联系地址：北风市石码头路七号港口办公大楼三层零七三一二八五五九五一五零",
      "联系电话：零七三一二八五五九五一五",
      "传真：零七三一"
    ],
    [
      "Japanese",
      "会社名：林港株式会社",
      "所在地：北風市石波止場通七番地港湾事務所三階",
      "電話番号：零七三一",
      "ファックス：零七三二"
    ],
    [
      "Chinese behind numbers",
      "1、名称：林比港口控制股份有限公司第一分公司",
      "2、地址：北风市石码头路七号港口办公大楼三层",
      "3、电话：零七三一"
    ]
  ] as const)
    it(`are each a line: ${language}`, () => {
      const said = read(...texts)
      for (const text of texts)
        assert.isTrue(
          said.some((one) => text.endsWith(one) && one.length > text.length - 3),
          `${text} in ${said.join(" | ")}`
        )
    })

  it("are each a line where they leave little room, or none", () => {
    const filled = (label: string, length: number) =>
      label.padEnd(length, "林比港口控制股份有限公司第一分公司")
    const texts = [filled("公司名称：", 40), filled("联系地址：", 44), filled("联系电话：", 38), "传真：零"]
    assert.deepStrictEqual(read(...texts).slice(0, 4), texts)
  })

  it("are no end of a paragraph whose line happens to begin with a word and a colon", () => {
    const full = "港口的船每年五月都要数一遍结果写在门前人人都看得见这是很久以前就有的习惯今年也是这样的吧"
    assert.include(read(full, "他说：船都回来了。").join("|"), `${full}他说：船都回来了。`)
  })

  it("are none in a script with spaces, whose lines are broken between words", () => {
    const said = htmlOf([
      ...lines(`${prose(20)} and ${prose(8, 2)}`, 60, 60, 60),
      ...lines(prose(200), 60, 400, 90)
    ])
    assert.notMatch(said, /and<\/p>/)
  })
})
