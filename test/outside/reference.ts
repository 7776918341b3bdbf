/** What a reference found, check by check. */
export interface Check {
  readonly name: string
  /** `artefact`: the tool complains, and it is no fault of the product: the reason says why. */
  readonly outcome: "held" | "failed" | "artefact"
  readonly detail?: string
}

/** A folder that outlives the run, for what is installed; and one for this run alone. */
export interface Place {
  /** Kept: a virtual environment, a GOBIN, a jar. */
  readonly cache: string
  /** Empty at first, and removed after the run. */
  readonly work: string
  /** The project's own root. */
  readonly root: string
}

/** A program that nobody here wrote, and what of ours it is set against. */
export interface Reference {
  readonly name: string
  /** Exact: what is installed. */
  readonly version: string
  /** One line: what is checked against what. */
  readonly checks: string
  /** Programs that have to be on the machine; without them the reference is not tried, and the table says so. */
  readonly needs: ReadonlyArray<string>
  /** Puts the program into the cache, by its ecosystem's own client. Does nothing where it is there. */
  readonly install: (place: Place) => Promise<void>
  /** Of those that `npm run check` runs, too (`--quick`): whether the program is there, so that nothing is fetched. */
  readonly isAtHand?: (place: Pick<Place, "cache">) => Promise<boolean>
  readonly run: (place: Place) => Promise<ReadonlyArray<Check>>
}

/**
 * What a tool complains of though nothing is wrong. Each entry has to be met: one that no run meets any more fails, so that the
 * list cannot hide what came later.
 */
export interface Artefact {
  readonly pattern: RegExp
  readonly reason: string
}

/** Complaints as checks: those that an artefact explains, those that none does, and the artefacts that nothing met. */
export const judged = (
  complaints: ReadonlyArray<string>,
  artefacts: ReadonlyArray<Artefact>,
  // Another run asks other things: an entry that this one does not meet may be met by the next.
  { isSampled = false }: { readonly isSampled?: boolean } = {}
): ReadonlyArray<Check> => [
  ...complaints.map((name): Check => {
    const artefact = artefacts.find(({ pattern }) => pattern.test(name))
    return artefact === undefined
      ? { name, outcome: "failed" }
      : { name, outcome: "artefact", detail: artefact.reason }
  }),
  ...(isSampled ? [] : artefacts)
    .filter(({ pattern }) => !complaints.some((complaint) => pattern.test(complaint)))
    .map(({ pattern, reason }): Check => ({
      name: `an entry that nothing meets any more: ${pattern.source}`,
      outcome: "failed",
      detail: reason
    }))
]
