import { type Block, type LinkTarget, type Span, textOfSpans } from "../../model/block.ts"
import { referredBy } from "../blocks/names.ts"

/** What links of pages lead to, by identity: the ids (`at-5-1` on the fifth page) of blocks, and those that targets mean. */
export interface Places {
  readonly ids: ReadonlyMap<Block, string>
  readonly targets: ReadonlyMap<LinkTarget, string>
}

/** Blocks of a page that is laid out. */
interface LaidOut {
  readonly index: number
  readonly blocks: ReadonlyArray<Block>
}

/** Greatest distance of a link target above the thing it means, and below its upper edge, in points. */
const ABOVE = 60
const BELOW = 14
/** Characters that name a block: its number, its mark. */
const NAME = 24
/** Bonus in distance, in points, of a block that has the link's words in its name. */
const NAMED = 40

const within = (block: Block): ReadonlyArray<Block> => {
  switch (block.kind) {
    case "list":
      return block.items.flatMap(({ blocks }) => blocks)
    case "table":
      return block.rows.flatMap((row) => row.flatMap(({ blocks }) => blocks))
    case "footnote":
    case "quote":
    case "aside":
    case "contents":
      return block.blocks
    default:
      return []
  }
}

const spansOf = (block: Block): ReadonlyArray<Span> =>
  block.kind === "heading" || block.kind === "paragraph"
    ? block.spans
    : block.kind === "table" || block.kind === "figure"
      ? block.caption
      : []

const flattened = (blocks: ReadonlyArray<Block>, all: Array<Block> = []): ReadonlyArray<Block> => {
  for (const block of blocks) {
    all.push(block)
    flattened(within(block), all)
  }
  return all
}

/** What a block is called by: how it begins, or its number. */
const nameOf = (block: Block): string =>
  block.kind === "formula" ? (block.label ?? "") : textOfSpans(spansOf(block)).slice(0, NAME)

/** A block that links may lead to, and its upper edge. */
interface Candidate {
  readonly block: Block
  readonly top: number
  readonly tokens: ReadonlySet<string>
  /** What it is referred to by. */
  readonly name: string | undefined
}

/** Numbers, without dots at their end, and words. */
const tokensOf = (text: string): ReadonlySet<string> => new Set(text.match(/\p{N}+(?:\.+\p{N}+)*|\p{L}+/gu))

const candidatesOf = (blocks: ReadonlyArray<Block>): ReadonlyArray<Candidate> =>
  blocks
    .flatMap((block): ReadonlyArray<Candidate> =>
      block.top !== undefined
        ? [{ block, top: block.top, tokens: tokensOf(nameOf(block)), name: referredBy(block) }]
        : []
    )
    .sort((a, b) => a.top - b.top)

/** The block that a target means: the nearest one below it, those first that begin with the link's words. */
const meant = (candidates: ReadonlyArray<Candidate>, y: number, words: string): Block | undefined => {
  const named = [...tokensOf(words)]
  let best: Block | undefined
  let distance = Infinity
  for (const { block, tokens, top } of candidates) {
    if (top < y - BELOW) continue
    if (top > y + ABOVE) break
    const away = Math.abs(top - y) - (named.some((token) => tokens.has(token)) ? NAMED : 0)
    if (away < distance) {
      best = block
      distance = away
    }
  }
  return best
}

/** Most links of pages laid out together that are led to a place; others lead to its page. */
const MAX_LINKS = 5000

/** Names of what other pages may refer to, that can be part of an id; sections are found by their words. */
const NAME_IN_ID = /^(?:figure|table|equation) [\w.-]{1,40}$/

/**
 * Finds what the links of pages that are laid out together lead to on these pages. `more`: the document has others, which may refer
 * to what has a name here (`at-5-1-figure-3`).
 */
export const placesOf = (pages: ReadonlyArray<LaidOut>, more = false): Places => {
  const ids = new Map<Block, string>()
  const targets = new Map<LinkTarget, string>()
  const all = new Map(pages.map(({ blocks, index }) => [index, flattened(blocks)]))
  for (const [page, blocks] of more ? all : [])
    for (const block of blocks) {
      const name = referredBy(block) ?? ""
      if (NAME_IN_ID.test(name)) ids.set(block, `at-${page + 1}-${ids.size + 1}-${name.replace(" ", "-")}`)
    }
  const candidates = new Map<number, ReadonlyArray<Candidate>>()
  let left = MAX_LINKS
  for (const blocks of all.values())
    for (const span of blocks.flatMap(spansOf)) {
      if (span.kind !== "link" || span.target.kind !== "page") continue
      const { name, page, y } = span.target
      const there = all.get(page)
      if (there === undefined || (y === undefined && name === undefined) || left-- <= 0) continue
      const near = candidates.get(page) ?? candidatesOf(there)
      candidates.set(page, near)
      const block =
        y === undefined
          ? near.find((one) => one.name === name)?.block
          : meant(near, y, textOfSpans(span.spans))
      if (block === undefined) continue
      const id = ids.get(block) ?? `at-${page + 1}-${ids.size + 1}`
      ids.set(block, id)
      targets.set(span.target, id)
    }
  return { ids, targets }
}
