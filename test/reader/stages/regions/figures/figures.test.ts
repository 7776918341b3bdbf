import { assert, describe, it } from "vitest"

import { serialize } from "../../../../../src/reader/model/html-tree.ts"
import type { PageContent } from "../../../../../src/reader/model/page-content.ts"
import { layoutPages, layoutTrees } from "../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../src/reader/stages/profile/statistics.ts"
import { picturePlaces, withPictures } from "../../../../../src/reader/stages/write/pictures.ts"
import { FACTS, FONTS, lines, page, picture, prose, rule, run } from "../../page-builder.ts"

const lay = (content: PageContent) =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages: [content], others: NO_STATISTICS })[0]

const body = lines(prose(60), 60, 400, 80)
/** Boxes and arrows. */
const boxes = Array.from({ length: 8 }, (_, at) => ({
  ...rule(0, 0, 0, 0),
  box: { x0: 100 + 40 * at, y0: 120 + 8 * at, x1: 130 + 40 * at, y1: 180 + 8 * at }
}))

describe("figures", () => {
  it("that are drawn keep their labels to themselves", () => {
    const runs = [
      ...lines(prose(30), 60, 60, 80),
      run("Start", 105, 150),
      run("Middle", 225, 190),
      run("End", 385, 220),
      run("Figure 4: From start to end", 60, 262),
      ...body
    ]
    assert.strictEqual(
      lay(page(runs, 0, { drawings: boxes }))?.html.replaceAll(/ data-open=""/g, ""),
      `<p>${prose(30)}</p><figure><img data-region="98 118 412 238" alt="Start, Middle, End" width="419"><figcaption>Figure 4: From start to end</figcaption></figure><p>${prose(60)}</p>`
    )
  })

  it("join a word that is cut in a label, and keep the hyphen where its rest does not follow", () => {
    const runs = [
      run("of a proto", 105, 140, { hyphenated: true }),
      run("type here", 105, 152),
      run("self", 225, 190, { hyphenated: true }),
      run("End", 385, 220),
      run("Figure 4: From start to end", 60, 262),
      ...body
    ]
    assert.include(lay(page(runs, 0, { drawings: boxes }))?.html, 'alt="of a prototype here, self-, End"')
  })

  it("are made of shapes that are placed one by one, each with its shadow, and of what joins them", () => {
    const shapes = [0, 1, 2, 3].flatMap((column) =>
      [0, 1].map((row) => ({
        x0: 90 + 80 * column,
        y0: 110 + 80 * row,
        x1: 165 + 80 * column,
        y1: 170 + 80 * row
      }))
    )
    const arrows = [0, 1, 2, 3].map((column) => ({
      ...rule(0, 0, 0, 0),
      curved: true,
      box: { x0: 124 + 80 * column, y0: 168, x1: 130 + 80 * column, y1: 192 }
    }))
    const drawings = shapes.flatMap((box, at) => [
      picture(at, box.x0, box.y0, box.x1, box.y1),
      { ...arrows[0], ...rule(0, 0, 0, 0), curved: true, box }
    ])
    const words = shapes.map(({ x0, y0 }, at) => run(`Part ${at}`, x0 + 10, y0 + 30))
    const html = (more: typeof arrows) =>
      lay(page([...words, ...body], 0, { drawings: [...drawings, ...more], groups: shapes }))?.html ?? ""
    assert.strictEqual(html(arrows).split("<figure>").length, 2)
    assert.match(html(arrows), /alt="Part 0 Part 2 Part 4 Part 6, Part 1 Part 3 Part 5 Part 7"/)
  })

  it("are no watermark that was placed as a whole, over whose edges a text is written", () => {
    const letters = boxes.map((box) => ({ ...box, curved: true }))
    const placed = { x0: 100, y0: 110, x1: 412, y1: 240 }
    const text = lines(prose(60), 60, 130, 80)
    assert.strictEqual(
      lay(page(text, 0, { drawings: letters, groups: [placed] }))?.html.replaceAll(/ data-open=""/g, ""),
      `<p>${prose(60)}</p>`
    )
    // A long note within it is a part of a figure.
    const note = run("A note of more words than most labels have, with room left", 110, 170, { size: 6 })
    assert.match(
      lay(page([note, ...body], 0, { drawings: letters, groups: [placed] }))?.html ?? "",
      /<figure><img [^>]*alt="A note of more words/
    )
  })

  it("have their many words folded away, and those that are written upwards", () => {
    const names = Array.from({ length: 40 }, (_, at) =>
      run(`Label ${at}`, 100 + (at % 8) * 38, 130 + Math.floor(at / 8) * 20, { size: 7 })
    )
    const upwards = {
      ...run("Height", 80, 170, { size: 8, angle: 270 }),
      box: { x0: 84, y0: 150, x1: 92, y1: 174 }
    }
    const runs = [...names, upwards, run("Figure 4: From start to end", 60, 262), ...body]
    const html = lay(page(runs, 0, { drawings: boxes }))?.html ?? ""
    assert.match(
      html,
      /<img data-region="82 118 \d+ 238" alt="Label 0[^"]*, …" width="\d+"><details><p>Label 0/
    )
    assert.match(html, /Label 39<br>Height<\/p><\/details><figcaption>/)
    assert.strictEqual(html.match(/Height/g)?.length, 1)
  })

  it("may be placed as a whole, and drawn with curves: they need no caption then", () => {
    const curves = Array.from({ length: 14 }, (_, at) => ({ ...rule(0, 0, 0, 0), curved: at % 2 === 0 })).map(
      (one, at) => ({ ...one, box: { x0: 100 + 20 * at, y0: 120, x1: 118 + 20 * at, y1: 180 } })
    )
    const loose = [run("Start", 105, 150), ...body]
    assert.include(lay(page(loose, 0, { drawings: curves }))?.html ?? "", 'alt="Start"')
    const groups = [{ x0: 100, y0: 110, x1: 420, y1: 240 }]
    const html = lay(page([run("Start", 105, 130), ...body], 0, { drawings: boxes, groups }))?.html ?? ""
    assert.include(html, '<img data-region="98 108 422 242" alt="Start"')
    assert.notInclude(lay(page(body, 0, { groups }))?.html ?? "", "<img")
  })

  it("are all that is drawn on a page without words, but for pictures and rules", () => {
    const html = (drawings: PageContent["drawings"], words: PageContent["runs"] = []) =>
      lay(page(words, 0, { drawings }))?.html ?? ""
    const apart = boxes.slice(0, 6).map((one, at) => ({
      ...one,
      box: { ...one.box, y0: one.box.y0 + 60 * at, y1: one.box.y1 + 60 * at }
    }))
    assert.include(html(apart), '<img data-region="98 118 332 522"')
    assert.strictEqual(html(apart.slice(0, 5)), "")
    assert.strictEqual(html(apart.map((_, at) => rule(100, 100 + 40 * at, 300, 101 + 40 * at))), "")
    assert.notInclude(html([...apart, picture(3, 60, 600, 200, 700)]), "data-region")
    assert.notInclude(html(apart, body), "<figure")
    const field = {
      kind: "text",
      name: "x",
      label: undefined,
      value: "",
      checked: false,
      options: []
    } as const
    const fields = [{ ...field, box: { x0: 100, y0: 700, x1: 200, y1: 720 } }]
    assert.notInclude(lay(page([], 0, { drawings: apart, fields }))?.html ?? "", "<figure")
  })

  it("that are tables are tables, whatever their captions are called", () => {
    const rows = [0, 1, 2, 3, 4].map((at) => rule(100, 120 + 20 * at, 400, 120.4 + 20 * at))
    const sides = [100, 200, 300, 399.6].map((x) => rule(x, 120, x + 0.4, 200))
    const cells = [0, 1, 2, 3].flatMap((row) =>
      [0, 1, 2].map((column) => run(`cell ${row}${column}`, 105 + 100 * column, 134 + 20 * row))
    )
    const runs = [...cells, run("Figure 4: A table", 100, 230), ...body]
    const html = lay(page(runs, 0, { drawings: [...rows, ...sides] }))?.html ?? ""
    assert.include(html, "<table")
    assert.notInclude(html, "<img")
  })

  it("are none without a caption, or with prose in them", () => {
    const uncaptioned = [run("Start", 105, 150), ...body]
    assert.notInclude(lay(page(uncaptioned, 0, { drawings: boxes }))?.html ?? "", "<figure")
    const framed = [...lines(prose(90), 105, 130, 75), run("Figure 4: A frame", 60, 262), ...body]
    assert.notInclude(lay(page(framed, 0, { drawings: boxes }))?.html ?? "", "<figure")
  })

  it("that are decoration, tiles or the page's background are left out", () => {
    const drawings = [picture(0, 0, 0, 595, 842), picture(1, 60, 60, 70, 70)]
    assert.notInclude(lay(page(body, 0, { drawings }))?.html ?? "", "<img")
    const tiles = Array.from({ length: 60 }, (_, at) =>
      picture(at, (at % 8) * 60, Math.floor(at / 8) * 60, (at % 8) * 60 + 58, Math.floor(at / 8) * 60 + 58)
    )
    assert.notInclude(lay(page(body, 0, { drawings: tiles }))?.html ?? "", "<img")
  })

  it("get their pixels by their numbers; one without stays empty", () => {
    const drawings = [picture(2, 60, 60, 200, 200), picture(5, 60, 220, 200, 300)]
    const input = { facts: FACTS, fonts: FONTS, pages: [page(body, 0, { drawings })], others: NO_STATISTICS }
    const nodes = layoutTrees(input)[0]?.nodes ?? []
    assert.deepStrictEqual(picturePlaces(nodes), [2, 5])
    const filled = serialize(withPictures(nodes, new Map([[2, "data:image/png;base64,AAAA"]])))
    assert.include(filled, '<img src="data:image/png;base64,AAAA"')
    assert.include(filled, '<img data-image="5"')
  })
})

describe("a page's columns", () => {
  it("go on behind a notice at a column's foot", () => {
    const words = `${prose(60, 1).slice(0, -1)} ${prose(60, 2)}`
    const all = lines(words, 0, 0, 44)
    const half = Math.ceil(all.length / 2)
    const html = lay(
      page([
        ...all.slice(0, half).map(({ text }, at) => run(text, 50, 100 + 12 * at)),
        ...lines("Permission to copy is granted without a fee.", 50, 400, 44, { size: 7 }),
        ...all.slice(half).map(({ text }, at) => run(text, 310, 100 + 12 * at))
      ])
    )?.html
    assert.strictEqual(html, `<p>${words}</p><p>Permission to copy is granted without a fee.</p>`)
  })

  it("use the text layer, with hyphenated words joined", () => {
    const made = lay(page([run("hyphen", 60, 100, { hyphenated: true }), run("ated words", 60, 112)]))
    assert.strictEqual(made?.text, "hyphenated words ")
  })
})

describe("bullets", () => {
  it("that are drawn make a list", () => {
    const dot = (y: number) => ({
      ...rule(0, 0, 0, 0),
      filled: true,
      box: { x0: 60, y0: y - 5, x1: 63.5, y1: y - 1.5 }
    })
    const runs = [...lines(prose(30), 60, 60, 80), run("first point", 70, 150), run("second point", 70, 164)]
    const made = lay(page(runs, 0, { drawings: [dot(150), dot(164), dot(400)] }))
    assert.strictEqual(
      made?.html.replaceAll(/ data-open=""/g, ""),
      `<p>${prose(30)}</p><ul><li>first point</li><li>second point</li></ul>`
    )
  })
})

describe("a table's head", () => {
  it("that is wrapped and set in the middle is one row", () => {
    const row = (texts: ReadonlyArray<string>, y: number) =>
      texts.map((text, at) => run(text, 60 + 100 * at, y))
    const made = lay(
      page([
        run("Very long", 160, 100),
        run("Name", 60, 106),
        run("Other", 260, 106),
        run("heading", 160, 112),
        ...row(["alpha", "1", "2"], 130),
        ...row(["beta", "3", "4"], 148),
        ...row(["gamma", "5", "6"], 166)
      ])
    )
    assert.include(
      made?.html,
      '<th scope="col">Name</th><th scope="col">Very long heading</th><th scope="col">Other</th>'
    )
  })
})

it("a picture that is cut into thin strips or tiles, edge to edge, is one", () => {
  const shown = (drawings: PageContent["drawings"]) =>
    /<img data-region="[^"]*"/.exec(
      lay(page([...lines(prose(30), 60, 60, 80), ...body], 0, { drawings }))?.html ?? ""
    )?.[0]
  const strips = Array.from({ length: 20 }, (_, at) => picture(at, 100, 120 + 10 * at, 300, 130 + 10 * at))
  assert.strictEqual(shown(strips), '<img data-region="98 118 302 322"')
  const tile = (at: number): readonly [number, number] => [100 + 50 * (at % 2), 120 + 50 * Math.floor(at / 2)]
  const tiles = [0, 1, 2, 3].map((at) => picture(at, ...tile(at), tile(at)[0] + 50, tile(at)[1] + 50))
  assert.strictEqual(shown(tiles), '<img data-region="98 118 202 222"')
})
