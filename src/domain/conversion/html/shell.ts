import type { ContentsEntry, Plan } from "./survey.ts"
import { element, type HtmlNode, serialize } from "./tree.ts"
import { filled } from "./words.ts"

/**
 * The one style sheet of a result. Contrast is at least 4.5:1 in light and dark; lines end at 70 letters and reflow at 320 px;
 * nothing is loaded from anywhere.
 */
const STYLE_SHEET = `
:root{color-scheme:light dark;--ink:#1b1f24;--ground:#fff;--muted:#57606a;--line:#8c959f;--link:#0550ae;--shade:#f3f4f6}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--ground:#0f1115;--muted:#a8b1bb;--line:#6e7781;--link:#8ab8ff;--shade:#1c2027}}
*{box-sizing:border-box}
html{font:100%/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;color:var(--ink);background:var(--ground);-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1rem;max-width:46rem;overflow-wrap:anywhere}
h1,h2,h3,h4,h5,h6{line-height:1.25;margin:1.6em 0 .5em;text-wrap:balance}
h1{font-size:1.9rem}h2{font-size:1.5rem}h3{font-size:1.25rem}h4,h5,h6{font-size:1.05rem}
p,ul,ol,dl,pre,figure,blockquote,table{margin:0 0 1em}
a{color:var(--link);text-underline-offset:.15em}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
:target{scroll-margin-top:1rem}
.skip{position:absolute;inset-inline-start:1rem;top:.5rem;z-index:1;padding:.5rem 1rem;background:var(--ground);color:var(--link)}
.skip:not(:focus){clip-path:inset(50%);width:1px;height:1px;overflow:hidden;padding:0;white-space:nowrap}
header{border-bottom:1px solid var(--line);margin-bottom:1.5rem}
.about,.page,figcaption,caption,[role=doc-footnote]{color:var(--muted);font-size:.9rem}
nav ol{list-style:none;padding-inline-start:1.2em}nav>ol{padding-inline-start:0}
nav a,.links a{display:inline-block;min-height:1.5rem}
.links a{min-width:1.5rem}
li>p{margin-bottom:.5em}
img{max-width:100%;height:auto}
figure{margin-inline:0}
figcaption{margin-top:.4em}
.scan{margin:0 0 1em;color:var(--muted);font-size:.9rem}summary{cursor:pointer;min-height:1.5rem}.scan img{border:1px solid var(--line);margin-top:.5em}
pre{white-space:pre-wrap;background:var(--shade);padding:.75rem}
code,kbd,samp{font-family:ui-monospace,"Cascadia Mono",Consolas,Menlo,monospace;font-size:.92em}
blockquote{margin-inline:0;padding-inline-start:1em;border-inline-start:3px solid var(--line)}
.wide{overflow-x:auto;margin-bottom:1em}.wide table{margin:0}
table{border-collapse:collapse;max-width:100%;font-size:.95rem}
.wide table{overflow-wrap:normal;max-width:none}
caption{text-align:start;margin-bottom:.4em}
th,td{border:1px solid var(--line);padding:.35em .6em;text-align:start;vertical-align:top}
thead th{background:var(--shade)}
input,select,textarea,button{font:inherit;color:var(--ink);background:var(--ground);border:1px solid var(--line);max-width:100%}
input:disabled,select:disabled,textarea:disabled,button:disabled{opacity:1;color:var(--ink)}
math{max-width:100%;overflow-x:auto;overflow-y:hidden}
.page{display:block;text-align:end;border-top:1px dotted var(--line);margin:1.5rem 0 1rem}
p .page,li .page,td .page,th .page{display:inline;border:1px dotted var(--line);padding:0 .3em;margin:0 .2em}
[role=doc-footnote]{border-inline-start:3px solid var(--line);padding-inline-start:.75em;margin-bottom:1em}
[role=doc-footnote] p{margin:0}
@media print{:root{--ink:#000;--ground:#fff;--muted:#333;--line:#777;--link:#000;--shade:#fff}
body{max-width:none;padding:0}.skip,nav{display:none}h1,h2,h3,h4,h5,h6{break-after:avoid}
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

/** The document up to where its pages begin: head, skip link, header, table of contents. */
export const documentStart = (plan: Plan): string => {
  const { contents, lang, ownTitle, pageCount, title, words } = plan
  // The converter's own words, where they are not in the document's language.
  const own = words.lang === lang.split("-")[0] ? undefined : words.lang
  const head = element("head", {}, [
    element("meta", { charset: "utf-8" }),
    element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("meta", { name: "color-scheme", content: "light dark" }),
    element("title", {}, [title])
  ])
  const about = element("p", { class: "about", lang: own }, [
    pageCount === 1 ? filled(words.page, 1) : filled(words.pages, pageCount)
  ])
  const header = element("header", {}, [...(ownTitle ? [] : [element("h1", {}, [title])]), about])
  const nav =
    contents.length === 0
      ? []
      : [
          element("nav", { "aria-labelledby": "contents" }, [
            element("h2", { id: "contents", lang: own }, [words.contents]),
            nested(contents, 2)
          ])
        ]
  const before = serialize([
    element("a", { class: "skip", href: "#main", lang: own }, [words.skip]),
    header,
    ...nav
  ])
  const language = serialize([element("html", { lang, dir: rightToLeft(lang) ? "rtl" : undefined })]).replace(
    "</html>",
    ""
  )
  // The style sheet is ours and holds no markup; everything else went through `serialize`.
  const styled = serialize([head]).replace("</head>", () => `<style>${STYLE_SHEET}</style></head>`)
  return `<!doctype html>\n${language}${styled}<body>${before}<main id="main" tabindex="-1">`
}

export const DOCUMENT_END = "</main></body></html>\n"

/** One page of a result as a document of its own, to be looked at beside the page that it was made of. */
export const pageDocument = (page: {
  readonly lang: string
  readonly title: string
  /** A clean fragment. */
  readonly html: string
}): string => {
  const { html, lang, title } = page
  const head = serialize([
    element("head", {}, [
      element("meta", { charset: "utf-8" }),
      element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
      element("meta", { name: "color-scheme", content: "light dark" }),
      element("title", {}, [title])
    ])
  ])
  const root = serialize([element("html", { lang, dir: rightToLeft(lang) ? "rtl" : undefined })])
  return `<!doctype html>\n${root.replace("</html>", "")}${head.replace("</head>", () => `<style>${STYLE_SHEET}</style></head>`)}<body><main>${html}</main></body></html>\n`
}

const rightToLeft = (lang: string): boolean => /^(ar|fa|he|ur|yi|ps|sd|ug|dv)\b/.test(lang)
