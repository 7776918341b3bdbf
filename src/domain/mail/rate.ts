/** How fast a provider may be asked, requests a second over all processes. */
export interface Rate {
  /** Where the provider says nothing of its limit; 0: no pace. */
  readonly rate: number
  /** What it says counts between these two. */
  readonly least: number
  /** `null`: no bound. */
  readonly most: number | null
}

/** A rate that nothing changes. */
export const fixedRate = (rate: number): Rate => ({ rate, least: rate, most: rate })

/** The rate where the provider said `said` of its limit (QUEUE-5). The database has it as `email_rate`. */
export const rateOf = ({ least, most, rate }: Rate, said: number | null | undefined): number =>
  Math.min(Math.max(said ?? rate, least), most ?? Number.POSITIVE_INFINITY)
