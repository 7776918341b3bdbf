import { pageId, safeAddress } from "../html/allowed.ts"
import { filled, type InterfaceWords } from "../html/words.ts"
import { element, type HtmlNode, serialize } from "../model/html-tree.ts"
import { append } from "../model/lists.ts"
import type { FormField, PageContent, StructureElement } from "../model/page-content.ts"
import { plainWidth, placedLines, type PlacedLine, type Stretch } from "./lines.ts"

/** A page to be shown as it looks. */
interface FlyerPage {
  readonly content: PageContent
  /** The page's picture, as a data URI; undefined where it could not be drawn: then the text itself is shown. */
  readonly picture: string | undefined
}

/** Baseline of a plain face within a line of its height, as a share of the height. */
const ASCENT = 0.8465

/** Widest and narrowest that letters are set to meet the line's width, in sizes. */
const MAX_SPACING = 0.6

const rounded = (value: number): string => String(Math.round(value * 1000) / 1000)

const styleOf = (line: PlacedLine, page: PageContent): string => {
  const letters = line.stretches.map(({ text }) => text).join("")
  const size = Math.max(1, line.size)
  const spare = line.width / size - plainWidth(letters)
  const spacing = Math.max(-MAX_SPACING, Math.min(MAX_SPACING, spare / Math.max(1, letters.length)))
  return [
    `left:${rounded((line.x / page.width) * 100)}%`,
    `top:${rounded(((line.baseline - ASCENT * size) / page.height) * 100)}%`,
    `font-size:${rounded((size / page.width) * 100)}cqw`,
    `letter-spacing:${rounded(spacing)}em`,
    ...(line.angle === 0 ? [] : [`transform:rotate(${rounded(line.angle)}deg)`])
  ].join(";")
}

const hrefOf = (target: Stretch["target"], pageCount: number): string | undefined => {
  if (target === undefined) return undefined
  if (target.kind === "uri") return safeAddress(target.uri)
  return target.page >= 0 && target.page < pageCount ? `#${pageId(target.page)}` : undefined
}

/** A soft hyphen: the word continues in the next line. */
const SOFT_HYPHEN = "\u00ad"

const spanOf = (line: PlacedLine, page: PageContent, pageCount: number): HtmlNode => {
  const parts = line.stretches.map(({ target, text }): HtmlNode => {
    const href = hrefOf(target, pageCount)
    return href === undefined || text.trim() === "" ? text : element("a", { href }, [text])
  })
  return element("span", { style: styleOf(line, page) }, line.hyphenated ? [...parts, SOFT_HYPHEN] : parts)
}

/** Whether a line continues the paragraph of the one before. */
const goesOn = (before: PlacedLine, line: PlacedLine): boolean => {
  const size = Math.max(before.size, line.size)
  const step = line.baseline - before.baseline
  if (before.angle !== line.angle || Math.abs(before.size - line.size) > 0.2 * size) return false
  const shared = Math.min(before.x + before.width, line.x + line.width) - Math.max(before.x, line.x)
  return step >= -0.1 * size && step <= 1.7 * size && (shared > 0 || step < 0.5 * size)
}

/** Lines close below one another are read as one paragraph. */
const paragraphs = (lines: ReadonlyArray<PlacedLine>): ReadonlyArray<ReadonlyArray<PlacedLine>> => {
  const all: Array<Array<PlacedLine>> = []
  for (const line of lines) {
    const open = all.at(-1)
    const before = open?.at(-1)
    if (open !== undefined && before !== undefined && goesOn(before, line)) open.push(line)
    else all.push([line])
  }
  return all
}

/** What a form field holds; the picture shows it, the text layer may not. */
const fieldText = (field: FormField): string => {
  const state =
    field.kind === "checkbox" || field.kind === "radio" ? (field.checked ? "☒" : "☐") : field.value.trim()
  const label = field.label?.trim() ?? ""
  if (field.kind === "button" || state === "") return label
  return label === "" ? state : `${label}: ${state}`
}

const fieldLine = (field: FormField, text: string): PlacedLine => {
  const size = Math.max(4, Math.min(12, field.box.y1 - field.box.y0))
  return {
    stretches: [{ text, target: undefined }],
    x: field.box.x0,
    baseline: field.box.y0 + ASCENT * size,
    width: plainWidth(text) * size,
    size,
    angle: 0,
    hyphenated: false
  }
}

/** The document's descriptions of its pictures. */
const descriptions = (roots: ReadonlyArray<StructureElement>): ReadonlyArray<string> => {
  const found: Array<string> = []
  const open: Array<StructureElement | { readonly mcid: number }> = roots.toReversed()
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ("mcid" in node) continue
    const alt = node.alt?.trim() ?? ""
    if (alt !== "") found.push(alt)
    else append(open, node.children.toReversed())
  }
  return found
}

const sectionStart = (index: number, label: string, words: InterfaceWords) => ({
  class: "page",
  id: pageId(index),
  "aria-label":
    label === String(index + 1) ? filled(words.page, label) : `${filled(words.page, index + 1)} (${label})`
})

/** A page as a section: its picture, with every word over it at its position, to be read, searched and selected. */
export const flyerPage = (
  { content, picture }: FlyerPage,
  words: InterfaceWords,
  pageCount: number
): string => {
  const fields = content.fields.flatMap((field) => {
    const text = fieldText(field)
    return text === "" ? [] : [fieldLine(field, text)]
  })
  const lines = placedLines(content)
  const text = [...paragraphs(lines), ...fields.map((line) => [line])].map((paragraph) =>
    element(
      "p",
      {},
      paragraph.flatMap((line, at) => [
        ...(at === 0 || paragraph[at - 1]?.hyphenated === true ? [] : [" "]),
        spanOf(line, content, pageCount)
      ])
    )
  )
  const described = descriptions(content.structure).map((alt) => element("p", { class: "described" }, [alt]))
  const says = text.length > 0 || described.length > 0
  const shown =
    picture === undefined
      ? []
      : [
          element("img", {
            src: picture,
            alt: says ? "" : `Page ${content.index + 1} as a picture; it holds no text that can be read`,
            ...(says ? {} : { lang: "en" }),
            loading: "lazy"
          })
        ]
  const style = `--w:${rounded(content.width)};--h:${rounded(content.height)}`
  const attributes = sectionStart(content.index, content.label, words)
  return serialize([
    element("section", { ...attributes, class: picture === undefined ? "page bare" : "page", style }, [
      ...shown,
      ...text,
      ...described
    ])
  ])
}

/** The notice in place of a page that could not be read. */
export const unreadablePage = (index: number, words: InterfaceWords): string =>
  serialize([
    element("section", sectionStart(index, String(index + 1), words), [
      element("p", { class: "note", lang: "en" }, [`Page ${index + 1} could not be read.`])
    ])
  ])

/**
 * Pages keep their proportions and scale with the window; text is sized in parts of the page's width. Over a picture the letters
 * are present but transparent; with forced colours, or without a picture, they are visible.
 */
const STYLE = `
:root{color-scheme:light}
*{box-sizing:border-box}
body{margin:0;padding:1rem;background:#e7e9ec;color:#1b1f24;font:100%/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
header{max-width:60rem;margin:0 auto 1rem}
h1{font-size:1.25rem;margin:0;overflow-wrap:anywhere}
.skip{position:absolute;left:-100vw;padding:.5rem 1rem;background:#fff;color:#0550ae}
.skip:focus{left:1rem;top:.5rem;z-index:1}
.page{position:relative;container-type:inline-size;width:min(100%,calc(var(--w,612)*4px/3));aspect-ratio:var(--w,612)/var(--h,792);margin:0 auto 1rem;overflow:hidden;background:#fff;box-shadow:0 1px 4px #0006;scroll-margin-top:1rem}
.page img{position:absolute;inset:0;width:100%;height:100%}
.page p{margin:0}
.page span{position:absolute;white-space:pre;line-height:1;color:transparent;font-family:Arial,Helvetica,"Liberation Sans",sans-serif;transform-origin:0 .8465em}
.page a{color:transparent}
.page ::selection{background:#0550ae55;color:transparent}
.bare span{color:#1b1f24}.bare a{color:#0550ae}.bare ::selection{color:#1b1f24}
.note{padding:1rem}
.described{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
a:focus-visible{outline:3px solid #0550ae;outline-offset:2px}
@media (forced-colors:active){.page{overflow:visible}.page img{display:none}.page span{color:CanvasText}.page a{color:LinkText}}
@media print{@page{margin:0}body{padding:0;background:none}header,.skip{display:none}.page{width:100%;margin:0;box-shadow:none;break-after:page}.page:last-child{break-after:auto}}
`.trim()

/** The document up to where its pages begin. */
export const flyerStart = (title: string, lang: string, words: InterfaceWords): string => {
  const own = words.lang === lang.split("-")[0] ? undefined : words.lang
  const head = serialize([
    element("head", {}, [
      element("meta", { charset: "utf-8" }),
      element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
      element("title", {}, [title])
    ])
  ]).replace("</head>", () => `<style>${STYLE}</style></head>`)
  const before = serialize([
    element("a", { class: "skip", href: "#main", lang: own }, [words.skip]),
    element("header", {}, [element("h1", {}, [title])])
  ])
  const open = serialize([element("html", { lang })]).replace("</html>", "")
  return `<!doctype html>\n${open}${head}<body>${before}<main id="main" tabindex="-1">`
}

export const FLYER_END = "</main></body></html>\n"
