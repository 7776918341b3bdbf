import { asParagraph, type Block, BREAK, type Heading, onOneLine, textOfSpans } from "../../model/block.ts"
import { isContentsTitle, isLabelAlone, lettersOf } from "../lines/heading-words.ts"
import { SENTENCE_END } from "../lines/paragraphs.ts"
import { sectionNumber } from "../lines/section-number.ts"

/** Pages from the first one on that may be title pages. */
const TITLE_PAGES = 6
/** Shortest paragraph that counts as running text, characters. */
const TEXT = 90
/** Headings on a title page; a page with fewer opens a chapter. */
const DISPLAYED = 3

/** What the text of a document begins with, after title, authors and their addresses. */
const BEGINNING =
  /^(?:abstract|summary|synopsis|introduction|preface|foreword|keywords|zusammenfassung|kurzfassung|einleitung|vorwort|schlüsselwörter|résumé|avant-propos|préface|mots[- ]clés|resumen|resumo|introducción|introdução|prefacio|palabras clave|palavras-chave|sommario|riassunto|introduzione|prefazione|samenvatting|inleiding|streszczenie|wstęp|abstrakt|úvod|аннотация|введение|реферат|摘要|概要|要旨|前言|引言|はじめに|초록|서론)(?=$|[\s.:—–-])/iu

/** A date or a version, which a title page has below the title. A word before the month needs a comma, a day or a known month behind it: "Annual report 2026" is a title. */
const DATE =
  /(?:^|\s)(?:v\.?\s?\d|version\s+\d|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d{2}(?:-\d{2})?$)|^(?:\p{L}+(?:,\s+|\s+(?=\d|jan|f[eé]v?b|mar|mär|mrz|apr|avr|abr|ma[iyjg]|jun|jui|giu|jul|lug|aug|ao[uû]|ago|sep|set|o[ck]t|ott|nov|d[eé]c|dez|dic|spring|summer|autumn|winter)))?(?:\d{1,2}(?:st|nd|rd|th|\.)?\s+(?:de\s+)?)?\p{L}{3,10}\.?\s+(?:de\s+)?(?:\d{1,2}(?:st|nd|rd|th)?,?\s+)?(?:19|20)\d\d\.?$/iu

/** A longer line that has a date or a version is a title. */
const MAX_DATE = 60

const wordsOf = (block: Block | undefined): string =>
  block?.kind === "heading" || block?.kind === "paragraph" ? textOfSpans(block.spans).trim() : ""

/** True when a block is running text: long, or with a sentence's end; in heading style, only with both. */
const isText = (block: Block | undefined): boolean => {
  // Addresses of authors may be set in typewriter.
  if (block?.kind === "code") {
    const words = block.text.trim().split(/[\s,;]+/)
    return !words.every((word) => MAIL.test(word) || SITE.test(word))
  }
  if (block?.kind === "list" || block?.kind === "table") return true
  // An address is not a title, however long.
  if (block?.kind === "paragraph" && block.spans.includes(BREAK)) return false
  const words = wordsOf(block)
  const [long, ends] = [words.length > TEXT, SENTENCE_END.test(words)]
  return words.includes(" ") && (block?.kind === "paragraph" ? long || ends : long && ends)
}

/** A name: two words with capitals at least, initials and particles counted, with the marks of its notes. */
const NAME = String.raw`(?:\p{Lu}[\p{L}.’'-]*[∗*†‡§]*\s+){1,3}\p{Lu}[\p{L}.’'-]+[∗*†‡§\d]*(?:,\d{1,2})*`
const PERSON = new RegExp(`^${NAME}$`, "u")
const PEOPLE = new RegExp(`^${NAME}(?:(?:,\\s*|\\s*&\\s*|,?\\s+(?:and|und|et|y|e)\\s+)${NAME}){1,12}$`, "u")
/** Two initials; the first is not a section's number. */
const INITIALS = /^\p{Lu}\.\s?\p{Lu}\.\s/u

/** Whether words are those that a text begins with, alone or before its sentences: "Summary of results" is a title. */
const begins = (words: string): boolean => {
  const found = BEGINNING.exec(words)
  if (found === null) return false
  const rest = words.slice(found[0].length).trimStart()
  return !/^[\p{L}\p{N}]/u.test(rest) || rest.length > TEXT || SENTENCE_END.test(rest)
}

/** Whether a heading opens what follows by its own words: it has a number, or is one of those that every document has. */
const opens = (words: string): boolean => {
  const number = sectionNumber(words)
  return (
    (number !== undefined &&
      number.scheme !== "lower" &&
      !DATE.test(words) &&
      !PEOPLE.test(words) &&
      !INITIALS.test(words)) ||
    begins(words) ||
    isContentsTitle(words) ||
    isLabelAlone(words)
  )
}

/** An address of mail, and one of a site, alone. */
const MAIL = /^[^\s@]+@[^\s@]+$/
const SITE = /^(?:https?:\/\/|www\.)\S+$/

/** Whether a heading names people or their addresses: marks of notes at its words, an address of mail. */
const namesAuthors = ({ spans }: Heading): boolean => {
  const marked = spans.some(
    (span) =>
      span.kind === "noteref" ||
      (span.kind === "text" && span.raise === "sup" && /^[\d\s,*∗†‡§¶a-e]+$/u.test(span.text))
  )
  const words = textOfSpans(spans)
  if (PEOPLE.test(words) || (marked && PERSON.test(words))) return true
  return /\S@\S/.test(words) || (marked && /[,&]|[\s∗*†‡§](?:and|und|et|y|e)\s/u.test(words))
}

const isDate = (block: Block): boolean => wordsOf(block).length <= MAX_DATE && DATE.test(wordsOf(block))

/** Whether a heading has text, at once or below headings that rank below it. */
const nests = (blocks: ReadonlyArray<Block>, from: number): boolean => {
  for (let at = from + 1; at < blocks.length; at++) {
    const [above, block, below] = [blocks[at - 1], blocks[at], blocks[at + 1]]
    // A few words may announce the code below them.
    if (block?.kind === "paragraph" && below?.kind === "code") return isText(below)
    if (block?.kind !== "heading") return isText(block)
    if (isDate(block) || (above?.kind === "heading" && block.level <= above.level)) return false
  }
  return false
}

/** A title has two words next to its version; a paper's number has not. */
const isTitle = (block: Heading): boolean =>
  wordsOf(block)
    .replace(DATE, "")
    .split(/\s/)
    .filter((word) => /\p{L}{2}/u.test(word)).length > 1

/** True for a date; false for a title that has its version next to it. */
const isDateAlone = (block: Heading): boolean => isDate(block) && !isTitle(block)

/** Maximum number of blocks in the address below a letterhead. An address has a telephone number, or its name a company's legal form. */
const BELOW_LETTERHEAD = 4
const CALLED =
  /(?:^|[^\p{L}])(?:tel|phone|telephone|telefon|fax|tlf|tél|téléphone|teléfono)\b[.:\s]*[+(\d]|\+\d{1,3}[\s(]\d/iu
const COMPANY =
  /(?:^|\s)(?:Ltd|Limited|GmbH|AG|KG|Inc|LLC|LLP|Corp|PLC|plc|Pty|AB|ASA|AS|ApS|Oy|BV|NV|B\.V|N\.V|S\.A|SA|SARL|S\.r\.l|s\.r\.o|e\.V)\.?(?=$|[\s,])/u
/** What a letter begins with, and the blocks above it that may be its subject. */
const SALUTATION =
  /^(?:dear|hello|hi|sehr geehrte[rns]?|lieber?|guten tag|chère?s?|madame|monsieur|estimad[oa]s?|querid[oa]|gentile|egregio|spettabile|car[oa]|geachte|beste|kära?|kæra?e?|hei|hej|szanown\p{L}{1,4}|vážen\p{L}{1,4}|prezad[oa]s?)(?=[\s,:!])[^.?]{0,60}[,:!]$/iu
const ABOVE_SALUTATION = 2

/** Whether a heading is the sender's name, with the document's own title below. */
const isLetterhead = (blocks: ReadonlyArray<Block>, at: number): boolean => {
  const below = blocks.findIndex((block, place) => place > at && block.kind === "heading")
  if (at > BELOW_LETTERHEAD || below < 0) return false
  const salutation = blocks.findIndex((block) => SALUTATION.test(wordsOf(block)))
  if (salutation > below) return salutation - below <= ABOVE_SALUTATION
  const name = wordsOf(blocks[at])
  const address = blocks.slice(at + 1, Math.min(below, at + 1 + BELOW_LETTERHEAD))
  const lines = address.map(wordsOf)
  return (
    address.every((block) => block.kind === "paragraph" && !isText(block)) &&
    lines.some((line) => CALLED.test(line) || (COMPANY.test(name) && /\d|@/.test(line)))
  )
}

/** Index of the title: the first of the highest headings before the text. */
const titleAt = (blocks: ReadonlyArray<Block>, end: number): number => {
  let title = -1
  for (let at = 0; at < end; at++) {
    const block = blocks[at]
    const best = blocks[title]
    if (block?.kind !== "heading" || isDateAlone(block) || namesAuthors(block)) continue
    if (isLetterhead(blocks, at)) continue
    const better =
      best?.kind !== "heading" ||
      block.level < best.level ||
      (block.level === best.level && !isTitle(best) && isTitle(block))
    if (better) title = at
  }
  return title
}

/** Greatest ratio between sizes of one title's lines. */
const SAME_SIZE = 1.05

const isSetAs = (block: Heading, title: Block | undefined): boolean =>
  title?.kind === "heading" &&
  block.level === title.level &&
  (block.size === undefined || title.size === undefined || title.size < SAME_SIZE * block.size)

/** The headings that a title is set in, a paragraph each: those below are set as the first, in capitals too, and have no text. */
const linesOfTitle = (
  blocks: ReadonlyArray<Block>,
  heads: (block: Heading, at: number) => boolean
): ReadonlyArray<Heading> => {
  const [title] = blocks
  if (title?.kind !== "heading") return []
  const lines = [title]
  for (const [at, block] of blocks.entries()) {
    if (at === 0) continue
    if (block.kind !== "heading" || namesAuthors(block) || isDateAlone(block) || heads(block, at)) break
    if (!isSetAs(block, title)) break
    if (!/\p{Ll}/u.test(wordsOf(title)) && /\p{Ll}/u.test(wordsOf(block))) break
    lines.push(block)
  }
  return lines
}

/**
 * Separates a title from the text around it on a title page or above a paper's text: authors, addresses, dates and
 * versions are paragraphs, whatever their style.
 */
export const withFrontMatter = (blocks: ReadonlyArray<Block>, page: number): ReadonlyArray<Block> => {
  if (page >= TITLE_PAGES) return blocks
  const opening = blocks.findIndex((block) => opens(wordsOf(block)))
  const headings = blocks.filter(({ kind }) => kind === "heading").length
  const displayed = opening < 0 && headings >= DISPLAYED && !blocks.some(isText)
  if (page > 0 && !displayed) return blocks
  const title = titleAt(blocks, opening < 0 ? blocks.length : opening)
  const text = blocks.findIndex((block, at) => at > title && block.kind === "paragraph" && isText(block))
  // Below text, what has none on this page has it on the next one.
  const end = opening >= 0 ? opening : text < 0 ? blocks.length : text
  // A section heading: text follows, and its words are neither people nor a date. The words that open the document's text
  // do not count as the heading's.
  const heads = (block: Heading, at: number): boolean =>
    at > title &&
    !namesAuthors(block) &&
    !isDate(block) &&
    (opening < 0 ? nests(blocks, at) : at + 1 < end && isText(blocks[at + 1]))
  const continued = linesOfTitle(blocks.slice(Math.max(0, title), end), (block, at) =>
    heads(block, title + at)
  )
  return blocks.flatMap((block, at): ReadonlyArray<Block> => {
    if (block.kind !== "heading" || at >= end) return [block]
    if (at === title) return [{ ...block, spans: onOneLine(continued.map(({ spans }) => spans)) }]
    if (at > title && at < title + continued.length) return []
    return [heads(block, at) ? block : asParagraph(block)]
  })
}

/** Blocks below a title that may be its second title, which continues it on another title page ("Rivers: a guide"). */
const SECOND_TITLE = 2

/** The letters of a title, alone and together with the blocks right below it. */
const lettersOfTitle = (blocks: ReadonlyArray<Block>): ReadonlySet<string> => {
  const at = blocks.findIndex(({ kind }) => kind === "heading")
  const [title, ...below] = blocks.slice(at, at + 1 + SECOND_TITLE).map((block) => lettersOf(wordsOf(block)))
  if (at < 0 || title === undefined || title === "") return new Set()
  return new Set([title, ...below.map((_, lines) => title + below.slice(0, lines + 1).join(""))])
}

/**
 * The title of a document once: where one of its title pages has it again, without text before what opens the document, it is a
 * paragraph there. `pages`: from any on, in order.
 */
export const withOneTitle = <Page extends { readonly index: number; readonly blocks: ReadonlyArray<Block> }>(
  pages: ReadonlyArray<Page>
): ReadonlyArray<Page> => {
  const first = pages.find(({ blocks }) => blocks.some(({ kind }) => kind === "heading"))
  const letters = lettersOfTitle(first?.blocks ?? [])
  if (pages[0]?.index !== 0 || first === undefined || letters.size === 0) return pages
  return pages.map((page) => {
    if (page.index <= first.index || page.index >= TITLE_PAGES) return page
    const again = (block: Block, at: number): block is Heading => {
      if (block.kind !== "heading" || !letters.has(lettersOf(wordsOf(block)))) return false
      const opening = page.blocks.findIndex((below, place) => place > at && opens(wordsOf(below)))
      return !nests(opening < 0 ? page.blocks : page.blocks.slice(0, opening), at)
    }
    return page.blocks.some(again)
      ? { ...page, blocks: page.blocks.map((block, at) => (again(block, at) ? asParagraph(block) : block)) }
      : page
  })
}
