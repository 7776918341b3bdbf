import { isBoldLine, type Line } from "../lines/line.ts"
import { levelAbove, markedOf, type Sections, sectionsOf } from "./sections.ts"
import { pageNumberLead, type PageStatistics, type StyleCount, styleKey } from "./statistics.ts"

/** What applies to a whole document, derived from counts. */
export interface DocumentProfile {
  /** Size of running text, points. */
  readonly bodySize: number
  /** Factor from a monospaced size to the text's: browsers set code smaller than the text around it. */
  readonly typewriterScale: number
  /** Running text is monospaced. */
  readonly typewritten: boolean
  /** Running text is bold (a poster, a slide). */
  readonly bodyBold: boolean
  /** Heading levels by `styleKey`. */
  readonly levels: ReadonlyMap<string, number>
  /** Styles, by `styleKey`, that are larger than running text and yet prose: an introduction above a long appendix in small type. */
  readonly prose: ReadonlySet<string>
  /** Levels of numbered headings, and of those that are neither larger nor bolder than running text. */
  readonly sections: Sections
  /** Levels by `markedKey`; see `markedOf`. */
  readonly marked: ReadonlyMap<string, number>
  /** The style of the document's title: the largest, and on a first page alone. */
  readonly title: string | undefined
  /** Lines in bold of the text's own size are so many and so short that they are headings, however they are spaced. */
  readonly boldHeads: boolean
  /** True when some heading candidates are larger than running text. */
  readonly ranked: boolean
  /** As of {@link pageNumberLead}. */
  readonly numberLead: number | undefined
  readonly statistics: PageStatistics
}

/** Smallest factor over the running text's size for a heading: lines of this factor are of another size. */
export const LARGER = 1.06
/** Least size of bold headings, in sizes of running text. */
const SMALLEST = 0.88
/** Short ones may be this small: browsers set the deepest headings smaller than text. */
const SMALLEST_HEADS = 0.64
/** Least size of numbered headings in italics or capitals, in sizes of running text. */
const SMALLEST_LOOK = 0.85
/** Sizes this near are one rank. */
const SAME_RANK = 1.035
/** A style with a larger share of the document's characters is text, not headings. */
const MAX_HEADING_SHARE = 0.2
/** Limit on the share of bold lines that are as short as headings on average. Leaflets have one for every few lines of text. */
const MAX_BOLD_SHARE = 0.3
const MEAN_HEADING = 40
/** Limit on the pages of such a leaflet. Longer documents have bold terms and remarks. */
const MOST_OF_LEAFLET = 4
/**
 * Least number and mean length of plain lines that count as prose, whatever their size: headings are shorter, and
 * fewer.
 */
const PROSE_LINES = 20
const PROSE_LENGTH = 40
/** Deepest level that sizes give. */
const MAX_LEVEL = 6

/** Share of a document's characters that are not monospaced from which on they define its text. */
const MIN_TEXT_SHARE = 0.1
/** Code is scaled to the running text's size only where it is larger than this share of it. */
const SMALLEST_CODE = 0.7

export const parseKey = (
  key: string
): { readonly size: number; readonly bold: boolean; readonly typewriter: boolean } => ({
  size: Number.parseInt(key, 10) / 4,
  bold: key.includes("b"),
  typewriter: key.endsWith("m")
})

interface Style extends StyleCount {
  readonly key: string
  readonly size: number
  readonly bold: boolean
  readonly typewriter: boolean
}

/** The style that most characters are set in. */
const usualOf = (styles: ReadonlyArray<Style>): Style | undefined =>
  styles.reduce<Style | undefined>(
    (best, style) => (best === undefined || style.characters > best.characters ? style : best),
    undefined
  )

const charactersOf = (styles: ReadonlyArray<Style>): number =>
  styles.reduce((sum, { characters }) => sum + characters, 0)

/** Least number and greatest mean length of bold lines in the text's size that count as headings. */
const BOLD_HEADS = 4
const BOLD_LENGTH = 32

/** Whether a style of bold lines is met as often, and its lines are as short, as those of headings. */
export const areHeads = (bold: StyleCount | undefined): boolean =>
  bold !== undefined && bold.lines >= BOLD_HEADS && bold.characters <= BOLD_LENGTH * bold.lines

/** Larger styles that are prose. A size's count includes its bold lines, which are left out here. */
const proseOf = (
  styles: ReadonlyArray<Style>,
  bodySize: number,
  counts: PageStatistics["styles"],
  /** Characters of the document. */
  total: number
): ReadonlySet<string> =>
  new Set(
    styles.flatMap(({ bold, characters, key, lines, size }) => {
      if (bold || size < bodySize * LARGER) return []
      const heavy = counts[key.replace(/^\d+/, "$&b")]
      const plain = lines - (heavy?.lines ?? 0)
      const own = characters - (heavy?.characters ?? 0)
      const isProse = plain >= PROSE_LINES && own >= PROSE_LENGTH * plain
      return isProse || own > MAX_HEADING_SHARE * total ? [key] : []
    })
  )

const titleStyle = (candidates: ReadonlyArray<Style>): string | undefined => {
  const [first] = candidates
  const next = candidates.find(({ size }) => first !== undefined && size < first.size)
  if (first === undefined || first.first > 1 || first.pages > 1) return undefined
  return next === undefined || first.size > next.size * SAME_RANK ? first.key : undefined
}

/** The levels of the styles that headings may have, the largest first, and those of them that are ranks of the document. */
const levelsOf = (candidates: ReadonlyArray<Style>, pages: number) => {
  // A style on a single page is not a rank, unless there is nothing else: a title, a cover.
  const regular = candidates.filter((style) => style.pages > 1 || pages <= 4)
  const levels = new Map<string, number>()
  const largestRegular = regular[0]?.size ?? 0
  const title = candidates.find(({ first, size }) => first <= 1 && size > largestRegular * SAME_RANK)
  let level = title === undefined ? 0 : 1
  let rank = Infinity
  for (const style of candidates) {
    const large = style.size > largestRegular * SAME_RANK
    // Smaller than those it is a rank that one page alone has: a level that is left out elsewhere is closed in assembly.
    if (!regular.includes(style) && (large || !style.bold)) {
      // Other sizes on a title page rank with the chapters, not above them.
      levels.set(
        style.key,
        large ? (style.size * SAME_RANK >= (title?.size ?? 0) ? 1 : 2) : Math.max(1, level)
      )
      continue
    }
    // Bold and plain of one size are one rank.
    if (rank / style.size > SAME_RANK) {
      level = Math.min(MAX_LEVEL, level + 1)
      rank = style.size
    }
    levels.set(style.key, level)
  }
  return { levels, regular }
}

/** Computes the profile. */
export const profileOf = (statistics: PageStatistics): DocumentProfile => {
  const counted = Object.entries(statistics.styles).map(([key, count]): Style => ({
    key,
    ...parseKey(key),
    ...count
  }))
  // Characters of bold lines are also counted under their size.
  const all = counted.filter(({ bold }) => !bold)
  const total = charactersOf(all)
  const [code, text] = [
    all.filter(({ typewriter }) => typewriter),
    all.filter(({ typewriter }) => !typewriter)
  ]
  // In a reference full of code and signatures the text still counts.
  const body = usualOf(charactersOf(text) >= MIN_TEXT_SHARE * total ? text : all)
  const bodySize = body?.size ?? 10
  const codeSize = usualOf(code)?.size ?? bodySize
  const typewriterScale = codeSize < bodySize && codeSize > SMALLEST_CODE * bodySize ? bodySize / codeSize : 1
  const boldBody = statistics.styles[styleKey(bodySize, true, body?.typewriter)]
  const typewritten = body?.typewriter === true
  const styles = counted.map((style) => ({
    ...style,
    size: style.typewriter && style.bold && !typewritten ? style.size * typewriterScale : style.size
  }))
  const bodyBold = body !== undefined && boldBody !== undefined && boldBody.characters > 0.6 * body.characters
  const prose = proseOf(styles, bodySize, statistics.styles, total)
  const candidates = styles
    .filter((style) => {
      const { bold, characters, key, size } = style
      const smallest = bodySize * (areHeads(style) ? SMALLEST_HEADS : SMALLEST)
      const stands = size >= bodySize * LARGER || (bold && !bodyBold && size >= smallest)
      const isLeaflet = statistics.indexes.length <= MOST_OF_LEAFLET
      const areShort =
        isLeaflet && bold && style.lines >= BOLD_HEADS && characters <= MEAN_HEADING * style.lines
      const share = areShort ? MAX_BOLD_SHARE : MAX_HEADING_SHARE
      return stands && characters <= share * total && !prose.has(key)
    })
    .sort((a, b) => b.size - a.size || Number(b.bold) - Number(a.bold))
  const { levels, regular } = levelsOf(candidates, statistics.indexes.length)
  const ranked = candidates.some(({ size }) => size >= bodySize * LARGER)
  const larger = regular.filter(({ pages, size }) => pages > 1 && size >= bodySize * LARGER)
  const above = levelAbove(larger.map(({ key }) => levels.get(key) ?? 1))
  const isTall = (style: string) => parseKey(style).size >= SMALLEST_LOOK * bodySize
  const sections = sectionsOf(statistics.sections, levels, isTall, above)
  return {
    bodySize,
    typewriterScale,
    typewritten,
    bodyBold,
    levels,
    prose,
    sections,
    marked: markedOf(statistics.marked, levels, above),
    title: titleStyle(candidates),
    boldHeads: !bodyBold && areHeads(boldBody),
    ranked,
    numberLead: pageNumberLead(statistics),
    statistics
  }
}

/** A line's size, points; for bold code, the size that its words would have in the text's face. */
export const textSizeOf = ({ typewriterScale }: DocumentProfile, line: Line): number =>
  line.typewriter && isBoldLine(line) ? line.size * typewriterScale : line.size

/** The level of a line that is a heading by its looks; undefined for running text. */
export const levelOf = (profile: DocumentProfile, line: Line): number | undefined => {
  const size = textSizeOf(profile, line)
  const key = styleKey(line.size, isBoldLine(line), line.typewriter)
  if (profile.prose.has(key)) return undefined
  return (
    profile.levels.get(key) ?? (size >= profile.bodySize * LARGER ? nearestLevel(profile, size) : undefined)
  )
}

const nearestLevel = ({ levels, typewriterScale }: DocumentProfile, size: number): number | undefined => {
  let best: number | undefined
  let distance = 0.04
  for (const [key, level] of levels) {
    const { bold, size: own, typewriter } = parseKey(key)
    const away = Math.abs((own * (typewriter && bold ? typewriterScale : 1)) / size - 1)
    if (away < distance) {
      distance = away
      best = level
    }
  }
  return best
}
