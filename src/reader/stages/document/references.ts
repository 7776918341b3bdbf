import type { Block, LinkSpan, LinkTarget, Span } from "../../model/block.ts"
import type { Met } from "../../model/survey.ts"
import { goesOn, referredBy } from "../blocks/names.ts"
/** References in the text ("Section II", "Figure 3", "Eq. (4)") that the document does not link itself, and what they name. */
import { CAPTION } from "../lines/markers.ts"

/** A reference: the kind of thing, and its number. Numbers in another document do not count. */
const REFERENCE = new RegExp(
  String.raw`(?<![\p{L}\p{N}]|\]\s?,?\s?|RFC[\s-]?\d{1,5},?\s)` +
    String.raw`(?:(?<section>[Ss]ections?|[Ss]ec\.|§|[Cc]hapters?|[Aa]ppendix|Abschnitt|Kapitel|Anhang|[Cc]hapitre|[Aa]nnexe)` +
    String.raw`|(?<figure>[Ff]igures?|[Ff]igs?\.|Abbildung|Abb\.)|(?<table>[Tt]ables?|[Tt]ab\.|Tabelle|[Tt]ableau)` +
    String.raw`|(?<equation>[Ee]quations?|[Ee]qs?\.|Gleichung))\s?` +
    String.raw`\(?(?<number>\d{1,3}(?:\.\d{1,3}){0,4}|[IVX]{1,6}|[A-Z](?:\.?\d{1,3}){0,4})(?![\p{L}\p{N}]|[.-]\d)\)?` +
    String.raw`(?!\s(?:of|von|de|du)\s(?!th(?:is|ese)\s)|\s(?:in|aus|dans)\s(?:\[|\p{Lu}|the\s))`,
  "gu"
)
/** Quick pre-check: most texts have no reference, and matching them all with the global pattern takes longer. */
const REFERS = new RegExp(REFERENCE, "u")
/** Pages by the names of the things on them; ambiguous names are left out. */
type Named = ReadonlyMap<string, number>

const namedOn = (
  pages: ReadonlyArray<{ readonly index: number; readonly blocks: ReadonlyArray<Block> }>
): Named => {
  const met = new Map<string, Met>()
  const named = new Map<string, number>()
  const twice = new Set<string>()
  let headings = 0
  for (const { blocks, index } of pages)
    for (const block of blocks) {
      if (block.kind === "heading") headings += 1
      const name = referredBy(block)
      if (name === undefined) continue
      const [here, before] = [{ page: index, headings }, met.get(name)]
      met.set(name, here)
      if (before === undefined) named.set(name, index)
      else if (!goesOn(name, before, here)) twice.add(name)
    }
  for (const name of twice) named.delete(name)
  return named
}

/**
 * Target of a name on these pages. Where the document has more pages, the target of a section is on one of these, and
 * that of any other name is found later: some documents count tables and figures from 1 in each chapter, so that these
 * pages alone do not decide.
 */
const targetOf = (name: string, named: Named, more: boolean): LinkTarget | undefined => {
  const page = more && !name.startsWith("section ") ? undefined : named.get(name)
  if (page !== undefined) return { kind: "page", page, name }
  return more ? { kind: "named", name } : undefined
}

const linked = (spans: ReadonlyArray<Span>, named: Named, more: boolean): ReadonlyArray<Span> =>
  spans.flatMap((span, place): ReadonlyArray<Span> => {
    if (span.kind !== "text" || span.code || !REFERS.test(span.text)) return [span]
    const parts: Array<Span> = []
    let from = 0
    for (const { 0: words, groups = {}, index } of span.text.matchAll(REFERENCE)) {
      const { number = "", ...kinds } = groups
      const kind = Object.entries(kinds).find(([, found]) => found !== undefined)?.[0]
      const name = `${kind} ${number}`
      const target = targetOf(name, named, more)
      // A caption names itself.
      if (target === undefined || (place === 0 && index === 0 && CAPTION.test(span.text))) continue
      if (index > from) parts.push({ ...span, text: span.text.slice(from, index) })
      const link: LinkSpan = {
        kind: "link",
        target,
        spans: [{ ...span, text: words }]
      }
      parts.push(link)
      from = index + words.length
    }
    return from === 0
      ? [span]
      : [...parts, ...(from < span.text.length ? [{ ...span, text: span.text.slice(from) }] : [])]
  })

const inBlock = (block: Block, named: Named, more: boolean): Block => {
  switch (block.kind) {
    case "paragraph":
      return { ...block, spans: linked(block.spans, named, more) }
    case "list":
      return {
        ...block,
        items: block.items.map((item) => ({
          ...item,
          blocks: item.blocks.map((one) => inBlock(one, named, more))
        }))
      }
    case "quote":
    case "footnote":
      return { ...block, blocks: block.blocks.map((one) => inBlock(one, named, more)) }
    default:
      return block
  }
}

/**
 * Links references to things that occur once on pages that are laid out together; `more`: the document has further
 * pages.
 */
export const withReferences = <
  Page extends { readonly index: number; readonly blocks: ReadonlyArray<Block> }
>(
  pages: ReadonlyArray<Page>,
  more = false
): ReadonlyArray<Page> => {
  const named = namedOn(pages)
  if (named.size === 0 && !more) return pages
  return pages.map((page) => ({ ...page, blocks: page.blocks.map((block) => inBlock(block, named, more)) }))
}
