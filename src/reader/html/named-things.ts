import type { Met, NamedThing, NamedThings } from "../model/survey.ts"
import { goesOn } from "../stages/blocks/names.ts"

/** The ids of what pages may refer to by a name: `at-5-2-figure-3` on the fifth page. */
const NAMED_ID = /^at-(\d{1,6})-\d{1,6}-(figure|table|equation)-([\w.-]{1,40})$/

/** Most of them that are remembered; of a document with more none is. */
const MAX_NAMED = 50_000

/** Collects what has a name over pages, in order. */
export class NamedThingsFound {
  readonly #things = new Map<string, Array<NamedThing>>()
  /** The last place of each name, which may be continued over pages. */
  readonly #last = new Map<string, Met>()
  #count = 0

  /** Adds what has an id, if that says a name. */
  add(id: string, headings: number): void {
    const [, page, kind, number] = NAMED_ID.exec(id) ?? []
    if (page === undefined || this.#count > MAX_NAMED) return
    const name = `${kind} ${number}`
    const thing = { id, page: Number(page) - 1, headings }
    const before = this.#last.get(name)
    this.#last.set(name, thing)
    if (before !== undefined && goesOn(name, before, thing)) return
    this.#count += 1
    const same = this.#things.get(name)
    if (same === undefined) this.#things.set(name, [thing])
    else same.push(thing)
  }

  things(): NamedThings {
    return this.#count > MAX_NAMED ? new Map() : this.#things
  }
}

/** The things of a document with their chapters, counted as they begin. */
export type ThingsInChapters = ReadonlyMap<
  string,
  ReadonlyArray<{ readonly id: string; readonly page: number; readonly chapter: number }>
>

/** `chapters`: how many chapters have begun after so many headings. */
export const inChapters = (things: NamedThings, chapters: ReadonlyArray<number>): ThingsInChapters =>
  new Map(
    [...things].map(([name, all]) => [
      name,
      all.map(({ headings, id, page }) => ({ id, page, chapter: chapters[headings] ?? chapters.length }))
    ])
  )

/**
 * The thing that a name means in a chapter: the only one, or the one of this chapter where each chapter counts from 1.
 */
export const thingNamed = (
  things: ThingsInChapters,
  name: string,
  chapter: number
): { readonly id: string; readonly page: number } | undefined => {
  const all = things.get(name) ?? []
  const meant = all.length === 1 ? all : all.filter((one) => one.chapter === chapter)
  return meant.length === 1 ? meant[0] : undefined
}
