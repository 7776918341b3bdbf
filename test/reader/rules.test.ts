/** Each named rule of the reader has a page that comes out otherwise without it. */
import { assert, describe, it } from "vitest"

import type { DocumentFacts, PageContent, TextRun } from "../../src/reader/model/page-content.ts"
import { layoutPages } from "../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../src/reader/stages/profile/statistics.ts"
import { RULES, withoutRule } from "../support/reader-rules.ts"
import {
  FACTS,
  FONT,
  FONTS,
  lines,
  MATH_FACE,
  page,
  picture,
  prose,
  rule,
  run
} from "./stages/page-builder.ts"

const [bold, italic, code] = [{ font: FONT.bold }, { font: FONT.italic }, { font: FONT.code }]

interface Example {
  readonly pages: ReadonlyArray<PageContent>
  readonly facts?: Partial<DocumentFacts>
  /** What the page says with the rule, and does not say without it. */
  readonly says: string | RegExp
}

const only = (says: Example["says"], ...runs: ReadonlyArray<TextRun>): Example => ({
  pages: [page(runs)],
  says
})

/** The runs above a paragraph of the text's size. */
const above = (says: Example["says"], ...runs: ReadonlyArray<TextRun>): Example =>
  only(says, ...runs, ...lines(prose(40), 60, 300, 90))

const drawn = (
  says: Example["says"],
  rest: Parameters<typeof page>[2],
  ...runs: ReadonlyArray<TextRun>
): Example => ({
  pages: [page(runs, 0, rest)],
  says
})

const titled = (title: string, level: number): Partial<DocumentFacts> => ({
  outline: [{ title, level, page: 0 }]
})

const dot = (x: number, y: number) => ({ ...rule(x, y, x + 3.5, y + 3.5), filled: true })
const field = {
  kind: "radio",
  name: "post",
  label: "By post",
  value: "",
  checked: false,
  options: [],
  chosen: [],
  required: false,
  readOnly: false,
  multiline: false,
  maxLength: undefined,
  mcid: undefined,
  box: { x0: 60, y0: 430, x1: 72, y1: 442 }
} as const

const EXAMPLES: Readonly<Record<string, Example>> = {
  "stages:lines": only("Of rivers", run("Of rivers", 60, 100)),
  "stages:profile": only(
    '<p data-open="">Of all rivers',
    run("Of all rivers", 60, 74, { font: FONT.bold, size: 12 })
  ),
  "stages:blocks": only("Of rivers", run("Of rivers", 60, 100)),
  "stages:contents": {
    ...only("<nav>", run("Contents", 60, 90, { size: 14 }), run(`1.1 Use${" .".repeat(20)} 2`, 80, 114)),
    facts: { pageCount: 7 }
  },
  "stages:running-lines": only(
    "Bank of Rivers",
    run("Bank of Rivers, IBAN AT12 3456", 60, 800, { artifact: true })
  ),
  "stages:one-title": {
    pages: [
      page([run("Of rivers and stones", 150, 190, { size: 20 })]),
      page([run("Of Rivers and Stones", 150, 150, { size: 20 })], 1),
      page(lines(prose(60), 60, 300, 90), 2)
    ],
    says: "<p>Of Rivers and Stones</p>"
  },
  "stages:references": {
    ...only("#named-section-2", run("How deep they are is said in Section 2. of the whole text", 60, 102)),
    facts: { pageCount: 2 }
  },
  "stages:write": only("Of rivers", run("Of rivers", 60, 100)),
  "runs:line-numbers": only(
    /^<pre>/,
    ...[136, 148, 160, 172, 184].map((y, at) => run(String(54 + at), 35, y, { size: 5 })),
    ...[160, 172, 184].map((y) => run("const river = stones(and, the, sea)", 60, y, code))
  ),
  "runs:initials": only(
    "Every river",
    run("E", 60, 124, { size: 36 }),
    run("Of stones", 300, 60),
    run("very river of the county", 80, 108),
    run("has a stone and a margin", 80, 120)
  ),
  "runs:accented-letters": only("ĝ", run("of ˆ", 60, 100), run("g is", 75.5, 100, { font: FONTS.length })),
  "runs:spaced-words": only(
    ">NOTICE<",
    ...Array.from("NOTICE", (letter, at) => run(letter, 60 + 20 * at, 100))
  ),
  "runs:whole-signs": only("A ⟶ B", run("A −−→ B", 60, 100)),
  "runs:drawn-bullets": drawn(
    '<li data-open="">second',
    { drawings: [dot(60, 159)] },
    run("second point", 70, 164)
  ),
  "runs:letter-bullets": only("<li", run("o", 78, 228, code), run("Words of an inner item", 96, 228)),
  "regions:margin-notes": only(
    "<code>\\school{English name}{Welsh}</code>",
    run("\\school{English", 58, 100, { ...code, size: 9 }),
    run("name}{Welsh}", 74.2, 112, { ...code, size: 9 }),
    run("\\time{hours}", 74.2, 280, { ...code, size: 9 }),
    ...[100, 220, 232, 280, 460, 472, 520, 532, 580, 592].map((y, at) =>
      run(lines(prose(30, at), 0, 0, 60)[0]?.text ?? "", 144, y)
    )
  ),
  "regions:drawn-figures": drawn("<figure>", {
    drawings: Array.from({ length: 6 }, (_, at) =>
      rule(100 + 40 * at, 120 + 68 * at, 130 + 40 * at, 180 + 68 * at)
    )
  }),
  "regions:pictures": drawn("<figure>", { drawings: [picture(3, 60, 600, 200, 700)] }),
  "regions:label-values": only(
    "<dt>Due</dt><dd>17 May</dd>",
    run("Dock Street 4", 60, 72),
    run("4411 Norrvik", 60, 83),
    ...["Date", "Due", "Order"].flatMap((label, at) => [
      run(label, 390, 72 + 11 * at),
      run(`${16 + at} May`, 500, 72 + 11 * at)
    ])
  ),
  "regions:turned-heads": only(
    />Anna<\/th>/,
    ...["Anna", "Boris", "Clara"].map((name, at): TextRun => ({
      ...run(name, 160 + 60 * at, 120, { angle: 270 }),
      box: { x0: 160 + 60 * at, y0: 90, x1: 170 + 60 * at, y1: 120 }
    })),
    ...[134, 148, 162, 176, 190].flatMap((y) =>
      ["Of rivers", "12", "13", "14"].map((cell, at) => run(cell, at === 0 ? 60 : 100 + 60 * at, y))
    )
  ),
  "regions:leader-tables": only(
    "<td>4</td><td>5</td>",
    ...[100, 112, 124].flatMap((y, at) => [
      run(`Of rivers${" .".repeat(20)}`, 60, y),
      run(String(3 * at + 1), 320, y),
      run(String(3 * at + 2), 380, y)
    ])
  ),
  "regions:tables": drawn("By post", { fields: [field] }),
  "regions:fields": drawn("By post", { fields: [field] }),
  "regions:turned-text": only(
    "DRAFT",
    run("Rivers and stones.", 60, 288),
    run("DRAFT", 250, 180, { size: 40, angle: 335 })
  ),
  "page:notices": only(
    'role="note"',
    run("It is read in each of the folders of the project, and while it loads your", 60, 752),
    run("Department of Rivers, all rights", 60, 764, { size: 8 })
  ),
  "page:repeated-titles": above(
    "<p>17.4. Builders</p>",
    run("17.4. Builders", 200, 60, bold),
    run("17.4. Builders", 60, 120, { ...bold, size: 14 })
  ),
  "page:captions": drawn(
    "<figcaption>",
    { drawings: [picture(3, 100, 100, 300, 220)] },
    run("Figure 2: A stone in a river", 100, 240)
  ),
  "page:table-notes": only(
    "table-note-1",
    ...[
      ["Letter", "15", "3.50"],
      ["Margin", "16", "4.50"]
    ].flatMap((cells, row) => cells.map((words, at) => run(words, 60 + 140 * at, 116 + 14 * row))),
    run("c", 60, 144, { size: 6 }),
    run("Of last year.", 64, 148, { size: 8 })
  ),
  "page:front-matter": above("<p>Ann River", run("Ann River ann@river.test", 60, 50, { size: 14 })),
  "page:notes-last": only(
    "<p>Another paragraph.</p><div",
    run("over margin quiet letter over margin quiet", 50, 696),
    run("1", 50, 776, { size: 6 }),
    run("What the note says.", 55, 780, { size: 8 }),
    run("stone stone river alpha under over over", 310, 636),
    run("Another paragraph.", 310, 780)
  ),
  "page:note-references": only(
    "doc-noteref",
    run("A claim that needs a note", 60, 100),
    run("1", 185, 96, { size: 6 }),
    run("1", 60, 746, { size: 5 }),
    run("The note itself.", 64, 750, { size: 8 })
  ),
  "heading:code": {
    ...only("<pre><code>river.flow(): void", run("river.flow(): void", 60, 165, code)),
    facts: titled("river.flow(): void", 2)
  },
  "heading:no-letters": above("<p>2020</p>", run("2020", 60, 165, { size: 14 })),
  "heading:address": above(
    "<p>http://example.org/page",
    run("http://example.org/page", 60, 60, { size: 20 })
  ),
  "heading:clause": above("<p>河流与湖泊。</p>", run("河流与湖泊。", 60, 150, { size: 11 })),
  "heading:page-number": above("… 5</p>", run(`2 Of rivers${" .".repeat(20)} 5`, 60, 165, { size: 14 })),
  "heading:outline": {
    ...only("<h2>Rivers", run("Rivers", 60, 60, { ...bold, size: 18 })),
    facts: titled("Rivers", 1)
  },
  "heading:variable": above("<p>b</p>", run("b", 60, 165, { size: 14 })),
  "heading:equation": above("8)</p>", run("A ← (A + 1) | (B + 8)", 60, 165, { size: 14 })),
  "heading:look": only(
    "<h2><em>Map",
    ...["Map", "Depth", "Image"].flatMap((words, at) => [
      run(words, 60, 116 + 54 * at, { ...italic, size: 9 }),
      run(lines(prose(40, at), 0, 0, 90)[0]?.text ?? "", 60, 134 + 54 * at)
    ])
  ),
  "heading:caption": above("<p><strong>図 3 画面", run("図 3 画面", 60, 265, bold)),
  "heading:explained-command": above(
    "<p>option <code>",
    run("option", 60, 165, { size: 14 }),
    run("wateroption", 106, 165, { ...code, size: 14 })
  ),
  "heading:explained-function": above(
    "<p><em>name=value",
    run("name=value", 60, 200, { ...italic, size: 11 })
  ),
  "heading:chapter-label": above("NINE</strong></p>", run("NINE", 470, 84, { ...bold, size: 14 })),
  "heading:box-label": above("<p><strong>Note", run("Note", 60, 245, { ...bold, size: 13 })),
  "heading:item": above("<li><strong>", run("• Bold words of an item", 60, 230, bold)),
  "heading:sentence": above(
    "<p>For easier",
    run("For easier reference the content of the file is repeated as a whole here.", 60, 200, { size: 12 }),
    ...lines(prose(60, 7), 60, 222, 90)
  ),
  "heading:larger": above("<h1>Of rivers", run("Of rivers", 60, 100, { size: 14 })),
  "heading:not-in-outline": {
    ...above("<p><strong>Example", run("Cold water", 60, 170, bold), run("Example", 60, 255, bold)),
    facts: titled("Cold water", 3)
  },
  "heading:bold-text": above("<p><strong>Of rivers.", run("Of rivers.", 60, 200, bold)),
  "heading:sum": above("<p><strong>Total EUR 600,90", run("Total EUR 600,90", 60, 200, bold)),
  "heading:small-print": above(
    "<p><strong>A bold remark",
    run("A bold remark", 60, 200, { ...bold, size: 9 })
  ),
  "heading:cells": above("<p><strong>River", run("River", 60, 200, bold), run("Deep", 160, 200, bold)),
  "heading:set-like-text": only(
    "<p><strong>Network",
    run("A title", 60, 50, { ...bold, size: 14 }),
    run("Network", 60, 140, bold),
    ...lines(prose(40), 85, 152, 80)
  ),
  "heading:goes-on": only(
    "<p><strong>bode alone",
    run("bode alone", 60, 222, bold),
    ...lines(prose(40), 60, 236, 90)
  ),
  "heading:bold": above("<h1>Of rivers", run("Of rivers", 60, 200, bold))
}

describe("each named rule", () => {
  it("has its example, and no other is there", () => {
    assert.sameMembers(Object.keys(EXAMPLES), [...RULES])
  })

  it.each(Object.entries(EXAMPLES))("decides something: %s", (id, { facts, pages, says }) => {
    const html = () =>
      layoutPages({
        facts: { ...FACTS, pageCount: pages.length, ...facts },
        fonts: [...FONTS, MATH_FACE],
        pages,
        others: NO_STATISTICS
      })
        .map((one) => one.html)
        .join("\n")
    const saysIt = (text: string) => (typeof says === "string" ? text.includes(says) : says.test(text))
    const [made, without] = [html(), withoutRule(id, html)]
    assert.isTrue(saysIt(made), made)
    assert.isFalse(saysIt(without), without)
  })
})
