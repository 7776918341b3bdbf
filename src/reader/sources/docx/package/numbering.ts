import { numeral } from "./numerals.ts"
import { isOff, numberIn, type ParagraphProperties, type Style } from "./styles.ts"
import { readXml } from "./xml.ts"

/** Label of a list paragraph: a bullet, a number that HTML counts itself, or words that HTML cannot count. */
export type Label =
  /** `box`: ☐, ☑ or ☒, where the bullets tell what is done. */
  | { readonly kind: "bullet"; readonly box?: string }
  | {
      readonly kind: "item"
      readonly type: string | undefined
      readonly value: number
      readonly text: string
    }
  | { readonly kind: "words"; readonly text: string }

/** A list's level as a document defines it. */
interface Level {
  format: string
  /** The label, with `%1` for the number of the first level. */
  text: string
  /** The typeface of the label. */
  font: string
  start: number
  /** Only items of levels before this one restart its numbers (0: none does); undefined: all levels above do. */
  restart: number | undefined
  /** All its numbers are written in digits. */
  isLegal: boolean
  style: string | undefined
}

interface Definition {
  readonly levels: Map<number, Level>
  /** A style of lists that has the levels instead. */
  link: string | undefined
}

/** A list: an instance of a definition, with levels or start numbers that override it. */
interface Instance {
  definition: string
  readonly levels: Map<number, Level>
  readonly starts: Map<number, number>
}

/** The lists of a document. */
export interface Numbering {
  /** The list and the level of a paragraph; undefined where it is in none. */
  readonly placeOf: (
    properties: ParagraphProperties,
    style: Style,
    styleId: string | undefined
  ) => Place | undefined
  /** Counts from the beginning of a text on. */
  readonly counter: () => Counter
}

export interface Place {
  readonly list: number
  /** What defines the list: others may be defined by the same, and count on. */
  readonly definition: string
  readonly level: number
}

/** Counts the items of a text one after the other. */
type Counter = (place: Place) => Label | undefined

/** How HTML names the way in which a list is counted. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["lowerLetter", "a"],
  ["upperLetter", "A"],
  ["lowerRoman", "i"],
  ["upperRoman", "I"]
])

/** A label that is a number alone, with the usual punctuation. */
const PLAIN = /^[\s([]*%\d[\s.):\]]*$/
const COUNTED: ReadonlySet<string> = new Set(["decimal", ...TYPES.keys()])
const isPlain = ({ format, text }: Level): boolean => COUNTED.has(format) && PLAIN.test(text)

/** Levels of a list; Word knows no more. */
const LEVELS = 9

/** Longest label, characters: each item has it. Word takes 31. */
const MAX_LABEL = 200

const bare = (): Level => ({
  format: "decimal",
  text: "",
  font: "",
  start: 1,
  restart: undefined,
  isLegal: false,
  style: undefined
})

/** What `numbering.xml` defines. */
class Definitions {
  readonly definitions = new Map<string, Definition>()
  readonly instances = new Map<number, Instance>()
  /** Lists that are styles' own, by the style's name. */
  readonly links = new Map<string, string>()
  #definition: Definition | undefined
  #id = ""
  #instance: Instance | undefined
  #level: Level | undefined
  /** The level of which the list overrides the start or the text. */
  #override: number | undefined

  open(name: string, attributes: ReadonlyMap<string, string>): void {
    const value = attributes.get("val")
    const number = numberIn(value)
    if (name === "abstractNum") {
      this.#definition = { levels: new Map(), link: undefined }
      this.#id = attributes.get("abstractNumId") ?? ""
      this.definitions.set(this.#id, this.#definition)
    } else if (name === "num") {
      this.#instance = { definition: "", levels: new Map(), starts: new Map() }
      this.instances.set(numberIn(attributes.get("numId")) ?? 0, this.#instance)
    } else if (name === "abstractNumId" && this.#instance !== undefined)
      this.#instance.definition = value ?? ""
    else if (name === "numStyleLink" && this.#definition !== undefined) this.#definition.link = value
    else if (name === "styleLink" && value !== undefined && this.#definition !== undefined) {
      this.links.set(value, this.#id)
    } else if (name === "lvlOverride") this.#override = numberIn(attributes.get("ilvl"))
    else if (name === "startOverride" && this.#override !== undefined)
      this.#instance?.starts.set(this.#override, number ?? 1)
    else if (name === "lvl") {
      this.#level = bare()
      const at = numberIn(attributes.get("ilvl")) ?? 0
      ;(this.#instance ?? this.#definition)?.levels.set(at, this.#level)
    } else if (name === "rFonts" && this.#level !== undefined)
      this.#level.font = attributes.get("ascii") ?? attributes.get("hAnsi") ?? ""
    else if (this.#level !== undefined) describe(this.#level, name, value)
  }

  close(name: string): void {
    if (name === "abstractNum") this.#definition = undefined
    if (name === "num") this.#instance = undefined
    if (name === "lvl") this.#level = undefined
    if (name === "lvlOverride") this.#override = undefined
  }

  /** The definition that has a list's levels. */
  definitionOf(list: number): { readonly id: string; readonly definition: Definition } | undefined {
    const id = this.instances.get(list)?.definition
    const definition = id === undefined ? undefined : this.definitions.get(id)
    if (id === undefined || definition === undefined) return undefined
    const other = definition.link === undefined ? undefined : this.links.get(definition.link)
    const linked = other === undefined ? undefined : this.definitions.get(other)
    return other === undefined || linked === undefined
      ? { id, definition }
      : { id: other, definition: linked }
  }

  levelOf(list: number, level: number): Level | undefined {
    return (
      this.instances.get(list)?.levels.get(level) ?? this.definitionOf(list)?.definition.levels.get(level)
    )
  }
}

const describe = (level: Level, name: string, value: string | undefined): void => {
  if (name === "numFmt") level.format = value ?? "decimal"
  if (name === "lvlText") level.text = (value ?? "").slice(0, MAX_LABEL)
  if (name === "start") level.start = numberIn(value) ?? 1
  if (name === "lvlRestart") level.restart = numberIn(value)
  if (name === "isLgl") level.isLegal = !isOff(value)
  if (name === "pStyle") level.style = value
}

/** Signs of Wingdings, as Word writes them, and the boxes that they show. */
const WINGDINGS: ReadonlyMap<string, string> = new Map([
  ["\uf06f", "☐"],
  ["\uf0a8", "☐"],
  ["\uf0fd", "☒"],
  ["\uf0fe", "☑"]
])

/** The box that a bullet is; other bullets say nothing. */
const boxOf = ({ font, text }: Level): string | undefined =>
  /^[☐☑☒]$/.test(text) ? text : /^wingdings$/i.test(font) ? WINGDINGS.get(text) : undefined

class Counts {
  readonly #definitions: Definitions
  /** The numbers of each definition's levels. */
  readonly #numbers = new Map<string, Array<number | undefined>>()
  /** Lists that have started from their overridden start numbers. */
  readonly #begun = new Set<number>()

  constructor(definitions: Definitions) {
    this.#definitions = definitions
  }

  next({ definition, level, list }: Place): Label | undefined {
    const definitions = this.#definitions
    const own = definitions.levelOf(list, level)
    if (own === undefined) return undefined
    if (own.format === "bullet") {
      const box = boxOf(own)
      return box === undefined ? { kind: "bullet" } : { kind: "bullet", box }
    }
    const numbers = this.#numbers.get(definition) ?? []
    this.#numbers.set(definition, numbers)
    if (!this.#begun.has(list)) {
      this.#begun.add(list)
      for (const at of definitions.instances.get(list)?.starts.keys() ?? []) numbers[at] = undefined
    }
    const startOf = (at: number) =>
      definitions.instances.get(list)?.starts.get(at) ?? definitions.levelOf(list, at)?.start ?? 1
    const before = numbers[level]
    numbers[level] = before === undefined ? startOf(level) : before + 1
    for (let below = level + 1; below < numbers.length; below++)
      if (level < (definitions.levelOf(list, below)?.restart ?? LEVELS)) numbers[below] = undefined
    // Word shows levels above that have no item yet as if they had their first.
    const text = own.text
      .replaceAll(/%(\d)/g, (_, digit: string) => {
        const at = Number(digit) - 1
        const format = own.isLegal ? "decimal" : (definitions.levelOf(list, at)?.format ?? "decimal")
        return at > level || at < 0 ? "" : numeral(numbers[at] ?? startOf(at), format)
      })
      // A level without a number leaves the full stop behind it.
      .replace(/^[\s.]+/, "")
      .trimEnd()
    if (!isPlain(own)) return { kind: "words", text }
    return { kind: "item", type: TYPES.get(own.format), value: numbers[level] ?? own.start, text }
  }
}

/** No list at all. */
export const NO_NUMBERING: Numbering = { placeOf: () => undefined, counter: () => () => undefined }

/** Reads `numbering.xml`. */
export const readNumbering = async (bytes: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<Numbering> => {
  const definitions = new Definitions()
  await readXml(bytes, {
    open: (name, attributes) => definitions.open(name, attributes),
    close: (name) => definitions.close(name)
  })
  const levelOfStyle = (list: number, styleId: string | undefined): number | undefined =>
    styleId === undefined
      ? undefined
      : Array.from({ length: LEVELS }, (_, level) => level).find(
          (level) => definitions.levelOf(list, level)?.style === styleId
        )
  return {
    placeOf: ({ level: own, list }, style, styleId) => {
      const of = list ?? style.list
      if (of === undefined) return undefined
      const level = own ?? levelOfStyle(of, styleId) ?? style.level ?? 0
      const definition = definitions.definitionOf(of)?.id
      return definition === undefined || level >= LEVELS ? undefined : { list: of, definition, level }
    },
    counter: () => {
      const counts = new Counts(definitions)
      return (place) => counts.next(place)
    }
  }
}
