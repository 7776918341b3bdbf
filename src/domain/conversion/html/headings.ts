/** The open headings above a place, by the levels that the pages gave them. */
export interface HeadingState {
  readonly open: ReadonlyArray<number>
  /** Headings so far; numbers their ids. */
  readonly count: number
  /** The document's own heading has been met, or stands in the header. */
  readonly titled: boolean
}

/** Deepest level of HTML. */
const DEEPEST = 6

/** Before the first heading. `ownTitle`: it is the document's. */
export const startHeadings = (ownTitle: boolean): HeadingState => ({ open: [], count: 0, titled: !ownTitle })

/**
 * The level that a heading gets, so that there is one `h1` and no level is skipped: a heading is one deeper than the nearest
 * one before it that ranks higher.
 */
export const placeHeading = (
  state: HeadingState,
  level: number
): { readonly level: number; readonly state: HeadingState } => {
  const count = state.count + 1
  if (!state.titled) return { level: 1, state: { open: [], count, titled: true } }
  const open = state.open.filter((above) => above < level)
  const placed = Math.min(DEEPEST, open.length + 2)
  return { level: placed, state: { ...state, count, open: [...open, level] } }
}

/** The id of the n-th heading, from 1. */
export const headingId = (count: number): string => `section-${count}`
