import { STYLE_SHEET } from "./style.ts"
import type { ContentsEntry, Plan } from "./survey.ts"
import { element, type HtmlNode, serialize } from "./tree.ts"
import { filled } from "./words.ts"

/** Entries with those below them. */
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
  // Words of the converter in a document of a language that it does not speak.
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
  const header = element("header", {}, [
    ownTitle ? element("p", { class: "about" }, [title]) : element("h1", {}, [title]),
    about
  ])
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

const rightToLeft = (lang: string): boolean => /^(ar|fa|he|ur|yi|ps|sd|ug|dv)\b/.test(lang)
