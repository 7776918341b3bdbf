import { sectionNamed } from "../stages/blocks/names.ts"
import { headingId, pageId } from "./allowed.ts"
import { thingNamed, type ThingsInChapters } from "./named-things.ts"

/** Ids of a document's headings by what leads to them: their names (`section 2.1`), their pages with their words or names. */
export type Headings = ReadonlyMap<string, string>

/** Letters and numbers alone, in small letters: what two ways to write one heading share. */
export const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "")

/** The dots and the page's number at the end of a line of contents. */
const TO_PAGE = /(?<![\s.\u00b7\u2026])[\s.\u00b7\u2026]{1,200}[\divxlc]{1,6}$/i

const onPage = (page: number, key: string): string => `${page} ${key}`

/** Maps names to headings, with pages counted from 0. An ambiguous name leads to no heading. */
export const headingsByWords = (
  headings: ReadonlyArray<{ readonly page: number; readonly text: string }>
): Headings => {
  const known = new Map<string, string>()
  const twice = new Set<string>()
  for (const [at, { page, text }] of headings.entries()) {
    const name = sectionNamed(text)
    const keys = [onPage(page, lettersOf(text)), ...(name === undefined ? [] : [name, onPage(page, name)])]
    for (const key of new Set(keys)) {
      if (known.has(key)) twice.add(key)
      known.set(key, headingId(at + 1))
    }
  }
  for (const key of twice) known.delete(key)
  return known
}

/** The heading of a page that a link to the page means: it has the link's words, or the number that they begin with. */
const headingOn = (headings: Headings, page: number, words: string): string | undefined => {
  // A number alone names a section as one before a title does.
  const keys = [lettersOf(words), lettersOf(words.replace(TO_PAGE, "")), sectionNamed(`${words.trim()} x`)]
  return keys
    .map((key) => (key === undefined || key === "" ? undefined : headings.get(onPage(page, key))))
    .find((id) => id !== undefined)
}

/** Longest words of a link that a heading may have. */
const MAX_WORDS = 300

/** Ids that pages give to what links of other pages lead to: a page, a place on it, something by its name. */
const ON_PAGE = /^(?:page-|at-(?=\d+-))(\d{1,6})(?:-\d{1,6}(?<named>-[a-z]{5,8}-[\w.-]{1,40})?)?$/
const NAMED = /^named-(section|figure|table|equation)-([\w.-]{1,40})$/

/** The document that links lead about in. */
export interface LinksFrom {
  readonly headings: Headings
  readonly pageCount: number
  readonly places: ReadonlySet<string>
  readonly named: ThingsInChapters
}

/** The id in the document of what a link of a page in a chapter leads to; undefined where that is not there. */
export const linkTarget = (
  document: LinksFrom,
  id: string,
  words: string,
  chapter: number
): string | undefined => {
  const [, kind, name] = NAMED.exec(id) ?? []
  if (kind === "section") return document.headings.get(`${kind} ${name}`)
  if (kind !== undefined) {
    const thing = thingNamed(document.named, `${kind} ${name}`, chapter)
    return thing === undefined ? undefined : `p${thing.page + 1}-${thing.id}`
  }
  const page = Number(ON_PAGE.exec(id)?.[1] ?? 0)
  if (page < 1 || page > document.pageCount) return undefined
  if (document.places.has(id)) return `p${page}-${id}`
  return headingOn(document.headings, page - 1, words.slice(0, MAX_WORDS)) ?? pageId(page - 1)
}

/** A page's fragment, to be shown without the others: links to other pages become plain words. */
export const withoutOthers = (html: string): string => {
  const ids = new Map<string, string | undefined>()
  for (const [, id = ""] of html.matchAll(/<[^<>]* id="([^"]*)"/g)) {
    ids.set(id, id)
    const name = ON_PAGE.exec(id)?.groups?.["named"]
    // What the page has twice may be either.
    if (name !== undefined) ids.set(`named${name}`, ids.has(`named${name}`) ? undefined : id)
  }
  return html.replaceAll(/<a [^<>]*>/g, (tag) => {
    const id = /href="#([^"]*)"/.exec(tag)?.[1]
    if (id === undefined) return tag
    const own = ids.get(id)
    return own === undefined
      ? tag.replaceAll(/ (?:href|role)="[^"]*"/g, "")
      : tag.replace(`href="#${id}"`, () => `href="#${own}"`)
  })
}
