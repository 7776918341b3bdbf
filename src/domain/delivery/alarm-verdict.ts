/** `bad` begins an episode, `calm` lets it end; in between the state stays, so that a figure at the limit cannot flap. */
export type Level = "bad" | "calm" | "between"

/** What an alarm makes of the measurements. */
export interface Verdict {
  readonly level: Level
  /** The figures, in words. */
  readonly detail: string
}

/** The level of a count. */
export const counted = (count: number, limits: { readonly bad: number; readonly calm: number }): Level =>
  count >= limits.bad ? "bad" : count <= limits.calm ? "calm" : "between"

/** A share in words. */
export const percent = (share: number): string => `${(share * 100).toFixed(2)} %`
