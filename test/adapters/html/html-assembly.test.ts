import { Effect, Exit, ManagedRuntime, Stream } from "effect"
import fc from "fast-check"
import { afterAll, assert, describe, it } from "vitest"

import { AssemblyThread } from "../../../src/adapters/html/assembly-thread.ts"
import { layer } from "../../../src/adapters/html/html-assembly.ts"
import { HtmlAssembly } from "../../../src/ports/conversion/html-assembly.ts"
import { parseFragment } from "../../../src/reader/html/parse-fragment.ts"
import { type HtmlNode, lineOf } from "../../../src/reader/model/html-tree.ts"

interface Given {
  readonly title?: string
  readonly lang?: string
  readonly name?: string
}

const runtime = ManagedRuntime.make(layer)
afterAll(() => runtime.dispose())

const run = <A, E>(effect: Effect.Effect<A, E, HtmlAssembly>): Promise<A> => runtime.runPromise(effect)

const assemble = async (
  fragments: ReadonlyArray<string>,
  { lang = "en", name, title }: Given = {}
): Promise<string> => {
  const pages = Stream.fromIterable(
    fragments.map((html, index) => ({ index, label: String(index + 1), html }))
  )
  const parts = await run(
    HtmlAssembly.use(({ assemble: put }) => Stream.runCollect(put({ facts: { lang, title }, name, pages })))
  )
  return parts.join("")
}

it("a document whose pages were surveyed before is the same, and they are not surveyed again", async () => {
  const html = [
    "<h1>Title</h1><p>Words.</p>",
    '<h2 id="at-2-1">One</h2>',
    '<h2>Two</h2><a href="#at-2-1">there</a>'
  ]
  const facts = { lang: "en", title: undefined }
  let readings = 0
  const pages = Stream.suspend(() => {
    readings += 1
    return Stream.fromIterable(html.map((page, index) => ({ index, label: String(index + 1), html: page })))
  })
  const parts = await run(
    HtmlAssembly.use(({ assemble: put, survey: surveyOf }) =>
      Effect.flatMap(surveyOf(pages, facts), (survey) =>
        Stream.runCollect(put({ facts, name: undefined, pages, survey }))
      )
    )
  )
  assert.strictEqual(parts.join(""), await assemble(html))
  assert.strictEqual(readings, 2)
})

it("a survey whose first pages were lost with the thread is none", async () => {
  const thread = new AssemblyThread()
  try {
    const pages = (html: string) => thread.ask("survey", { document: 7, fragments: [html] })
    await Effect.runPromise(Effect.andThen(thread.ask("look", { document: 7 }), pages("<h1>One</h1>")))
    // Another document's page was too much for it.
    await thread.stop()
    for (const rest of [pages("<h2>Two</h2>"), thread.ask("surveyed", { document: 7 })])
      assert.isTrue(Exit.isFailure(await Effect.runPromiseExit(rest)))
  } finally {
    await thread.stop()
  }
})

it("a document is the same whether its pages come one by one or together", async () => {
  const html = [
    "<h1>Title</h1><p>Words that",
    "",
    "<p>go on.</p>",
    "<h2>One</h2>",
    '<p data-open="">It',
    "<p>ends.</p>"
  ]
  const pages = html.map((page, index) => ({ index, label: `${index + 1}`, html: page }))
  const facts = { lang: "en", title: undefined }
  const inGroupsOf = async (size: number) => {
    const grouped = Stream.rechunk(Stream.fromIterable(pages), size)
    const parts = await run(
      HtmlAssembly.use(({ assemble: put }) =>
        Stream.runCollect(put({ facts, name: undefined, pages: grouped }))
      )
    )
    return parts.join("")
  }
  const one = await inGroupsOf(1)
  assert.strictEqual(await inGroupsOf(4), one)
  for (const index of pages.keys()) assert.include(one, `id="page-${index + 1}"`)
})

/** The content of `main` without the table of contents, page anchors shown as `[n]`. */
const mainOf = (html: string): string =>
  (/<main[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? "")
    .replace(/<nav[\s\S]*?<\/nav>/, "")
    .replaceAll(/<(div|span) role="doc-pagebreak"[^>]*id="page-(\d+)"[^>]*>[^<]*<\/\1>/g, "[$2]")

const valuesOf = (html: string, attribute: string): ReadonlyArray<string> =>
  [...html.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, "g"))].map(([, value]) => value ?? "")

const sorted = (text: string): string => text.split("").sort().join("")

/** What begins as a PNG of this size; its content is the number. */
const pngOf = (width: number, height: number, content: number, length = 900): string => {
  const bytes = Buffer.alloc(length)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  bytes.writeUInt8(content, length - 1)
  return `data:image/png;base64,${bytes.toString("base64")}`
}

/** A table's body of one row. */
const NAMES = (first: string) => `<thead><tr><th>${first}</th><th>Words</th></tr></thead>`
const ROWS = (number: number): string => `<tbody><tr><td>${number}</td><td>b</td></tr></tbody>`

const LONG = "This sentence is long enough to be taken for a line of running text that goes on"

it.each([
  [
    "an empty anchor is kept: Word's bookmarks are",
    ['<p><a href="#x">see</a></p><h1><a id="x"></a>Words</h1>'],
    '[1]<p><a href="#p1-x">see</a></p><h1 id="section-1"><span id="p1-x"></span>Words</h1>'
  ],
  [
    "a formula has its page's id",
    ['<p><a href="#e">(1)</a><math id="e"><mi id="f">x</mi></math></p>', '<math id="e"><mi>y</mi></math>'],
    '[1]<p><a href="#p1-e">(1)</a><math id="p1-e"><mi id="p1-f">x</mi></math></p>' +
      '[2]<p><math id="p2-e"><mi>y</mi></math></p>'
  ],
  [
    "a link to what was left out is words",
    ['<p><a id="y" href="#x">see</a> <a href="#y">this</a></p><p id="x"> </p>'],
    '[1]<p class="links"><span id="p1-y">see</span> <a href="#p1-y">this</a></p>'
  ]
])("what links lead to is there, once: %s", async (_, pages, expected) => {
  assert.strictEqual(mainOf(await assemble(pages)), expected)
})

it("a heading in a heading is words of it: the table of contents leads to what it names", async () => {
  const html = await assemble([
    '<h1>Title</h1><h2>One<div><h3 id="in">more</h3></div></h2><h2>Two</h2><p><a href="#in">there</a></p>',
    "<h2>Three</h2>"
  ])
  for (const [at, name] of ["One more", "Two", "Three"].entries())
    assert.include(html, `<a href="#section-${at + 2}">${name}</a>`)
  for (const [at, name] of ["Two", "Three"].entries())
    assert.include(html, `<h2 id="section-${at + 3}">${name}</h2>`)
  assert.include(html, '<span id="p1-in">more</span>')
  assert.include(html, '<a href="#p1-in">there</a>')
})

it("a summary that names nothing is a paragraph", async () => {
  const figure = '<figure><img alt="A cat"><details><summary>More</summary><p>b</p></details></figure>'
  const html = mainOf(await assemble([`<details><summary>Name</summary><p>a</p></details>${figure}`]))
  assert.include(html, "<p>Name</p><p>a</p>")
  assert.include(html, "<summary>Words in the picture</summary><p>More</p><p>b</p>")
})

describe("joining over a page's border", () => {
  it.each([
    [
      "by a cut word",
      ['<p data-open="" data-cut="">The word is hyphen</p>', "<p>ated here.</p>"],
      "[1]<p>The word is hyphen[2]ated here.</p>"
    ],
    [
      "by an open end and a low letter",
      ['<p data-open="">It goes</p>', "<p>on here.</p><p>New.</p>"],
      "[1]<p>It goes [2]on here.</p><p>New.</p>"
    ],
    [
      "by the structure's word",
      ['<p data-element="7">One.</p>', '<p data-element="7">Still one.</p>'],
      "[1]<p>One. [2]Still one.</p>"
    ],
    [
      "not against it",
      ['<p data-element="7" data-open="">One</p>', '<p data-element="8">two</p>'],
      "[1]<p>One</p>[2]<p>two</p>"
    ],
    [
      "not after a full stop",
      ['<p data-open="">Ended.</p>', "<p>Begun.</p>"],
      "[1]<p>Ended.</p>[2]<p>Begun.</p>"
    ],
    ["on pages that a model wrote", [`<p>${LONG}</p>`, "<p>and on.</p>"], `[1]<p>${LONG} [2]and on.</p>`],
    [
      "on pages that a model wrote, by the hyphen of a cut word",
      [`<p>${LONG} over a hyphen-</p>`, "<p>ated word.</p>"],
      `[1]<p>${LONG} over a hyphen[2]ated word.</p>`
    ],
    [
      "without a space where the script sets none",
      ['<p data-element="7">研究生</p>', '<p data-element="7">论文</p>'],
      "[1]<p>研究生[2]论文</p>"
    ],
    [
      "with the note after it",
      ['<p data-open="">It goes</p><div role="doc-footnote" id="fn-1"><p>Note</p></div>', "<p>on.</p>"],
      '[1]<p>It goes [2]on.</p><div role="doc-footnote" id="p1-fn-1"><p>Note</p></div>'
    ],
    [
      "over a whole page",
      ['<p data-open="">One</p>', '<p data-open="">two</p>', "<p>three.</p>"],
      "[1]<p>One [2]two [3]three.</p>"
    ],
    [
      "in lists that count on",
      ["<ol><li>a</li></ol>", '<ol start="2"><li>b</li></ol>'],
      "[1]<ol><li>a</li><li>[2]b</li></ol>"
    ],
    [
      "in lists of definitions",
      [
        '<dl data-element="7"><dt>a</dt><dd>b</dd></dl>',
        '<dl data-element="7"><dt>c</dt><dd>d</dd></dl>',
        '<dl data-element="8"><dt>e</dt><dd>f</dd></dl>',
        "<ul><li>g</li></ul>"
      ],
      "[1]<dl><dt>a</dt><dd>b</dd><dt>[2]c</dt><dd>d</dd></dl>[3]<dl><dt>e</dt><dd>f</dd></dl>[4]<ul><li>g</li></ul>"
    ],
    [
      "not in lists that count anew",
      ["<ol><li>a</li></ol>", "<ol><li>b</li></ol>"],
      "[1]<ol><li>a</li></ol>[2]<ol><li>b</li></ol>"
    ],
    [
      "in a list's last item",
      ['<ul><li>a</li><li data-open="">b goes</li></ul>', "<p>on.</p>"],
      "[1]<ul><li>a</li><li>b goes [2]on.</li></ul>"
    ],
    [
      "in tables, a repeated head dropped",
      [
        "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>3</td><td>4</td></tr></tbody></table>"
      ],
      "[1]<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr><tr><td>[2]3</td><td>4</td></tr></tbody></table>"
    ],
    [
      "in tables that say that they go on, by their captions, a last row or a line below",
      [
        `<table><caption>Table 2. Stones</caption>${ROWS(1)}</table><p>Continued on next page</p>`,
        `<table><caption>Table 2 (continued)</caption>${ROWS(2).replace("</tbody>", '<tr><td colspan="2">Suite à la page suivante</td></tr></tbody>')}</table>`,
        `<table><caption>Table 2. Stones</caption>${ROWS(3)}</table><p>Words</p>`
      ],
      "[1]<table><caption>Table 2. Stones</caption><tbody><tr><td>1</td><td>b</td></tr><tr><td>[2]2</td><td>b</td></tr><tr><td>[3]3</td><td>b</td></tr></tbody></table><p>Words</p>"
    ],
    [
      "in tables with a caption below their end, below the same names or a row that goes on",
      [
        `<table>${NAMES("A")}${ROWS(1)}</table>`,
        `<table><caption>Table 2. Stones</caption>${NAMES("A")}${ROWS(2)}</table><p>Words</p>`,
        "<table><tbody><tr><td>a</td><td>stones that the rivers</td></tr></tbody></table>",
        "<table><caption>Table 3. Banks</caption><tbody><tr><td></td><td>carry</td></tr></tbody></table>"
      ],
      `[1]<table><caption>Table 2. Stones</caption>${NAMES("A")}<tbody><tr><td>1</td><td>b</td></tr><tr><td>[2]2</td><td>b</td></tr></tbody></table><p>Words</p>[3]<table><caption>Table 3. Banks</caption><tbody><tr><td>[4]a</td><td>stones that the rivers carry</td></tr></tbody></table>`
    ],
    [
      "not in tables with a caption of their own below other names, or none",
      [
        `<table>${NAMES("A")}${ROWS(1)}</table>`,
        `<table><caption>Table 2. Stones</caption>${NAMES("B")}${ROWS(2)}</table>`,
        `<p>Words</p><table>${ROWS(3)}</table>`,
        `<table><caption>Table 3. Banks</caption>${ROWS(4)}</table>`
      ],
      `[1]<table>${NAMES("A")}${ROWS(1)}</table>[2]<table><caption>Table 2. Stones</caption>${NAMES("B")}${ROWS(2)}</table>[3]<p>Words</p><table>${ROWS(3)}</table>[4]<table><caption>Table 3. Banks</caption>${ROWS(4)}</table>`
    ],
    [
      "not in tables with other captions, whose lines stay",
      [
        `<table><caption>Table 2. Stones</caption>${ROWS(1)}</table><p>(continued)</p>`,
        `<table><caption>Table 3. Stones</caption>${ROWS(2)}</table><p>Continued use of stones wears them off.</p>`,
        `<table><caption>Table 3. Stones</caption>${ROWS(3)}</table>`,
        `<table><caption>Figure 3. Stones</caption>${ROWS(4)}</table>`
      ],
      `[1]<table><caption>Table 2. Stones</caption>${ROWS(1)}</table><p>(continued)</p>[2]<table><caption>Table 3. Stones</caption>${ROWS(2)}</table><p>Continued use of stones wears them off.</p>[3]<table><caption>Table 3. Stones</caption>${ROWS(3)}</table>[4]<table><caption>Figure 3. Stones</caption>${ROWS(4)}</table>`
    ],
    [
      "not in tables with another head",
      [
        "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        "<table><thead><tr><th>A</th><th>C</th></tr></thead><tbody><tr><td>3</td><td>4</td></tr></tbody></table>"
      ],
      "[1]<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>[2]<table><thead><tr><th>A</th><th>C</th></tr></thead><tbody><tr><td>3</td><td>4</td></tr></tbody></table>"
    ],
    [
      "in tables, a head that is a guess kept as a row",
      [
        "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        '<table data-open=""><thead><tr><th scope="col">x</th><th scope="col">y</th></tr></thead><tbody><tr><td>3</td><td>4</td></tr></tbody></table>'
      ],
      "[1]<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr><tr><td>[2]x</td><td>y</td></tr><tr><td>3</td><td>4</td></tr></tbody></table>"
    ],
    [
      "in a table's row that goes on",
      [
        "<table><tbody><tr><td>1</td><td>a few more words that go</td></tr></tbody></table>",
        "<table><tbody><tr><td></td><td>on below</td></tr><tr><td>2</td><td>b</td></tr></tbody></table>"
      ],
      "[1]<table><tbody><tr><td>[2]1</td><td>a few more words that go on below</td></tr><tr><td>2</td><td>b</td></tr></tbody></table>"
    ],
    [
      "not in rows that have a first cell in common",
      [
        "<table><tbody><tr><td>Month</td><td>m</td></tr></tbody></table>",
        "<table><tbody><tr><td></td><td>mm</td></tr><tr><td>Day</td><td>D</td></tr></tbody></table>"
      ],
      "[1]<table><tbody><tr><td>Month</td><td>m</td></tr><tr><td>[2]</td><td>mm</td></tr><tr><td>Day</td><td>D</td></tr></tbody></table>"
    ],
    [
      "not in tables of another width",
      [
        "<table><tbody><tr><td>1</td></tr></tbody></table>",
        "<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
      ],
      "[1]<table><tbody><tr><td>1</td></tr></tbody></table>[2]<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
    ]
  ])("%s", async (_, pages, expected) => {
    assert.strictEqual(mainOf(await assemble(pages)), expected)
  })

  it("holds back no more than a few pages", async () => {
    const pages = Array.from({ length: 200 }, () => '<p data-open="">and so on</p>')
    const seen: Array<number> = []
    let given = 0
    const stream = Stream.fromIterable(
      pages.map((html, index) => ({ index, label: String(index), html }))
    ).pipe(Stream.tap(() => Effect.sync(() => (given += 1))))
    await run(
      HtmlAssembly.use(({ assemble: put }) =>
        Stream.runForEach(put({ facts: { lang: "en", title: "T" }, name: undefined, pages: stream }), () =>
          Effect.sync(() => seen.push(given))
        )
      )
    )
    const steps = seen.map((at, index) => at - (seen[index - 1] ?? 0))
    assert.isAbove(seen.length, 4)
    assert.isAtMost(Math.max(...steps.slice(1)), 60)
  })
})

describe("a document", () => {
  it("has one h1: the pages' own where there is one", async () => {
    const own = await assemble(["<h1>The title</h1><h2>One</h2>", "<h2>Two</h2>"])
    assert.include(own, '<main id="main" tabindex="-1">')
    assert.match(mainOf(own), /^\[1\]<h1 id="section-1">The title<\/h1><h2 id="section-2">One<\/h2>/)
    const lower = await assemble(["<h2>The title</h2><h3>One</h3>", "<h4>Two</h4>"])
    assert.match(mainOf(lower), /^\[1\]<h1 id="section-1">The title<\/h1><h2 id="section-2">One<\/h2>/)
    const written = await assemble(["<h2>The Book</h2><h2>One</h2>"], { title: "The book" })
    // In the head, and as the heading: the header does not repeat it.
    assert.strictEqual(written.match(/The book/gi)?.length, 2)
    assert.include(mainOf(written), '<h1 id="section-1">The Book</h1><h2 id="section-2">One</h2>')
    const many = await assemble(["<h1>One</h1><h3>A</h3>", "<h1>Two</h1>"], { title: "The book" })
    assert.include(many, "<header><h1>The book</h1>")
    assert.include(mainOf(many), '<h2 id="section-1">One</h2><h3 id="section-2">A</h3>')
    const named = await assemble(["<p>Words</p>"], { title: "Microsoft Word - x.docx", name: "Report 2024" })
    assert.include(named, "<header><h1>Report 2024</h1>")
  })

  it("has contents when it is long, whose entries lead to its headings", async () => {
    const long = await assemble(
      Array.from({ length: 6 }, (_, at) => `<h1>Part ${at}</h1><h2>Detail &amp; more</h2><p>Words</p>`)
    )
    const targets = [...(/<nav[\s\S]*<\/nav>/.exec(long)?.[0] ?? "").matchAll(/href="#([^"]+)"/g)].map(
      ([, id]) => id
    )
    assert.strictEqual(targets.length, 12)
    for (const id of targets) assert.include(valuesOf(long, "id"), id)
    assert.notInclude(await assemble(["<h2>A</h2><h2>B</h2>"]), "<nav")
  })

  it("has its contents below its own heading, from three headings on", async () => {
    const pages = ["<p>A report</p><h1>Title</h1><h2>A</h2>", "<h2>B</h2>", "<h2>C</h2>"]
    assert.match(await assemble(pages), /<main[^>]*>.*<h1[^>]*>Title<\/h1><nav.*<\/nav><h2/s)
    assert.notInclude(await assemble(pages.slice(0, 2)), "<nav")
  })

  it("says how many pages it has, and lets their marks be hidden, where there is more than one", async () => {
    assert.match(
      await assemble(["<p>A</p>", "<p>B</p>"]),
      /2 pages<label><input type="checkbox" id="page-marks"/
    )
    const one = await assemble(["<h1>A</h1>"])
    assert.notInclude(one, "<header>")
    assert.lengthOf(one.match(/Page 1/g) ?? [], 1)
  })

  it("shows the logo of every page once, and says once that a picture has no description", async () => {
    const image = (data: string) => `<figure><img src="data:image/png;base64,${data}"></figure>`
    const pages = ["<p>A</p>", "<p>B</p>", "<p>C</p>"].map(
      (words) => `${image("LOGO")}${words}${image("SIGN")}<p>D</p>`
    )
    const html = await assemble(pages)
    assert.strictEqual(html.match(/base64,LOGO/g)?.length, 1)
    assert.strictEqual(html.match(/base64,SIGN/g)?.length, 3)
    assert.strictEqual(html.match(/Picture without a description/g)?.length, 2)
    const described = await assemble(pages.map((page) => page.replaceAll("<img", '<img alt="A river"')))
    assert.strictEqual(described.match(/alt="A river"/g)?.length, 6)
  })

  it("stores a picture once that it has more than once, and shows it with its own description at each place", async () => {
    const [river, lake] = [pngOf(40, 20, 1), pngOf(40, 20, 2)]
    const html = await assemble([
      `<p>A</p><p><img src="${river}" alt="A &quot;river&quot;" width="30"></p><table><tbody><tr><td><img src="${river}" alt="Again"></td></tr></tbody></table><p>B</p>`,
      `<p>C</p><p>D <img src="${river}"> <img src="${river}"></p><p><img src="${lake}" alt="A lake"></p><p data-open="">It goes</p>`,
      `<p>on <img src="${river}" alt="Last"></p>`
    ])
    assert.strictEqual(html.split(river).length, 2)
    assert.include(html, `<img src="${lake}" alt="A lake">`)
    const use = '<use href="#picture-1"></use></svg>'
    for (const shown of [
      `<svg viewBox="0 0 40 20" width="30" role="img" aria-label="A &quot;river&quot;">${use}`,
      `<td><svg viewBox="0 0 40 20" width="40" role="img" aria-label="Again">${use}</td>`,
      `<svg viewBox="0 0 40 20" width="40" role="img" aria-label="Picture without a description">${use}`,
      ` <svg viewBox="0 0 40 20" width="40" aria-hidden="true">${use}</p>`,
      `on <svg viewBox="0 0 40 20" width="40" role="img" aria-label="Last">${use}</p>`
    ])
      assert.include(html, shown)
    assert.include(
      html,
      `<svg class="store" aria-hidden="true" width="0" height="0"><image id="picture-1" width="40" height="20" href="${river}"></image></svg>`
    )
  })

  it("leaves a picture as it is that is small, may be turned, or differs from another but for its end", async () => {
    const tail = "A".repeat(2_000)
    const same = (src: string) => `<p>A</p><p><img alt="x" src="${src}"></p><p>B</p>`
    const jpeg = (marker: number) =>
      Buffer.from([0xff, 0xd8, 0xff, marker, 0, 4, 0, 0, 0xff, 0xc0, 0, 17, 8, 0, 20, 0, 40, ...Array(900)])
    for (const src of [
      pngOf(40, 20, 3, 180),
      `data:image/gif;base64,${tail}`,
      `data:image/png;base64,AA=${tail}`,
      `data:image/jpeg;base64,${jpeg(0xe1).toString("base64")}`
    ])
      assert.lengthOf((await assemble([same(src), same(src)])).split(src), 3, src.slice(0, 40))
    const turned = `data:image/jpeg;base64,${jpeg(0xe0).toString("base64")}`
    const html = await assemble([same(turned), same(turned)])
    assert.include(html, '<svg viewBox="0 0 40 20"')
    assert.lengthOf(html.split(turned), 2)
    const [one, other] = [pngOf(40, 20, 1), pngOf(40, 20, 1).replace("AAAA", "AAAB")]
    const alike = await assemble([same(one), same(other), same(one), same(other)])
    assert.deepEqual([alike.split(one).length, alike.split(other).length], [2, 3])
  })

  it("names its pages as they are numbered, from the first or not", async () => {
    const pages = Stream.make(
      { index: 4, label: "iv", html: '<p data-open="">It goes</p>' },
      { index: 5, label: "A-1", html: "<p>on.</p>" }
    )
    const parts = await run(
      HtmlAssembly.use(({ assemble: put }) =>
        Stream.runCollect(put({ facts: { lang: "en", title: "T" }, name: undefined, pages }))
      )
    )
    const html = parts.join("")
    assert.include(html, '<div role="doc-pagebreak" class="page" id="page-5">Page iv</div><p>It goes ')
    assert.include(html, '<span role="doc-pagebreak" class="page" id="page-6">Page A-1</span>on.</p>')
  })

  it("marks no pages in a document that has none of its own, whose contents go by its length", async () => {
    const html =
      '<nav><ol><li><a href="#page-1">One</a></li></ol></nav><h2>One</h2><p>a</p><h2>Two</h2><p>b</p><h2>Three</h2><p>c</p>'
    const assembled = async (estimatedPages: number) => {
      const pages = Stream.make({ index: 0, label: "1", html })
      const parts = await run(
        HtmlAssembly.use(({ assemble: put }) =>
          Stream.runCollect(
            put({ facts: { lang: "en", title: "T" }, name: undefined, pages, estimatedPages })
          )
        )
      )
      return parts.join("")
    }
    const long = await assembled(2)
    assert.notInclude(long, "doc-pagebreak")
    assert.notInclude(long, "page-1")
    assert.include(long, '<nav role="doc-toc" aria-label="Contents (2)"><ol><li>One</li></ol></nav>')
    assert.include(long, '<li><a href="#section-3">Three</a></li>')
    const short = await assembled(1)
    assert.notInclude(short, "#section-3")
    assert.include(short, 'aria-label="Contents"><ol><li>One')
  })

  it("has ids of its own for every page, and links that lead somewhere", async () => {
    const page =
      '<p id="a">x<a href="#a">a</a><a href="#b">b</a><a href="#page-2">p</a><a href="#page-9">q</a><a href="https://example.org/">w</a></p><h2 id="a">A</h2>'
    const html = await assemble([page, page])
    const ids = valuesOf(html, "id")
    assert.strictEqual(new Set(ids).size, ids.length)
    assert.strictEqual(
      mainOf(html).split("[2]")[0],
      '[1]<p id="p1-a">x<a href="#p1-a">a</a>b<a href="#page-2">p</a>q<a href="https://example.org/">w</a></p><h2 id="section-1">A</h2>'
    )
  })

  it("has a table's notes right below it, before the page's text and notes", async () => {
    const html = await assemble([
      `<div><table><tbody><tr><td>x<a role="doc-noteref" href="#table-note-1"><sup>a</sup></a></td></tr></tbody></table><p id="table-note-1"><sup>a</sup>Note</p></div><p>Words</p>`
    ])
    assert.strictEqual(
      mainOf(html),
      '[1]<table><tbody><tr><td>x<a id="p1-ref-p1-table-note-1" role="doc-noteref" href="#p1-table-note-1"><sup>a</sup></a></td></tr></tbody></table><p id="p1-table-note-1"><sup>a</sup>Note</p><p>Words</p>'
    )
  })

  it("has notes with their way back", async () => {
    const html = await assemble([
      '<p>Claim<a role="doc-noteref" href="#fn-1"><sup>1</sup></a></p><p role="doc-footnote" id="fn-1">Note</p>'
    ])
    assert.strictEqual(
      mainOf(html),
      '[1]<p>Claim<a id="p1-ref-p1-fn-1" role="doc-noteref" href="#p1-fn-1"><sup>1</sup></a></p><div role="doc-footnote" id="p1-fn-1"><p>Note <a role="doc-backlink" href="#p1-ref-p1-fn-1"><span aria-hidden="true">↩ </span>Back to the text</a></p></div>'
    )
  })

  it("says its language: its own word, else what its text is in", async () => {
    assert.include(await assemble(["<p>x</p>"], { lang: "pt-BR" }), '<html lang="pt-BR">')
    const german =
      "<p>Der Bericht beschreibt, wie die Gemeinde im vergangenen Jahr ihre Brücken und Wege erneuert hat und was das gekostet hat.</p>"
    const written = await assemble([german], { lang: "" })
    assert.include(written, '<html lang="de">')
    assert.include(written, "Zum Hauptinhalt springen")
    assert.include(await assemble(["<p>12</p>"], { lang: "" }), '<html lang="en">')
    assert.include(await assemble(["<p>نص</p>"], { lang: "ar" }), '<html lang="ar" dir="rtl">')
  })

  it("says which parts are in another language, and nothing of those that are not", async () => {
    const html = await assemble([
      '<p lang="fr">Des mots</p><p lang="EN">words</p><p lang="not a language">x</p><p>a <span lang="de_AT">b</span></p>'
    ])
    assert.strictEqual(
      mainOf(html),
      '[1]<p lang="fr">Des mots</p><p>words</p><p>x</p><p>a <span lang="de-AT">b</span></p>'
    )
  })

  it("says it of a term and its definition", async () => {
    assert.strictEqual(
      mainOf(await assemble(["<dl><dt>River</dt><dd>Это предложение по-русски.</dd></dl>"])),
      '[1]<dl><dt>River</dt><dd lang="ru">Это предложение по-русски.</dd></dl>'
    )
  })

  it("follows no address that is not on the list, even in fragments that were never cleaned", async () => {
    const html = await assemble([
      '<p><a href="javascript:alert(1)">a</a><a href="data:text/html,x">b</a><a href="https://u:p@example.org/">c</a></p>'
    ])
    assert.strictEqual(mainOf(html), "[1]<p>abc</p>")
  })

  it("sets targets apart where a paragraph is but a row of links", async () => {
    const row = '<a href="https://a.example/">A</a> <a href="https://b.example/">B</a>'
    assert.strictEqual(mainOf(await assemble([`<p>${row}</p>`])), `[1]<p class="links">${row}</p>`)
    assert.strictEqual(mainOf(await assemble([`<p>See ${row}</p>`])), `[1]<p>See ${row}</p>`)
  })

  it("keeps forms: questions, names of fields without visible labels, and what they are", async () => {
    const form =
      '<fieldset><legend>Pay?</legend><p><label><input type="radio" checked="" disabled=""> Cash</label></p></fieldset>' +
      '<p><input type="text" value="" readonly="" maxlength="8" required="" disabled="" aria-label="Code"></p>'
    assert.strictEqual(mainOf(await assemble([form])), `[1]${form}`)
  })

  it("lets wide formulas be scrolled by keyboard, and short ones be passed over", async () => {
    const formula = (signs: number) =>
      `<math display="block"><mrow>${"<mi>x</mi>".repeat(signs)}</mrow></math>`
    const html = mainOf(await assemble([`<p>${formula(3)}</p><p>${formula(40)}</p>`]))
    const scroll = '<span class="scroll" role="group" tabindex="0" aria-label="Formula">'
    assert.strictEqual(html, `[1]<p>${formula(3)}</p><p>${scroll}${formula(40)}</span></p>`)
  })

  it("sets an equation's number beside it, and leaves words after a formula below it", async () => {
    const math = '<math display="block"><mi>x</mi></math>'
    for (const number of [" (3)", " (A.1)", " [2a]"])
      assert.strictEqual(
        mainOf(await assemble([`<p>${math}${number}</p>`])),
        `[1]<p class="numbered">${math}${number}</p>`
      )
    for (const words of [" where x is large", " (for all x)", " (3) and", "", ` (${"3".repeat(20)})`])
      assert.strictEqual(mainOf(await assemble([`<p>${math}${words}</p>`])), `[1]<p>${math}${words}</p>`)
    const inline = "<p><math><mi>x</mi></math> (3)</p>"
    assert.strictEqual(mainOf(await assemble([inline])), `[1]${inline}`)
  })

  it("says nothing of a picture that is decorative, in a figure neither", async () => {
    const picture = '<img src="data:image/png;base64,AAAA" data-decorative="true">'
    const html = mainOf(
      await assemble([`<p>${picture}</p><figure>${picture}<figcaption>A</figcaption></figure>`])
    )
    assert.strictEqual(html.match(/<img src="[^"]*" alt="">/g)?.length, 2)
  })

  it("mends what no reader could use", async () => {
    const html = await assemble([
      'Loose words<li>loose item</li><h2> </h2><p></p><ul>bare<li>x</li></ul><dl><dd>d</dd></dl><img data-image="1"><figure><img data-image="2" alt="A river"></figure><a href="https://example.org/"></a><img src="data:image/png;base64,AAAA"><input type="text"><div><div>deep</div></div>'
    ])
    assert.strictEqual(
      mainOf(html),
      '[1]<p>Loose words</p><ul><li>loose item</li></ul><ul><li>bare</li><li>x</li></ul><p>d</p><figure><span class="about">A river</span></figure><p><img src="data:image/png;base64,AAAA" alt="Picture without a description"><input type="text" disabled="" aria-label="Form field"></p><p>deep</p>'
    )
  })

  it("loads nothing, runs nothing, and keeps order, whatever the fragments are", async () => {
    const piece = fc.constantFrom(
      ..."<p>words</p>|<h1>One</h1>|<h4 id=x>Four</h4>|<ul><li>i</li></ul>|<ol start=3><li>j</li></ol>|<table><tr><td>c</td></tr></table>|<p data-open>open|</p>|<script>alert(1)</script>|<img src=x onerror=y>|<a href=#x>l</a>|<div role=doc-footnote id=fn-1>n</div>|<a role=doc-noteref href=#fn-1>1</a>|<dl><dt>t</dt></dl>|<math><mi>x</mi></math>|<p lang=xx-bad id='\"'>q</p>|text".split(
        "|"
      )
    )
    const fragment = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""))
    await fc.assert(
      fc.asyncProperty(fc.array(fragment, { minLength: 1, maxLength: 6 }), async (fragments) => {
        const html = await assemble(fragments, { title: "T" })
        const ids = valuesOf(html, "id")
        assert.strictEqual(new Set(ids).size, ids.length)
        for (const href of valuesOf(html, "href"))
          if (href.startsWith("#")) assert.include(ids, href.slice(1))
        assert.strictEqual(html.match(/<h1[ >]/g)?.length, 1)
        assert.notMatch(html, /<script|onerror|data-open|data-element/)
        const levels = [...mainOf(html).matchAll(/<h(\d)/g)].map(([, level]) => Number(level))
        for (const [at, level] of levels.entries())
          assert.isAtMost(level, at === 0 ? 2 : (levels[at - 1] ?? 1) + 1)
        for (let page = 1; page <= fragments.length; page++) assert.include(ids, `page-${page}`)
        const words = (nodes: ReadonlyArray<HtmlNode>) => lineOf(nodes).replaceAll(/Page \d|\s/g, "")
        const given = fragments.map((one) => words(parseFragment(one))).join("")
        assert.strictEqual(
          sorted(words(parseFragment(mainOf(html))).replaceAll(/\[\d\]|↩|Backtothetext/g, "")),
          sorted(given)
        )
      }),
      { numRuns: 120 }
    )
  })
})
