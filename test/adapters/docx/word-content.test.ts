import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { pngOf } from "../../support/files/picture-files.ts"
import { NAMESPACES, paragraph, pictureOf, type WordSpec } from "../../support/files/word-files.ts"
import { htmlOf, p, text } from "./word-html.ts"

const written = (name: string, spec: string | WordSpec, html: string) =>
  it.effect(name, () =>
    Effect.map(htmlOf(typeof spec === "string" ? { body: spec } : spec), (found) =>
      assert.strictEqual(found, html)
    )
  )

const pictures: WordSpec["pictures"] = [["a.png", pngOf()]]
const box = (words: string) => `<w:txbxContent>${paragraph(words)}</w:txbxContent>`
const drawing = (words: string) =>
  `<w:drawing><wp:inline><a:graphic><a:graphicData><wps:wsp><wps:txbx>${box(words)}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing>`
const alternatives = (choice: string, fallback: string) =>
  `<mc:AlternateContent><mc:Choice Requires="wps">${choice}</mc:Choice><mc:Fallback>${fallback}</mc:Fallback></mc:AlternateContent>`

describe("what Word documents hold besides plain text", () => {
  written(
    "words of a field are read",
    p(`${text("Figure ")}<w:fldSimple w:instr="SEQ Figure">${text("7")}</w:fldSimple>`),
    "<p>Figure 7</p>"
  )
  const picture = (relation: string, own = "") =>
    `<pic:pic><pic:nvPicPr><pic:cNvPr id="2" name="x" ${own}/></pic:nvPicPr><pic:blipFill><a:blip r:embed="${relation}"/></pic:blipFill></pic:pic>`
  const drawn = (inside: string, said = "", more = "") =>
    `<w:r><w:drawing><wp:anchor><wp:docPr id="1" name="d" ${said}>${more}</wp:docPr><a:graphic><a:graphicData>${inside}</a:graphicData></a:graphic></wp:anchor></w:drawing></w:r>`
  written(
    "all pictures of a group, each with what is said of it, the first with what is said of all",
    {
      pictures,
      body:
        p(
          drawn(
            `<wpg>${picture("rId1", 'descr="Left"')}<wpg>${picture("rId1", 'descr=" " title="Right"')}</wpg></wpg>`
          )
        ) + p(drawn(`<wpg>${picture("rId1", 'descr="Left"')}${picture("rId1")}</wpg>`, 'descr="Both"'))
    },
    '<p><img alt="Left" src="#" /><img alt="Right" src="#" /></p><p><img alt="Both" src="#" /><img src="#" /></p>'
  )
  const decorative = (value: string) => `<a:extLst><a:ext><decorative val="${value}"/></a:ext></a:extLst>`
  written(
    "pictures that are decorative, and those that are not after all",
    {
      pictures: [
        ["a.png", pngOf()],
        ["b.emf", Buffer.from("x")]
      ],
      body:
        p(drawn(picture("rId1"), "", decorative("1"))) +
        p(drawn(picture("rId1"), 'descr="A cat"', decorative("0"))) +
        p(drawn(picture("rId2"), 'descr="A dog"', decorative("1")))
    },
    '<p><img alt="" src="#" data-decorative="true" /></p><p><img alt="A cat" src="#" /></p><p><img alt="" src="" data-decorative="true" /></p>'
  )
  written(
    "the description of what is drawn without a picture",
    p(text("a") + drawn("<wsp><cNvPr/></wsp>", 'descr="An arrow from A to B"')) +
      p(text("b") + drawn("<wsp/>", 'descr="A line"', decorative("1")) + drawn("<wsp/>")),
    '<p>a<img alt="An arrow from A to B" src="" /></p><p>b</p>'
  )
  written(
    "pictures that lead elsewhere, alone or in a group; what fills a shape is none",
    {
      pictures,
      relations: `<Relationship Id="h" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" TargetMode="External" Target="http://a.example/"/>`,
      body:
        p(drawn(picture("rId1"), "", '<a:hlinkClick r:id="h"/>')) +
        p(
          drawn(
            picture("rId1").replace("/></pic:nvPicPr>", '><a:hlinkClick r:id="h"/></pic:cNvPr></pic:nvPicPr>')
          )
        ) +
        p(drawn(picture("rId1"), "", '<a:hlinkClick r:id="no"/>')) +
        p(text("a") + drawn('<wsp><spPr><a:blipFill><a:blip r:embed="rId1"/></a:blipFill></spPr></wsp>'))
    },
    '<p><a href="http://a.example/"><img src="#" /></a></p>'.repeat(2) + '<p><img src="#" /></p><p>a</p>'
  )
  written(
    "pictures in hidden text are hidden",
    {
      pictures,
      body: p(text("a") + drawn(picture("rId1")).replace("<w:r>", "<w:r><w:rPr><w:vanish/></w:rPr>"))
    },
    "<p>a</p>"
  )
  const character = (kind: string, inside = "") =>
    `<w:r><w:fldChar w:fldCharType="${kind}">${inside}</w:fldChar></w:r>`
  const field = (instruction: string, result: string) =>
    `${character("begin")}<w:r><w:instrText>${instruction}</w:instrText></w:r>${character("separate")}${result}${character("end")}`
  written(
    "references lead to what they are to, however long their field is",
    `<w:p><w:bookmarkStart w:id="1" w:name="_Ref1"/>${text("Table 1")}<w:bookmarkEnd w:id="1"/></w:p>` +
      p(text("see ") + field(" REF _Ref1 \\h ", text("Table 1"))) +
      p(
        `<w:fldSimple w:instr=" noteref _Ref1 \\h ">${text("1")}</w:fldSimple><w:fldSimple w:instr="REF _Ref1">${text("here")}</w:fldSimple>`
      ),
    '<p><a id="_Ref1"></a>Table 1</p><p>see <a href="#_Ref1">Table 1</a></p><p><a href="#_Ref1">1</a>here</p>'
  )
  written(
    "addresses of links end where they do, and may name a place",
    p(
      field(' HYPERLINK "http://a.example/#x" \\o "A tip" \\l "b" ', text("a")) +
        field("HYPERLINK http://b.example/", text("b")) +
        field('HYPERLINK \\l "c"', text("c")) +
        field('HYPERLINK ""', text("d"))
    ),
    '<p><a href="http://a.example/#b">a</a><a href="http://b.example/">b</a><a href="#c">c</a>d</p>'
  )
  written(
    "links hold no links",
    p(
      field('HYPERLINK "http://a.example/"', text("a") + field("REF b \\h", text("b"))) +
        field("REF b \\h", text("c"))
    ) + `<w:p><w:hyperlink w:anchor="d">${field("REF b \\h", text("d"))}</w:hyperlink></w:p>`,
    '<p><a href="http://a.example/">ab</a><a href="#b">c</a></p><p><a href="#d">d</a></p>'
  )
  written(
    "what a field asks is not read, and what it answers is",
    p(
      character("begin") +
        `<w:r><w:instrText>IF </w:instrText></w:r>${field("PAGE", text("5"))}<w:r><w:instrText> = "1"</w:instrText></w:r>` +
        character("separate") +
        text("answer") +
        character("end") +
        `${character("begin")}${field("PAGE", text(" kept"))}${character("end")}${text(" and this")}`
    ),
    "<p>answer kept and this</p>"
  )
  const form = (inside: string, kind: string, result = "") =>
    character("begin", `<w:ffData>${inside}</w:ffData>`) +
    `<w:r><w:instrText>${kind}</w:instrText></w:r>${character("separate")}${result}${character("end")}`
  const choices = '<w:listEntry w:val="Red"/><w:listEntry w:val="Green"/>'
  written(
    "fields of forms are set as in the document",
    p(
      form('<w:checkBox><w:default w:val="1"/></w:checkBox>', "FORMCHECKBOX") +
        form('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>', "FORMCHECKBOX") +
        form("<w:checkBox><w:checked/></w:checkBox>", "FORMCHECKBOX") +
        form(`<w:ddList><w:result w:val="1"/>${choices}</w:ddList>`, "FORMDROPDOWN") +
        form(`<w:ddList>${choices}</w:ddList>`, " FORMDROPDOWN ") +
        form(`<w:ddList>${choices}</w:ddList>`, "FORMDROPDOWN", text("Blue")) +
        form("<w:textInput/>", "FORMTEXT", text("Text"))
    ),
    '<p><input type="checkbox" checked="checked" /><input type="checkbox" /><input type="checkbox" checked="checked" />GreenRedBlueText</p>'
  )
  written(
    "boxes of text are read once, behind their paragraph",
    p(
      text("Before") +
        `<w:r>${alternatives(drawing("Box"), `<w:pict><v:shape><v:textbox>${box("Box")}</v:textbox></v:shape></w:pict>`)}</w:r>`
    ) + paragraph("After"),
    "<p>Before</p><p>Box</p><p>After</p>"
  )
  written(
    "those that older programs would not show, too",
    p(text("Before") + `<w:r>${alternatives(drawing("Box"), "")}</w:r>`) + paragraph("After"),
    "<p>Before</p><p>Box</p><p>After</p>"
  )
  written(
    "and those in other shapes",
    p(`<w:r><w:pict><v:oval><v:textbox>${box("Round")}</v:textbox></v:oval></w:pict></w:r>`),
    "<p>Round</p>"
  )
  written(
    "what is hidden is not read, and what is said not to be is",
    p(
      text("Seen") +
        text(" hidden", "<w:vanish/>") +
        text(" not on the web", "<w:webHidden/>") +
        text(" again", '<w:vanish w:val="0"/>')
    ),
    "<p>Seen again</p>"
  )
  const hidden = "<w:rPr><w:vanish/></w:rPr>"
  const styles =
    `<w:style w:type="character" w:styleId="Run"><w:name w:val="Run"/>${hidden}</w:style>` +
    `<w:style w:type="paragraph" w:styleId="All"><w:name w:val="All"/>${hidden}</w:style>` +
    `<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="All"/><w:rPr><w:vanish w:val="0"/></w:rPr></w:style>` +
    `<w:style w:type="paragraph" w:styleId="End"><w:name w:val="End"/><w:pPr>${hidden}</w:pPr></w:style>`
  written(
    "what a style hides is not read, but for what says that it is not hidden",
    {
      styles,
      body:
        p(
          text("Seen", '<w:vanish/><w:vanish w:val="0"/>') +
            text(" hidden", '<w:rStyle w:val="Run"/>') +
            text(" seen", '<w:rStyle w:val="Run"/><w:vanish w:val="0"/><w:webHidden w:val="0"/>') +
            text(" hidden", '<w:vanish/><w:webHidden w:val="0"/>')
        ) +
        p(text("hidden") + text("shown", '<w:vanish w:val="0"/>'), '<w:pStyle w:val="All"/>') +
        p(text("own"), '<w:pStyle w:val="Own"/>') +
        p(text("end"), '<w:pStyle w:val="End"/>') +
        p(text("last"))
    },
    "<p>Seen seen</p><p>shown</p><p>own</p><p>end</p><p>last</p>"
  )
  written(
    "that the end of a paragraph in a box is hidden hides nothing else",
    p(
      `<w:r><w:pict><v:textbox><w:txbxContent>${p(text("Box"), "<w:rPr><w:vanish/></w:rPr>")}</w:txbxContent></v:textbox></w:pict><w:t>Seen</w:t></w:r>`
    ),
    "<p>Seen</p><p>Box</p>"
  )
  written(
    "of several choices the first is read",
    p(
      `<mc:AlternateContent><mc:Choice Requires="a">${text("a")}</mc:Choice><mc:Choice Requires="b">${text("b")}</mc:Choice></mc:AlternateContent>`
    ),
    "<p>a</p>"
  )
  written(
    "readings stand behind what they are of",
    p(
      `<w:r><w:ruby><w:rubyPr><w:lid w:val="ja"/></w:rubyPr><w:rt>${text("とうきょう")}</w:rt><w:rubyBase>${text("東京")}</w:rubyBase></w:ruby></w:r>`
    ),
    "<p>東京(とうきょう)</p>"
  )
  written("old line breaks are breaks", p("<w:r><w:t>a</w:t><w:cr/><w:t>b</w:t></w:r>"), "<p>a<br />b</p>")
  written(
    "a drawing that is kept in an attribute makes no document unreadable",
    p(`<w:r><w:pict><v:shape gfxdata="${"A".repeat(300_000)}"/></w:pict></w:r>${text("Text")}`),
    "<p>Text</p>"
  )
  written(
    "changes of looks and lists that were made are not read as they were before",
    {
      body: p(text("Text"), '<w:pPrChange w:id="1"><w:pPr><w:pStyle w:val="Heading1"/></w:pPr></w:pPrChange>')
    },
    "<p>Text</p>"
  )
  it.effect("a document without styles, with nothing but nested choices, is read", () =>
    Effect.gen(function* () {
      const nested = alternatives(alternatives(text("a"), ""), alternatives("", text("b")))
      assert.strictEqual(yield* htmlOf({ body: p(nested) }), "<p>b</p>")
    })
  )
})

const level = (at: number, format: string, label: string, more = "") =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${label}"/>${more}</w:lvl>`
const numbering = (inside: string) => ({
  more: [{ name: "word/numbering.xml", data: `<w:numbering ${NAMESPACES}>${inside}</w:numbering>` }]
})
const abstract = (id: number, levels: string) =>
  `<w:abstractNum w:abstractNumId="${id}">${levels}</w:abstractNum>`
const num = (id: number, of: number, more = "") =>
  `<w:num w:numId="${id}"><w:abstractNumId w:val="${of}"/>${more}</w:num>`
const numPr = (list: number, at: number) =>
  `<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${list}"/></w:numPr>`
const item = (list: number, words: string, at = 0) => p(text(words), numPr(list, at))

const style = (id: string, name: string, inside = "", type = "paragraph") =>
  `<w:style w:type="${type}" w:styleId="${id}"><w:name w:val="${name}"/>${inside}</w:style>`
const styled = (id: string, inner: string) => p(inner, `<w:pStyle w:val="${id}"/>`)
const MONO = '<w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr>'

describe("paragraphs and cells of Word documents that are not as they are written", () => {
  const ended = (words: string, mark = "del", more = "") =>
    p(text(words), `${more}<w:rPr><w:${mark} w:id="1"/></w:rPr>`)
  const cells = (...words: ReadonlyArray<string>) =>
    words.map((one) => `<w:tc>${paragraph(one)}</w:tc>`).join("")

  written(
    "one whose end was deleted goes on in the next",
    ended("a ") +
      '<w:bookmarkStart w:id="1" w:name="x"/>' +
      ended("b ", "moveFrom", '<w:pStyle w:val="Heading1"/>') +
      paragraph("c"),
    '<p>a <a id="x"></a>b c</p>'
  )
  written(
    "where there is no next, it ends",
    ended("a") +
      `<w:tbl><w:tr><w:tc>${ended("b")}</w:tc><w:tc>${paragraph("c")}</w:tc></w:tr></w:tbl>` +
      p(
        text("d") +
          `<w:r><w:pict><v:textbox><w:txbxContent>${ended("e")}</w:txbxContent></v:textbox></w:pict></w:r>`
      ) +
      paragraph("f") +
      ended("g"),
    "<p>a</p><table><tr><td><p>b</p></td><td><p>c</p></td></tr></table><p>d</p><p>e</p><p>f</p><p>g</p>"
  )
  written(
    "one in a table does not go on behind it",
    `<w:tbl><w:tr><w:tc>${ended("a")}</w:tc></w:tr></w:tbl>${paragraph("b")}`,
    "<table><tr><td><p>a</p></td></tr></table><p>b</p>"
  )
  written(
    "those that were deleted are not counted",
    {
      ...numbering(abstract(1, level(0, "decimal", "%1.")) + num(1, 1)),
      body:
        item(1, "one") +
        p("<w:del><w:r><w:delText>two</w:delText></w:r></w:del>", `${numPr(1, 0)}<w:rPr><w:del/></w:rPr>`) +
        item(1, "two") +
        paragraph("Text") +
        p("<w:del><w:r><w:delText>three</w:delText></w:r></w:del>", `${numPr(1, 0)}<w:rPr><w:del/></w:rPr>`) +
        `<w:tbl><w:tr>${cells("x")}</w:tr></w:tbl>` +
        item(1, "three")
    },
    '<ol><li>one</li><li>two</li></ol><p>Text</p><table><tr><td><p>x</p></td></tr></table><ol start="3"><li>three</li></ol>'
  )
  written(
    "a drop cap is the first letter of its paragraph, a frame is a paragraph",
    p(text("O"), '<w:framePr w:dropCap="drop" w:lines="3"/><w:rPr><w:b/></w:rPr>') +
      paragraph("nce") +
      p(text("T"), '<w:framePr w:dropCap="margin"/>') +
      paragraph("wice") +
      p(text("Framed"), '<w:framePr w:dropCap="none"/>') +
      paragraph("Text"),
    "<p>Once</p><p>Twice</p><p>Framed</p><p>Text</p>"
  )
  const page = '<w:r><w:br w:type="page"/></w:r>'
  written(
    "breaks of pages and columns part words, and nothing else",
    p(
      page +
        text("a") +
        page +
        text(" ") +
        text("b") +
        '<w:r><w:br w:type="column"/></w:r>' +
        text("c") +
        page
    ) +
      p(page) +
      p(text("d") + page) +
      paragraph("e"),
    "<p>a<br /> b<br />c</p><p>d</p><p>e</p>"
  )
  written(
    "rows that begin further in",
    `<w:tbl><w:tr>${cells("a", "b", "c")}</w:tr><w:tr><w:trPr><w:gridBefore w:val="2"/></w:trPr>${cells("d")}</w:tr><w:tr><w:trPr/>${cells("e")}</w:tr></w:tbl>`,
    "<table><tr><td><p>a</p></td><td><p>b</p></td><td><p>c</p></td></tr>" +
      '<tr><td colspan="2"></td><td><p>d</p></td></tr><tr><td><p>e</p></td></tr></table>'
  )
  written(
    "rows that begin further in than any table has columns",
    `<w:tbl><w:tr><w:trPr><w:gridBefore w:val="9000"/></w:trPr>${cells("a")}</w:tr></w:tbl>`,
    '<table><tr><td colspan="63"></td><td><p>a</p></td></tr></table>'
  )
  written(
    "places between cells, which leave cells that go down over rows as they are",
    '<w:tbl><w:bookmarkStart w:name="x"/><w:tr><w:bookmarkStart w:name="y"/>' +
      `<w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>${paragraph("a")}</w:tc>${cells("b")}</w:tr>` +
      `<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr>${p("")}</w:tc>${cells("c")}</w:tr></w:tbl>`,
    '<table><tr><td rowspan="2"><p><a id="x"></a><a id="y"></a>a</p></td><td><p>b</p></td></tr><tr><td><p>c</p></td></tr></table>'
  )
})

describe("what Word documents say by their styles and looks", () => {
  written(
    "headings in any language, and those that are based on others",
    {
      styles:
        style("berschrift2", "Überschrift zwei", '<w:pPr><w:outlineLvl w:val="1"/></w:pPr>') +
        style("Own", "Own", '<w:basedOn w:val="berschrift2"/>') +
        style("Own9", "Own 9", '<w:pPr><w:outlineLvl w:val="8"/></w:pPr>') +
        style("Text", "Text", '<w:pPr><w:outlineLvl w:val="9"/></w:pPr>'),
      body:
        styled("berschrift2", text("Two")) +
        styled("Own", text("Three")) +
        styled("Own9", text("Nine")) +
        styled("Text", text("Text"))
    },
    "<h2>Two</h2><h2>Three</h2><h6>Nine</h6><p>Text</p>"
  )
  written(
    "a heading is not emphasised as a whole",
    { body: styled("Heading1", text("All", "<w:b/>") + text(" bold", "<w:b/><w:i/>")) },
    "<h1>All<em> bold</em></h1>"
  )
  written(
    "styles that are based on each other in a circle end nothing",
    {
      styles: style("A", "A", '<w:basedOn w:val="B"/>') + style("B", "B", '<w:basedOn w:val="A"/>'),
      body: styled("A", text("a"))
    },
    "<p>a</p>"
  )
  written(
    "lines of code are one listing, with their breaks, spaces and empty lines",
    {
      styles: style("Code", "Code", MONO),
      body:
        styled("Code", text("if (a) {")) +
        styled("Code", '<w:r><w:t xml:space="preserve">  b</w:t><w:br/><w:t>  c</w:t></w:r>') +
        p("") +
        styled("Code", text("}", "<w:b/>")) +
        paragraph("Text")
    },
    "<pre><code>if (a) {\n  b\n  c\n \n}</code></pre><p>Text</p>"
  )
  written(
    "code within a text, and in a cell, is code",
    p(text("Call ") + text("run()", '<w:rFonts w:ascii="Consolas"/>')) +
      `<w:tbl><w:tr><w:tc>${p(text("x", '<w:rFonts w:ascii="Consolas"/>'))}</w:tc></w:tr></w:tbl>`,
    "<p>Call <code>run()</code></p><table><tr><td><p><code>x</code></p></td></tr></table>"
  )
  written(
    "a line with a picture is none",
    {
      pictures,
      body: p(
        text("x", '<w:rFonts w:ascii="Consolas"/>') + pictureOf("rId1", "A cat").replaceAll(/<\/?w:p>/g, "")
      )
    },
    '<p><code>x</code><img alt="A cat" src="#" /></p>'
  )
  written(
    "nor is a heading, an item, or a picture between lines",
    {
      ...numbering(abstract(1, level(0, "bullet", "•")) + num(1, 1)),
      pictures,
      styles: style("Code", "Code", MONO),
      body:
        styled("Heading1", text("run()", '<w:rFonts w:ascii="Consolas"/>')) +
        p(text("make", '<w:rFonts w:ascii="Consolas"/>'), numPr(1, 0)) +
        styled("Code", text("a")) +
        pictureOf("rId1", "A cat") +
        styled("Code", text("b"))
    },
    '<h1>run()</h1><ul><li><code>make</code></li></ul><pre><code>a</code></pre><p><img alt="A cat" src="#" /></p><pre><code>b</code></pre>'
  )
  written(
    "an entry of a table of contents may be a number",
    { styles: style("TOC1", "toc 1"), body: styled("TOC1", text("2024")) },
    "<nav><ol><li>2024</li></ol></nav>"
  )
  written(
    "a table of contents is one, without pages",
    {
      styles: style("TOCHeading", "TOC Heading") + style("TOC1", "toc 1") + style("TOC2", "toc 2"),
      body:
        styled("TOCHeading", text("Contents")) +
        styled("TOC1", "<w:r><w:t>1</w:t><w:tab/><w:t>First</w:t><w:tab/><w:t>iv</w:t></w:r>") +
        styled("TOC2", "<w:r><w:t>Below</w:t><w:tab/><w:t>12</w:t></w:r>") +
        styled("TOC1", text("Second 2024"))
    },
    "<nav><h2>Contents</h2><ol><li>1\tFirst<ol><li>Below</li></ol></li><li>Second 2024</li></ol></nav>"
  )
  written(
    "captions belong to the table or the picture beside them",
    {
      pictures,
      styles: style("Caption", "caption"),
      body:
        styled("Caption", text("Table 1: Sizes")) +
        `<w:tbl><w:tr><w:tc>${paragraph("1")}</w:tc></w:tr></w:tbl>` +
        pictureOf("rId1", "A cat") +
        styled("Caption", text("Figure 1: A ") + text("cat", "<w:b/>")) +
        paragraph("Text") +
        styled("Caption", text("Figure 2: Of nothing"))
    },
    "<table><caption>Table 1: Sizes</caption><tr><td><p>1</p></td></tr></table>" +
      '<figure><img alt="A cat" src="#" /><figcaption>Figure 1: A <strong>cat</strong></figcaption></figure>' +
      "<p>Text</p><p>Figure 2: Of nothing</p>"
  )
  const pandoc =
    style("TableCaption", "Table Caption") +
    style("DefinitionTerm", "Definition Term") +
    style("Definition", "Definition") +
    style("BlockText", "Block Text")
  written(
    "a caption whose style names it needs no word for a table",
    {
      styles: pandoc,
      body:
        styled("TableCaption", text("Sizes")) + `<w:tbl><w:tr><w:tc>${paragraph("1")}</w:tc></w:tr></w:tbl>`
    },
    "<table><caption>Sizes</caption><tr><td><p>1</p></td></tr></table>"
  )
  written(
    "terms and what they mean are a list of these, and what has no term is a paragraph; quotations by any name",
    {
      styles: pandoc,
      body:
        styled("DefinitionTerm", text("River")) +
        styled("Definition", text("Water that flows.")) +
        styled("Definition", text("A name.")) +
        styled("BlockText", text("Quoted")) +
        styled("Definition", text("Definition 1. A lake is still."))
    },
    "<dl><dt>River</dt><dd>Water that flows.</dd><dd>A name.</dd></dl><blockquote><p>Quoted</p></blockquote>" +
      "<p>Definition 1. A lake is still.</p>"
  )
  written(
    "a place between paragraphs is that of the next one",
    paragraph("One") +
      '<w:bookmarkStart w:id="1" w:name="two"/>' +
      paragraph("Two") +
      '<w:bookmarkEnd w:id="1"/>' +
      p(`<w:hyperlink w:anchor="two">${text("back")}</w:hyperlink>`),
    '<p>One</p><p><a id="two"></a>Two</p><p><a href="#two">back</a></p>'
  )
  written(
    "a title that the document's properties have is said once, as such",
    {
      title: "Annual Report",
      body: p(text("Annual report", "<w:b/>")) + styled("Heading1", text("One")) + paragraph("Text")
    },
    "<h1>Annual report</h1><h1>One</h1><p>Text</p>"
  )
})

const cell = (words: string, properties = "") => `<w:tc>${p(text(words, properties))}</w:tc>`
const row = (...cells: ReadonlyArray<string>) => `<w:tr>${cells.join("")}</w:tr>`
const table = (rows: string, properties = "") => `<w:tbl><w:tblPr>${properties}</w:tblPr>${rows}</w:tbl>`

describe("heads of tables in Word documents", () => {
  const HEADED =
    "<table><thead><tr><th><p>A</p></th><th><p>B</p></th></tr></thead><tbody><tr><td><p>1</p></td><td><p>2</p></td></tr></tbody></table>"
  const PLAIN = HEADED.replaceAll("th>", "td>").replaceAll(/<\/?t(?:head|body)>/g, "")

  const rows = row(cell("A"), cell("B")) + row(cell("1"), cell("2"))
  const grid = style("Grid", "Grid", '<w:tblStylePr w:type="firstRow"/>', "table")
  const look = '<w:tblStyle w:val="Grid"/><w:tblLook w:val="0020"/>'

  written("a style that sets the first row off", { styles: grid, body: table(rows, look) }, HEADED)
  written(
    "but not where the table does not want it",
    { styles: grid, body: table(rows, '<w:tblStyle w:val="Grid"/><w:tblLook w:val="04A0" w:firstRow="0"/>') },
    PLAIN
  )
  written("nor where the style does not", { body: table(rows, look) }, PLAIN)
  written(
    "nor in a table of one row",
    { styles: grid, body: table(row(cell("A"), cell("B")), look) },
    "<table><tr><td><p>A</p></td><td><p>B</p></td></tr></table>"
  )
  const column = style("Names", "Names", '<w:tblStylePr w:type="firstCol"/>', "table")
  const named = (said: string) => `<w:tblStyle w:val="Names"/><w:tblLook ${said}/>`
  const inner = `<w:tbl><w:tr>${cell("x")}${cell("y")}</w:tr></w:tbl>`
  const nested = row(cell("A"), `<w:tc>${inner}${p("")}</w:tc>`) + row(cell(""), cell("2")) + row(cell("B"))
  written(
    "first cells name their rows where the style sets them off, alone, and the table wants it",
    {
      styles: column,
      body:
        table(nested, named('w:firstColumn="1"')) + table(row(cell("A"), cell("1")), named('w:val="0080"'))
    },
    '<table><tr><th scope="row"><p>A</p></th><td><table><tr><td><p>x</p></td><td><p>y</p></td></tr></table></td></tr><tr><td></td><td><p>2</p></td></tr><tr><td><p>B</p></td></tr></table>' +
      '<table><tr><th scope="row"><p>A</p></th><td><p>1</p></td></tr></table>'
  )
  written(
    "not where either does not, and below the names of columns",
    {
      styles: column,
      body:
        table(row(cell("A"), cell("1")), named('w:firstColumn="0"')) +
        table(row(cell("A"), cell("1")), '<w:tblLook w:firstColumn="1"/>') +
        table(
          `<w:tr><w:trPr><w:tblHeader/></w:trPr>${cell("N")}${cell("B")}</w:tr>` +
            row(
              `<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>${p(text("r"), '<w:pStyle w:val="Heading2"/>')}</w:tc>`,
              cell("2")
            ),
          named('w:firstColumn="1"')
        )
    },
    "<table><tr><td><p>A</p></td><td><p>1</p></td></tr></table>".repeat(2) +
      '<table><thead><tr><th><p>N</p></th><th><p>B</p></th></tr></thead><tbody><tr><th colspan="2" scope="row"><h2>r</h2></th><td><p>2</p></td></tr></tbody></table>'
  )
  written(
    "a row that has properties already",
    { styles: grid, body: table(rows.replace("<w:tr>", "<w:tr><w:trPr><w:cantSplit/></w:trPr>"), look) },
    HEADED
  )
  written(
    "a row that was deleted stays so",
    {
      styles: grid,
      body: table(
        `<w:tr><w:trPr><w:del w:id="1"/></w:trPr>${cell("gone")}${cell("gone")}</w:tr>${row(cell("1"), cell("2"))}`,
        look
      )
    },
    "<table><tr><td><p>1</p></td><td><p>2</p></td></tr></table>"
  )
  written(
    "a first row that alone is bold",
    table(row(cell("A", "<w:b/>"), cell("B", "<w:b/>")) + row(cell("1"), cell("2"))),
    HEADED.replaceAll(/<th><p>(.)<\/p>/g, "<th><p><strong>$1</strong></p>")
  )
  written(
    "an empty row is no other head",
    table(
      row(cell("A", "<w:b/>"), cell("B", "<w:b/>")) + row(cell(""), cell("")) + row(cell("1"), cell("2"))
    ),
    "<table><thead><tr><th><p><strong>A</strong></p></th><th><p><strong>B</strong></p></th></tr></thead>" +
      "<tbody><tr><td></td><td></td></tr><tr><td><p>1</p></td><td><p>2</p></td></tr></tbody></table>"
  )
  written(
    "not where it is the only row, or has one cell",
    table(row(cell("A", "<w:b/>"), cell("B", "<w:b/>"))) + table(row(cell("A", "<w:b/>")) + row(cell("1"))),
    "<table><tr><td><p><strong>A</strong></p></td><td><p><strong>B</strong></p></td></tr></table>" +
      "<table><tr><td><p><strong>A</strong></p></td></tr><tr><td><p>1</p></td></tr></table>"
  )
  written(
    "not where others are bold, too",
    table(row(cell("A", "<w:b/>"), cell("B", "<w:b/>")) + row(cell("1", "<w:b/>"), cell("2", "<w:b/>"))),
    PLAIN.replaceAll(/<p>(.)<\/p>/g, "<p><strong>$1</strong></p>")
  )
})

describe("headings that no style names", () => {
  const bold = (words: string, size = 24) => p(text(words, `<w:b/><w:sz w:val="${size}"/>`))
  const plain = (words: string) => p(text(words, '<w:sz w:val="24"/>'))
  const long = plain("Words of a paragraph that go on for a while.").repeat(3)

  written(
    "short bold lines are headings, by their sizes",
    bold("Report", 40) + long + bold("One") + long + bold("Two") + long,
    `<h1>Report</h1>${paragraphs()}<h2>One</h2>${paragraphs()}<h2>Two</h2>${paragraphs()}`
  )
  written(
    "but not where a style names one",
    styled("Heading1", text("Named")) + long + bold("Bold") + long,
    `<h1>Named</h1>${paragraphs()}<p><strong>Bold</strong></p>${paragraphs()}`
  )
  written(
    "nor where they end a sentence, lead to the next line, or stand last",
    bold("Beware!") + long + bold("Note:") + long + bold("The End"),
    `<p><strong>Beware!</strong></p>${paragraphs()}<p><strong>Note:</strong></p>${paragraphs()}<p><strong>The End</strong></p>`
  )
  written(
    "larger lines need not be bold, and smaller ones are none",
    p(text("Large", '<w:sz w:val="40"/>')) + long + bold("Small", 20) + long,
    `<h1>Large</h1>${paragraphs()}<p><strong>Small</strong></p>${paragraphs()}`
  )
  written(
    "they stand below the title",
    styled("Title", text("Report", '<w:b/><w:sz w:val="24"/>')) + bold("One") + long,
    `<h1>Report</h1><h2>One</h2>${paragraphs()}`
  )
  const many = "many words ".repeat(12).trim()
  written(
    "nor are paragraphs, items and pictures",
    {
      ...numbering(abstract(1, level(0, "bullet", "•")) + num(1, 1)),
      pictures,
      body:
        bold(many) +
        long +
        p(text("Item", '<w:b/><w:sz w:val="24"/>'), numPr(1, 0)) +
        long +
        p(text("Cat", '<w:b/><w:sz w:val="24"/>') + pictureOf("rId1", "A cat").replaceAll(/<\/?w:p>/g, "")) +
        long
    },
    `<p><strong>${many}</strong></p>${paragraphs()}<ul><li><strong>Item</strong></li></ul>${paragraphs()}<p><strong>Cat</strong><img alt="A cat" src="#" /></p>${paragraphs()}`
  )
  written(
    "nor where all is bold",
    bold("One") + bold("Two") + bold("Three") + plain("Text"),
    "<p><strong>One</strong></p><p><strong>Two</strong></p><p><strong>Three</strong></p><p>Text</p>"
  )

  function paragraphs(): string {
    return "<p>Words of a paragraph that go on for a while.</p>".repeat(3)
  }
})

describe("numbers in Word documents", () => {
  const plain = abstract(
    1,
    level(0, "decimal", "%1.") + level(1, "lowerLetter", "%2)") + level(2, "bullet", "•")
  )
  const legal = abstract(2, level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2."))
  const lists = numbering(
    plain +
      legal +
      num(1, 1) +
      num(2, 2) +
      num(3, 1, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>')
  )

  written(
    "a list goes on behind a paragraph, and its levels count in their own way",
    {
      ...lists,
      body:
        item(1, "one") +
        item(1, "a", 1) +
        item(1, "b", 1) +
        paragraph("Text") +
        item(1, "two") +
        item(1, "a", 1)
    },
    '<ol><li>one<ol type="a"><li>a</li><li>b</li></ol></li></ol><p>Text</p><ol start="2"><li>two<ol type="a"><li>a</li></ol></li></ol>'
  )
  written(
    "another list of the same definition goes on, or begins where it says",
    { ...lists, body: item(1, "one") + item(3, "five") + item(3, "six") },
    '<ol><li>one</li><li value="5">five</li><li>six</li></ol>'
  )
  const again = (at: number, to: number, more = "") =>
    `<w:lvlOverride w:ilvl="${at}"><w:startOverride w:val="${to}"/>${more}</w:lvlOverride>`
  const restarted = (more: string, levels = level(0, "decimal", "%1.") + level(1, "lowerLetter", "%2)")) =>
    numbering(abstract(1, levels) + num(1, 1) + num(2, 1, more))
  written(
    "a list that begins anew is one of its own, and so is one that is written in another way",
    { ...restarted(again(0, 1)), body: item(1, "a") + item(1, "b") + item(2, "c") + item(2, "d") },
    "<ol><li>a</li><li>b</li></ol><ol><li>c</li><li>d</li></ol>"
  )
  written(
    "of another number format, too",
    {
      ...restarted(again(0, 1, level(0, "upperRoman", "%1."))),
      body: item(1, "a") + item(2, "c") + item(2, "d")
    },
    '<ol><li>a</li></ol><ol type="I"><li>c</li><li>d</li></ol>'
  )
  written(
    "within an item, too; behind it the outer one goes on",
    { ...restarted(again(1, 1)), body: item(1, "a") + item(1, "b", 1) + item(2, "c", 1) + item(1, "d") },
    '<ol><li>a<ol type="a"><li>b</li></ol><ol type="a"><li>c</li></ol></li><li>d</li></ol>'
  )
  written(
    "one of the same definition that does not say so goes on (ECMA-376, 17.9.15)",
    { ...restarted(""), body: item(1, "a") + paragraph("Text") + item(2, "b") },
    '<ol><li>a</li></ol><p>Text</p><ol start="2"><li>b</li></ol>'
  )
  written(
    "a level that is never to begin anew goes on below each item",
    {
      ...restarted(
        "",
        level(0, "decimal", "%1.") + level(1, "lowerLetter", "%2)", '<w:lvlRestart w:val="0"/>')
      ),
      body: item(1, "a") + item(1, "b", 1) + item(1, "c") + item(1, "d", 1)
    },
    '<ol><li>a<ol type="a"><li>b</li></ol></li><li>c<ol start="2" type="a"><li>d</li></ol></li></ol>'
  )
  written(
    "numbers that HTML cannot count stand before their words",
    {
      ...lists,
      body: item(2, "Parties") + item(2, "The seller", 1) + item(2, "The buyer", 1) + item(2, "Goods")
    },
    "<p>1. Parties</p><p>1.1. The seller</p><p>1.2. The buyer</p><p>2. Goods</p>"
  )
  written(
    "an item without words is counted and left out",
    { ...lists, body: item(1, "one") + item(1, "") + item(1, "three") },
    '<ol><li>one</li><li value="3">three</li></ol>'
  )
  written(
    "a heading without words is counted and left out, and one whose number is not shown has none",
    {
      ...numbering(
        abstract(1, level(0, "decimal", "%1.") + level(1, "none", "%2") + level(2, "none", "&lt;Note&gt;")) +
          num(1, 1)
      ),
      body:
        p(text("One"), `<w:pStyle w:val="Heading1"/>${numPr(1, 0)}`) +
        p("", `<w:pStyle w:val="Heading1"/>${numPr(1, 0)}`) +
        p(text("Three"), `<w:pStyle w:val="Heading1"/>${numPr(1, 0)}`) +
        item(1, "bare", 1) +
        item(1, "said", 2)
    },
    "<h1>1. One</h1><h1>3. Three</h1><p>bare</p><p>&lt;Note&gt; said</p>"
  )
  written(
    "words of headings and levels that show nothing leave the items of their list as they are",
    {
      ...numbering(
        abstract(1, level(0, "decimal", "Chapter %1") + level(1, "decimal", "%2.") + level(2, "none", "")) +
          num(1, 1)
      ),
      body: p(text("One"), `<w:pStyle w:val="Heading1"/>${numPr(1, 0)}`) + item(1, "a", 1) + item(1, "b", 2)
    },
    "<h1>Chapter 1 One</h1><ul><li><ol><li>a</li></ol></li></ul><p>b</p>"
  )
  written(
    "a level without a number leaves no full stop behind",
    {
      ...numbering(abstract(1, level(0, "none", "%1") + level(1, "decimal", "%1.%2")) + num(1, 1)),
      body: item(1, "a", 1)
    },
    "<p>1 a</p>"
  )
  written(
    "of two ways to show a list one is counted",
    {
      ...lists,
      body:
        p(
          `<w:r>${alternatives(drawing("x").replace(paragraph("x"), item(1, "one")), `<w:pict><v:textbox><w:txbxContent>${item(1, "one")}</w:txbxContent></v:textbox></w:pict>`)}</w:r>`
        ) + item(1, "two")
    },
    "<ol><li>one</li><li>two</li></ol>"
  )
  written(
    "bullets that a style has make a list",
    {
      ...numbering(abstract(1, level(0, "bullet", "•")) + num(1, 1)),
      styles: style("ListBullet", "List Bullet", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'),
      body: styled("ListBullet", text("a")) + styled("ListBullet", text("b"))
    },
    "<ul><li>a</li><li>b</li></ul>"
  )
  written(
    "headings have their numbers, and one that is taken out of its style's list has none",
    {
      ...numbering(
        abstract(
          1,
          level(0, "upperRoman", "%1.", '<w:pStyle w:val="H1"/>') +
            level(1, "decimal", "%1.%2", '<w:isLgl/><w:pStyle w:val="H2"/>')
        ) + num(1, 1)
      ),
      styles:
        style(
          "H1",
          "Own 1",
          '<w:pPr><w:outlineLvl w:val="0"/><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
        ) +
        style(
          "H2",
          "Own 2",
          '<w:pPr><w:outlineLvl w:val="1"/><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
        ),
      body:
        styled("H1", text("One")) +
        styled("H1", text("Two")) +
        styled("H2", text("Below")) +
        p(text("Preface"), '<w:pStyle w:val="H1"/><w:numPr><w:numId w:val="0"/></w:numPr>')
    },
    "<h1>I. One</h1><h1>II. Two</h1><h2>2.1 Below</h2><h1>Preface</h1>"
  )
  written(
    "lists that no definition has are paragraphs",
    { ...numbering(num(1, 7)), body: item(1, "a") + item(9, "b") },
    "<p>a</p><p>b</p>"
  )
})
