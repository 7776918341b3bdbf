/** What is collected in a first pass over all pages; bounded. */
export interface Survey {
  readonly headings: ReadonlyArray<FoundHeading>
  readonly pages: number
  /** Running text from several places, for detecting the language. */
  readonly sample: string
  /** The ids of what links lead to besides pages: `at-5-1` on the fifth page. */
  readonly places: ReadonlySet<string>
  readonly named: NamedThings
  /** Keys of pictures that the document has more than once. */
  readonly repeated: ReadonlySet<string>
}

/** An entry of the table of contents. */
export interface ContentsEntry {
  readonly level: number
  readonly text: string
  readonly id: string
}

/** A heading as a page gives it, on level 0 where it is the first one and tagged as the title; its page from 0. */
export interface FoundHeading {
  readonly level: number
  readonly text: string
  readonly page: number
}

/** The things of a document by name (`figure 3`). */
export type NamedThings = ReadonlyMap<string, ReadonlyArray<NamedThing>>

/** A figure, a table or an equation that has a name. */
export interface NamedThing extends Met {
  readonly id: string
}

/** The place of a named thing. */
export interface Met {
  /** From 0. */
  readonly page: number
  /** Number of headings before it. */
  readonly headings: number
}
