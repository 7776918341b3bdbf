/** Faults of the local batch service, for drills and tests. Deterministic: the same records fail each time. */
export interface LocalBatchFaults {
  /** Share of the records, 0 to 1, that come back as errors. */
  readonly failed?: number | undefined
  /** Share of the records, 0 to 1, that are not done in time: the job ends `PartiallyCompleted` without them. */
  readonly unfinished?: number | undefined
  /** The job ends `Expired`: before anything was done or, with `unfinished`, when all but that share was. */
  readonly expires?: boolean | undefined
  /** As `expires`, but it ends `Stopped`, as if somebody had stopped it at the service. */
  readonly stops?: boolean | undefined
  /** The job ends `Failed`, with these words. */
  readonly fails?: string | undefined
  /** How long a stop takes, milliseconds. */
  readonly stopLatencyMs?: number | undefined
}

/** A number of [0, 1) that belongs to a text (FNV-1a). */
const share = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash ^= hash >>> 15
  return (Math.imul(hash, 0x2c1b3c6d) >>> 0) / 2 ** 32
}

/** The outcome of a record. */
export const fateOf = (recordId: string, faults: LocalBatchFaults): "answered" | "failed" | "unfinished" => {
  const at = share(recordId)
  if (at < (faults.failed ?? 0)) return "failed"
  return at < (faults.failed ?? 0) + (faults.unfinished ?? 0) ? "unfinished" : "answered"
}
