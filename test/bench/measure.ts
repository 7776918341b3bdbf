/** One round of one row. */
export interface Round {
  readonly sends: number
  readonly seconds: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Processor time of the sending process (of the server, for the relay), microseconds a send. */
  readonly cpuMicros: number
  /** That of the database; undefined where it cannot be read. */
  readonly databaseMicros?: number | undefined
}

/** How much one round does: for so long, or so many sends. */
export interface Load {
  readonly concurrency: number
  readonly ms?: number
  readonly count?: number
}

/** The value that `share` of the sorted values do not exceed. */
export const percentile = (sorted: ArrayLike<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

/** The middle value. */
export const median = (values: ReadonlyArray<number>): number =>
  percentile(
    values.toSorted((a, b) => a - b),
    0.5
  )

/** Closed loop: each of `concurrency` callers sends again as soon as it has been answered. */
export const measure = async (
  load: Load,
  send: () => Promise<unknown>,
  cpuMicros: () => number | Promise<number>
): Promise<Round> => {
  const latencies: Array<number> = []
  const count = load.count ?? Number.POSITIVE_INFINITY
  let begun = 0
  const cpuBefore = await cpuMicros()
  const start = performance.now()
  const end = start + (load.ms ?? Number.POSITIVE_INFINITY)
  const caller = async () => {
    for (let from = performance.now(); from < end && begun < count;) {
      begun += 1
      await send()
      const to = performance.now()
      latencies.push(to - from)
      from = to
    }
  }
  await Promise.all(Array.from({ length: load.concurrency }, caller))
  const seconds = (performance.now() - start) / 1000
  const cpu = (await cpuMicros()) - cpuBefore
  const sorted = Float64Array.from(latencies).sort()
  return {
    sends: sorted.length,
    seconds,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    cpuMicros: cpu / sorted.length
  }
}
