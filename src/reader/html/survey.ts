import { type HtmlNode, isElement, lineOf, textOf } from "../model/html-tree.ts"
import { leftOutTexts } from "../model/left-out.ts"
import type { DocumentFacts } from "../model/page-content.ts"
import type { ContentsEntry, FoundHeading, Survey } from "../model/survey.ts"
import { headingId, languageTag } from "./allowed.ts"
import { type Headings, headingsByWords, lettersOf } from "./link-targets.ts"
import { inChapters, NamedThingsFound, type ThingsInChapters } from "./named-things.ts"
import { phrases } from "./repair.ts"
import { RepeatedPictures } from "./repeated-pictures.ts"
import { type InterfaceWords, wordsFor } from "./words.ts"

/** The open headings above a place, by the levels that the pages gave them. */
export interface HeadingState {
  readonly open: ReadonlyArray<number>
  /** Number of headings so far; their ids are numbered by it. */
  readonly count: number
  /** How many chapters have begun: headings right below the document's own. */
  readonly chapter: number
  /** True when the document's title heading has occurred, or is in the header. */
  readonly titled: boolean
}

/** Deepest level of HTML. */
const DEEPEST = 6

/** Before the first heading. `ownTitle`: that one is the document's title. */
export const startHeadings = (ownTitle: boolean): HeadingState => ({
  open: [],
  count: 0,
  chapter: 0,
  titled: !ownTitle
})

/**
 * The level of a heading, so that there is one `h1` and no level is skipped: one deeper than the nearest heading before it that
 * ranks higher.
 */
export const placeHeading = (
  state: HeadingState,
  level: number
): { readonly level: number; readonly state: HeadingState } => {
  const count = state.count + 1
  if (!state.titled) return { level: 1, state: { ...state, open: [], count, titled: true } }
  const open = state.open.filter((above) => above < level)
  const placed = Math.min(DEEPEST, open.length + 2)
  const chapter = state.chapter + (open.length === 0 ? 1 : 0)
  return { level: placed, state: { ...state, chapter, count, open: [...open, level] } }
}

/** What is decided before a document is written. */
export interface Plan {
  readonly lang: string
  readonly title: string
  /** True when the pages' first heading is the document's title; else the header has the title. */
  readonly ownTitle: boolean
  readonly contents: ReadonlyArray<ContentsEntry>
  readonly places: ReadonlySet<string>
  readonly named: ThingsInChapters
  readonly repeated: ReadonlySet<string>
  readonly headings: Headings
  readonly words: InterfaceWords
  /** 0 where the document has no pages: then it does not show where any begin. */
  readonly pageCount: number
  /** Notes for the reader above the document, a paragraph each. */
  readonly notes: ReadonlyArray<string>
}

/** Most headings that are remembered; a manual of 16,000 pages has 10,000. */
const MAX_HEADINGS = 50_000
const MAX_HEADING_TEXT = 300
/** Most entries of a table of contents; the deepest levels are left out until it fits. */
const MAX_ENTRIES = 800
/** A document with fewer of either needs no table of contents. */
const MIN_ENTRIES = 3
const MIN_PAGES = 2
/** Most places that links lead to; links to others lead to their pages. */
const MAX_PLACES = 50_000
const MAX_SAMPLE = 12_000
const SAMPLE_A_PAGE = 600
const MAX_TITLE = 200

const HEADING = /^h[1-6]$/

/** The ids of places that links lead to, and of what has a name. */
const PLACE = / id="(at-\d{1,6}-\d{1,6}(?:-[a-z]{5,8}-[\w.-]{1,40})?)"/g

/** Collects over pages, one after the other; appends in place, so that a long document stays linear. */
export class Surveyor {
  readonly #headings: Array<FoundHeading> = []
  #pages = 0
  #sample = ""
  readonly #places = new Set<string>()
  readonly #named = new NamedThingsFound()
  readonly #pictures = new RepeatedPictures()

  /** Skips the next page, where nothing on it is needed: no heading, and the language's sample is long enough. */
  skips(html: string): boolean {
    this.#pictures.add(html)
    const ids = [...html.matchAll(PLACE)].map(([, id = ""]) => id)
    for (const id of ids) if (this.#places.size < MAX_PLACES) this.#places.add(id)
    if (this.#sample.length < MAX_SAMPLE || /<h[1-6]/i.test(html)) return false
    this.#pages += 1
    for (const id of ids) this.#named.add(id, this.#headings.length)
    return true
  }

  /** Adds the next page. */
  add(nodes: ReadonlyArray<HtmlNode>): void {
    const page = this.#pages++
    this.#look(nodes, page)
    if (this.#sample.length >= MAX_SAMPLE) return
    const text = textOf(nodes.filter((node) => isElement(node) && node.name === "p")).replaceAll(/\s+/g, " ")
    this.#sample += ` ${text.slice(0, SAMPLE_A_PAGE)}`
  }

  #look(nodes: ReadonlyArray<HtmlNode>, page: number): void {
    for (const node of nodes) {
      if (!isElement(node)) continue
      const { attributes, children, name } = node
      if (attributes["id"] !== undefined) this.#named.add(attributes["id"], this.#headings.length)
      if (!HEADING.test(name)) this.#look(children, page)
      else if (this.#headings.length < MAX_HEADINGS) {
        const text = lineOf(phrases(children))
        const isTitle = attributes["data-title"] !== undefined && this.#headings.length === 0
        const level = isTitle ? 0 : Number(name.slice(1))
        if (text !== "") this.#headings.push({ level, text: text.slice(0, MAX_HEADING_TEXT), page })
      }
    }
  }

  survey(): Survey {
    return {
      headings: this.#headings,
      pages: this.#pages,
      sample: this.#sample.trim(),
      places: this.#places,
      named: this.#named.things(),
      repeated: this.#pictures.keys()
    }
  }
}

/**
 * Least common letters of a heading and a title where one continues the other: "Waterways" and "Waterways – a guide".
 */
const MIN_SHARED = 8

/** Whether a heading has a title's words, or one of them begins with all of the other's. */
const repeats = (heading: string, title: string): boolean => {
  const [a, b] = [lettersOf(heading), lettersOf(title)]
  if (a === "" || b === "") return false
  return a === b || (Math.min(a.length, b.length) >= MIN_SHARED && (a.startsWith(b) || b.startsWith(a)))
}

/** A meaningful title: not a file's name or a program's default. */
const meaningful = (title: string | undefined): string | undefined => {
  const text = title?.replaceAll(/\s+/g, " ").trim() ?? ""
  if (
    text === "" ||
    /^(untitled|document\d*|microsoft word\b.*|.*\.(docx?|pdf|tex|dvi|indd|pptx?|xlsx?))$/i.test(text)
  )
    return undefined
  return text.slice(0, MAX_TITLE)
}

/** Whether the pages' first heading is the document's title: it ranks above all others, or repeats the title's words. */
const hasOwnTitle = ({ headings }: Survey, title: string | undefined): boolean => {
  const [first] = headings
  if (first === undefined) return false
  return (
    headings.every(({ level }, at) => at === 0 || level > first.level) ||
    (title !== undefined && repeats(first.text, title))
  )
}

const contentsOf = (survey: Survey, ownTitle: boolean, pages: number): ReadonlyArray<ContentsEntry> => {
  let state: HeadingState = startHeadings(ownTitle)
  const entries: Array<ContentsEntry> = []
  for (const { level, text } of survey.headings) {
    const placed = placeHeading(state, level)
    state = placed.state
    if (placed.level > 1 && placed.level <= 4)
      entries.push({ level: placed.level, text, id: headingId(state.count) })
  }
  let deepest = 4
  let kept = entries
  while (deepest > 2 && (kept.length > MAX_ENTRIES || (deepest === 4 && kept.length > 60))) {
    deepest -= 1
    kept = entries.filter(({ level }) => level <= deepest)
  }
  return pages < MIN_PAGES || kept.length < MIN_ENTRIES ? [] : kept.slice(0, MAX_ENTRIES)
}

/** How many chapters have begun after each number of headings. */
const chaptersOf = ({ headings }: Survey, ownTitle: boolean): ReadonlyArray<number> => {
  let state = startHeadings(ownTitle)
  const begun = [state.chapter]
  for (const { level } of headings) {
    state = placeHeading(state, level).state
    begun.push(state.chapter)
  }
  return begun
}

/**
 * Decides language, title and contents. `detect` guesses the language of a text; `name` is the document's file name;
 * `estimatedPages`, where it has no pages, how many it fills.
 */
export const planOf = (
  survey: Survey,
  facts: Pick<DocumentFacts, "lang" | "leftOut" | "title">,
  {
    detect,
    estimatedPages,
    name,
    notes: said = []
  }: {
    readonly detect: (text: string) => string | undefined
    readonly name: string | undefined
    readonly estimatedPages?: number | undefined
    readonly notes?: ReadonlyArray<string> | undefined
  }
): Plan => {
  const lang = languageTag(facts.lang) ?? languageTag(detect(survey.sample)) ?? "en"
  const words = wordsFor(lang)
  const stated = meaningful(facts.title)
  const first = survey.headings[0]?.text
  // A heading with others at its level is not the title; above them it would be read twice.
  const file = meaningful(name?.replace(/\.\w{1,5}$/, ""))
  const ownTitle = hasOwnTitle(survey, stated ?? file)
  const title = stated ?? (ownTitle ? first : undefined) ?? file ?? first ?? name ?? words.untitled
  const contents = contentsOf(survey, ownTitle, estimatedPages ?? survey.pages)
  const headings = headingsByWords(survey.headings)
  const named = inChapters(survey.named, chaptersOf(survey, ownTitle))
  const { places, repeated } = survey
  const pageCount = estimatedPages === undefined ? survey.pages : 0
  const notes = [...said, ...leftOutTexts(facts.leftOut)]
  return { lang, title, ownTitle, contents, places, named, repeated, headings, words, pageCount, notes }
}
