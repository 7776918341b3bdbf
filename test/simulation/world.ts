import type { Clock } from "effect"

/** How large a run is and what may go wrong in it: what shrinking makes smaller. */
export interface Limits {
  /** How many actors of the world's main kind take part (sends, mails, documents). */
  readonly size: number
  /** How long things go wrong, minutes of virtual time. */
  readonly roughMinutes: number
  /** Kinds of faults that happen. */
  readonly faults: ReadonlyArray<string>
}

/** What a run found. */
export interface Run {
  readonly seed: number
  /** Each begins with the id of the invariant that did not hold. */
  readonly violations: ReadonlyArray<string>
  /** How often each kind of fault and branch happened: what never happens is not tested. */
  readonly seen: ReadonlyMap<string, number>
  /** Fingerprint of all that happened: the same seed gives the same one. */
  readonly trace: string
  /** What happened, in words and in order; empty unless it was asked for. */
  readonly story: ReadonlyArray<string>
}

export interface RunOptions {
  readonly limits: Limits
  /** Name of a planted bug. */
  readonly bug?: string | undefined
  readonly story?: boolean | undefined
}

/** A part of the product with all that surrounds it, which a seed brings to life. */
export interface SimulatedWorld {
  readonly name: string
  /** The run that the proof is about; shrinking starts from it. */
  readonly full: Limits
  /** Defects that can be planted, to see the oracle find them. */
  readonly bugs: ReadonlyArray<string>
  /** Faults and branches that some hundred runs must have met. */
  readonly mustHappen: ReadonlyArray<string>
  /** What a reader of the counts should know of some of them, by their name. */
  readonly notes?: Readonly<Record<string, string>>
  readonly simulate: (seed: number, options: RunOptions) => Promise<Run>
}

/** Counts what happens and, where it is asked for, tells the story. */
export interface Chronicle {
  readonly seen: Map<string, number>
  readonly saw: (what: string) => void
  /** A line of the story; `words` is not called where nobody reads it. No effect: telling the story must not change it. */
  readonly note: (words: () => string) => void
  /** A line at a moment that is over, milliseconds of virtual time. */
  readonly noteAt: (at: number, words: () => string) => void
  /** The lines in the order of time. */
  readonly story: () => ReadonlyArray<string>
}

const clockTime = (millis: number): string => {
  const two = (number: number, width = 2) => String(Math.floor(number)).padStart(width, "0")
  const seconds = millis / 1000
  return `${two(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}.${two(millis % 1000, 3)}`
}

export const makeChronicle = (wanted: boolean, clock: Clock.Clock): Chronicle => {
  const seen = new Map<string, number>()
  const lines: Array<{ readonly at: number; readonly words: string }> = []
  const noteAt: Chronicle["noteAt"] = (at, words) => {
    if (wanted) lines.push({ at, words: words() })
  }
  return {
    seen,
    saw: (what) => void seen.set(what, (seen.get(what) ?? 0) + 1),
    noteAt,
    note: (words) => noteAt(clock.currentTimeMillisUnsafe(), words),
    story: () =>
      lines.sort((one, other) => one.at - other.at).map(({ at, words }) => `${clockTime(at)}  ${words}`)
  }
}
