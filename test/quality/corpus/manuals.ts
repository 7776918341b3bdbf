/** Manuals that stand in a package as PDF and as HTML: chapters of both, cut at the same headings. */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { parse } from "parse5"

import { wordsOf } from "../../../src/domain/cascade/coverage.ts"
import { isDocBook, rankIn } from "./docbook.ts"
import {
  bodyOf,
  classesOf,
  documentOf,
  type Element,
  isElement,
  likeHeading,
  type Node,
  rewritten,
  type Rule,
  tag,
  textOf
} from "./tree.ts"

/** Pages of a manual in their order: each names the next one. */
const pagesFrom = (start: string): ReadonlyArray<string> => {
  const pages: Array<string> = []
  const seen = new Set<string>()
  let next: string | undefined = start
  while (next !== undefined && !seen.has(next) && existsSync(next)) {
    seen.add(next)
    const html: string = readFileSync(next, "utf8")
    pages.push(html)
    const link: string | undefined = /<(?:link|a)\b[^>]*\brel="?next"?[^>]*>/i.exec(html)?.[0]
    const href: string | undefined = link === undefined ? undefined : /href="([^"#]+)/i.exec(link)?.[1]
    next = href === undefined ? undefined : join(dirname(next), decodeURIComponent(href))
  }
  return pages
}

const PANELS =
  /^(header|nav-panel|navheader|navfooter|navigation|toc|contents|shortcontents|section-toc|mini-toc|menu|menu-comment|Contents_element|footer|related|sphinxsidebar|headerlink|titlepage-legalnotice|copiable-link|NAVHEADER|NAVFOOTER|TOC)$/

/** Ranks go beyond HTML's levels, until the highest of a document is its first. */
const HEADING = /^h\d$/
const DEEPEST_RANK = 9

/** Names and second titles on a title page, and the kinds of notes: DocBook's style sheet writes all in the elements of headings. */
const FRONT = /^(author|editor|editedby|othercredit|corpauthor|subtitle)$/
const NOTE = /^(note|tip|important|caution|warning)$/

/** A note's own title may as well be a heading; its kind is none. */
const titleOfNote = (node: Element, inside: () => string): string =>
  tag("p", inside(), NOTE.test(textOf(node).trim().toLowerCase()) ? "" : 'class="like-heading"')

/**
 * Panels of navigation, which no print has, are left out; lists that DocBook's style sheet lays out as tables are none, and neither an
 * author nor the word "Note" is the title of a section.
 */
const ofManual: Rule = (node, inside) => {
  const classes = classesOf(node)
  const navigates = node.attrs.some(({ name, value }) => name === "role" && value === "navigation")
  if (classes.some((name) => PANELS.test(name)) || (node.tagName === "div" && navigates)) return ""
  if (HEADING.test(node.tagName) && classes.some((name) => FRONT.test(name))) return tag("p", inside())
  if (node.tagName === "div" && classes.some((name) => NOTE.test(name)))
    return rewritten(node.childNodes, (inner, within) =>
      HEADING.test(inner.tagName) ? titleOfNote(inner, within) : ofManual(inner, within)
    )
  return node.tagName === "table" && classes.some((name) => /^(simple|variable)list$/.test(name))
    ? tag("table", inside(), 'role="presentation"')
    : likeHeading(node, inside)
}

/** The same in a division of DocBook's, whose rank is the level of its title. */
const inDivision =
  (rank: number): Rule =>
  (node, inside) => {
    const own = rankIn(rank, node)
    if (own !== undefined) return ofManual(node, inside) ?? rewritten(node.childNodes, inDivision(own))
    const made = ofManual(node, inside)
    return made === undefined && rank > 0 && HEADING.test(node.tagName)
      ? tag(`h${Math.min(DEEPEST_RANK, rank)}`, inside())
      : made
  }

/** Headings' levels so that the highest one is 1: parts of manuals begin with ranks of their own, and HTML has six levels. */
const lifted = (html: string): string => {
  const highest = Math.min(...[...html.matchAll(/<h(\d)>/g)].map(([, level]) => Number(level)))
  return html.replaceAll(
    /<(\/?)h(\d)>/g,
    (_, end, level) => `<${end}h${Math.min(6, Number(level) - highest + 1)}>`
  )
}

const bodyOfManual = (start: string): string =>
  pagesFrom(start)
    .map((page) => rewritten(bodyOf(page), isDocBook(page) ? inDivision(0) : ofManual))
    .join("\n")

/** Chapters of HTML, each from a heading of a given title to the next of them. */
export const chaptersOf = (start: string, titles: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const wanted = new Map(titles.map((title) => [wordsOf(title).join(" "), title]))
  const body = bodyOfManual(start)
  const heads: Array<{ at: number; level: number; words: string }> = []
  const visit = (node: Node): void => {
    if (!isElement(node)) return
    const at = node.sourceCodeLocation?.startOffset
    if (HEADING.test(node.tagName) && at !== undefined)
      heads.push({ at, level: Number(node.tagName.slice(1)), words: wordsOf(textOf(node)).join(" ") })
    else node.childNodes.forEach(visit)
  }
  const tree = parse(body, { sourceCodeLocationInfo: true })
  tree.childNodes.forEach(visit)
  const chapters = new Map<string, string>()
  const bare = (words: string) => words.replace(/^(chapter|appendix)? ?([\da-z] )*(?=[a-z]{2})/, "")
  for (const [index, { at, words }] of heads.entries()) {
    const title = wanted.get(words) ?? [...wanted].find(([key]) => bare(key) === bare(words))?.[1]
    if (title === undefined) continue
    const end = heads
      .slice(index + 1)
      .find((later) => [...wanted.keys()].some((key) => bare(key) === bare(later.words)))?.at
    const chapter = body.slice(at, end)
    // A title stands in lists of chapters too: the longest part is the chapter.
    if (chapter.length > (chapters.get(title)?.length ?? 0)) chapters.set(title, chapter)
  }
  return new Map([...chapters].map(([title, chapter]) => [title, documentOf(title, lifted(chapter))]))
}

/** The whole of a manual on one page. */
export const wholeOf = (start: string): string => documentOf("", lifted(bodyOfManual(start)))
