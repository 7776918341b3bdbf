import { isFromRight } from "../language/foreign.ts"
import { element, type HtmlElement, type HtmlNode, serialize } from "../model/html-tree.ts"
import type { ContentsEntry } from "../model/survey.ts"
import { withoutOthers } from "./link-targets.ts"
import type { Plan } from "./survey.ts"
import { filled } from "./words.ts"

/**
 * The one style sheet of a result. Contrast is at least 4.5:1 in light and dark; lines end at about 70 letters and reflow at 320 px;
 * nothing is loaded from anywhere.
 */
const STYLE_SHEET = `
:root{color-scheme:light dark;--ink:#1b1f24;--ground:#fff;--muted:#57606a;--line:#8c959f;--link:#0550ae;--shade:#f3f4f6}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--ground:#0f1115;--muted:#a8b1bb;--line:#6e7781;--link:#8ab8ff;--shade:#1c2027}}
*{box-sizing:border-box}
html{font:106.25%/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;color:var(--ink);background:var(--ground);-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1rem 1.25rem 3rem;max-width:40rem;overflow-wrap:anywhere}
h1,h2,h3,h4,h5,h6{line-height:1.25;margin:1.6em 0 .5em;text-wrap:balance}
h1{font-size:1.9rem;margin-top:1em}h2{font-size:1.45rem}h3{font-size:1.2rem}h4,h5,h6{font-size:1.05rem}h5,h6{color:var(--muted)}
main>p,li,dd,figcaption,blockquote{text-wrap:pretty}
p,ul,ol,dl,pre,figure,blockquote,table{margin:0 0 1em}
a{color:var(--link);text-underline-offset:.15em}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
:target{scroll-margin-top:1rem}
.skip{position:absolute;inset-inline-start:1rem;top:.5rem;z-index:1;padding:.5rem 1rem;background:var(--ground);color:var(--link)}
.skip:not(:focus){clip-path:inset(50%);width:1px;height:1px;overflow:hidden;padding:0;white-space:nowrap}
header{border-bottom:1px solid var(--line);margin-bottom:1.5rem}header p{display:flex;flex-wrap:wrap;gap:0 1.5rem;margin:.5rem 0}
header label{display:inline-flex;align-items:center;gap:.4rem;min-height:1.5rem;cursor:pointer}header input{width:1rem;height:1rem;margin:0;accent-color:var(--link)}
nav:not([role]){border-bottom:1px solid var(--line);padding-bottom:.5rem;margin-bottom:1.5rem}nav h2{font-size:1.1rem;margin:0 0 .5em}
.about,.page,figcaption,caption,[role=doc-footnote]{color:var(--muted);font-size:.9rem}
nav ol{list-style:none;padding-inline-start:1.2em}nav>ol{padding-inline-start:0}li>ol,li>ul{margin:0}
nav a,.links a{display:inline-block;min-height:1.5rem}
.links a{min-width:1.5rem}
li>p,dd{margin-bottom:.5em}dt{font-weight:600}dd{margin-inline-start:1.5rem}
img,svg{max-width:100%;height:auto}.store{position:absolute}
figure{margin-inline:0}
figcaption{margin-top:.4em}
.scan{margin:0 0 1em;color:var(--muted);font-size:.9rem}summary{cursor:pointer;min-height:1.5rem}.scan img{border:1px solid var(--line);margin-top:.5em}
pre{white-space:pre-wrap;background:var(--shade);padding:.75rem}
code,kbd,samp{font-family:ui-monospace,"Cascadia Mono",Consolas,Menlo,monospace;font-size:.92em}
blockquote{margin-inline:0;padding-inline-start:1em;border-inline-start:3px solid var(--line)}
.wide{overflow-x:auto;margin-bottom:1em}.wide table{margin:0}
table{border-collapse:collapse;max-width:100%;font-size:.95rem}
.wide table{max-width:none}
caption{text-align:start;margin-bottom:.4em}
th,td{border:1px solid var(--line);padding:.35em .6em;text-align:start;vertical-align:top;overflow-wrap:break-word}
@media (max-width:40rem){table{font-size:.85rem}th,td{padding:.25em .4em}}
thead th{background:var(--shade)}
input,select,textarea,button{font:inherit;color:var(--ink);background:var(--ground);border:1px solid var(--line);max-width:100%}
:is(td,th) :is(input:not([type=checkbox],[type=radio]),select,textarea){width:100%}
input:disabled,select:disabled,textarea:disabled,button:disabled{opacity:1;color:var(--ink)}
fieldset{border:1px solid var(--line);margin:0 0 1em;padding:.5rem .9rem;min-inline-size:0}fieldset p{margin-bottom:.5em}legend{padding-inline:.3em;font-weight:600}
.scroll{display:block;max-width:100%;overflow-x:auto;overflow-y:hidden}
.numbered{display:flex;align-items:center;gap:1em}.numbered>:first-child{flex:1;min-width:0}
.page{display:block;text-align:end;border-top:1px dotted var(--line);margin:1.5rem 0 1rem;font-size:.8rem;-webkit-user-select:none;user-select:none}
main>.page:first-child{border:0;margin:0}
p .page,li .page,td .page,th .page{display:inline;border:1px dotted var(--line);padding:0 .3em;margin:0 .2em}
[role=doc-footnote]{border-inline-start:3px solid var(--line);padding-inline-start:.75em;margin-bottom:1em}
[role=doc-footnote] p{margin:0}
[role=note]{color:var(--muted);font-size:.9rem}
:root:has(#page-marks:not(:checked)) .page{position:absolute;clip-path:inset(50%);width:1px;height:1px;margin:0;padding:0;border:0;overflow:hidden;white-space:nowrap}
@media print{html{font-size:11pt}:root{--ink:#000;--ground:#fff;--muted:#333;--line:#777;--link:#000;--shade:#fff}
body{max-width:none;padding:0}.skip,nav:not([role]),header label{display:none}h1,h2,h3,h4,h5,h6{break-after:avoid}
figure,tr,pre{break-inside:avoid}thead{display:table-header-group}.wide{overflow:visible}
main a[href^="http"]::after{content:" (" attr(href) ")";font-size:.85em}}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
`.trim()

/** Nests entries below those of a higher level. */
const nested = (entries: ReadonlyArray<ContentsEntry>, level: number): HtmlNode => {
  const items: Array<HtmlNode> = []
  for (let at = 0; at < entries.length;) {
    const entry = entries[at]
    if (entry === undefined) break
    let end = at + 1
    while (end < entries.length && (entries[end]?.level ?? 0) > level) end += 1
    const below = entries.slice(at + 1, end)
    items.push(
      element("li", {}, [
        element("a", { href: `#${entry.id}` }, [entry.text]),
        ...(below.length === 0 ? [] : [nested(below, level + 1)])
      ])
    )
    at = end
  }
  return element("ol", {}, items)
}

/** The language of the converter's own words, where it is not the document's. */
const ownLanguage = ({ lang, words }: Plan): string | undefined =>
  words.lang === lang.split("-")[0] ? undefined : words.lang

/** The table of contents; empty where a document needs none. */
export const contentsOf = (plan: Plan): ReadonlyArray<HtmlElement> =>
  plan.contents.length === 0
    ? []
    : [
        element("nav", { "aria-labelledby": "contents" }, [
          element("h2", { id: "contents", lang: ownLanguage(plan) }, [plan.words.contents]),
          nested(plan.contents, 2)
        ])
      ]

/** The number of pages, and the switch that hides page marks, which works by the style sheet alone. */
const aboutPages = ({ pageCount, words }: Plan, own: string | undefined): HtmlElement =>
  element("p", { class: "about", lang: own }, [
    filled(words.pages, pageCount),
    element("label", {}, [
      element("input", { type: "checkbox", id: "page-marks", checked: "" }),
      ` ${words.pageMarks}`
    ])
  ])

/** The document up to where its pages begin: head, skip link, header, table of contents. */
export const documentStart = (plan: Plan): string => {
  const { lang, notes, ownTitle, pageCount, title, words } = plan
  const own = ownLanguage(plan)
  const head = element("head", {}, [
    element("meta", { charset: "utf-8" }),
    element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("meta", { name: "color-scheme", content: "light dark" }),
    element("title", {}, [title])
  ])
  const about = pageCount < 2 ? [] : [aboutPages(plan, own)]
  const said = notes.map((note) => element("p", { role: "note", lang: "en" }, [note]))
  const titled = ownTitle ? [] : [element("h1", {}, [title])]
  const before = serialize([
    element("a", { class: "skip", href: "#main", lang: own }, [words.skip]),
    ...(about.length + titled.length + said.length === 0
      ? []
      : [element("header", {}, [...titled, ...about, ...said])]),
    // Below the document's own heading, where there is one.
    ...(ownTitle ? [] : contentsOf(plan))
  ])
  const language = serialize([element("html", { lang, dir: isFromRight(lang) ? "rtl" : undefined })]).replace(
    "</html>",
    ""
  )
  // The style sheet is ours and holds no markup; everything else went through `serialize`.
  const styled = serialize([head]).replace("</head>", () => `<style>${STYLE_SHEET}</style></head>`)
  return `<!doctype html>\n${language}${styled}<body>${before}<main id="main" tabindex="-1">`
}

export const DOCUMENT_END = "</main></body></html>\n"

/** One page of a result as a separate document, to be compared with the original page. */
export const pageDocument = (page: {
  readonly lang: string
  readonly title: string
  /** A clean fragment. */
  readonly html: string
  /** What is to be known of it, in English. */
  readonly note?: string
}): string => {
  const { html, lang, note, title } = page
  const head = serialize([
    element("head", {}, [
      element("meta", { charset: "utf-8" }),
      element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
      element("meta", { name: "color-scheme", content: "light dark" }),
      element("title", {}, [title])
    ])
  ])
  const root = serialize([element("html", { lang, dir: isFromRight(lang) ? "rtl" : undefined })])
  const said =
    note === undefined ? "" : serialize([element("p", { role: "note", lang: "en", dir: "ltr" }, [note])])
  return `<!doctype html>\n${root.replace("</html>", "")}${head.replace("</head>", () => `<style>${STYLE_SHEET}</style></head>`)}<body><main>${said}${withoutOthers(html)}</main></body></html>\n`
}
