/**
 * Time-outs in a row after which a provider counts as hanging: from then on one caller at a time waits for it, as a probe. Any answer,
 * a refusal included, ends that.
 */
export const HANGS_AFTER = 3

/** What is known of a provider that may hang. */
export interface Circuit {
  /** Time-outs since its last answer. */
  readonly hung: number
  /** Until when a probe is under way at the latest; the caller's clock, milliseconds. */
  readonly probeUntil: number
}

/** A provider of which nothing bad is known. */
export const CLOSED: Circuit = { hung: 0, probeUntil: Number.NEGATIVE_INFINITY }

/** Whether a caller may ask the provider: as usual, as the one probe, or not, so that the request never leaves. */
type Entry = "ask" | "probe" | "hangs"

/** What a caller may do that would wait `lastsMs` at most, and the circuit then. */
export const enter = (
  circuit: Circuit,
  now: number,
  lastsMs: number
): { readonly entry: Entry; readonly circuit: Circuit } => {
  if (circuit.hung < HANGS_AFTER) return { entry: "ask", circuit }
  if (now < circuit.probeUntil) return { entry: "hangs", circuit }
  return { entry: "probe", circuit: { ...circuit, probeUntil: now + lastsMs } }
}

/** How an attempt ended, as far as it tells of the provider: without an answer in time, or with any. */
export type Sign = "hung" | "answered"

/** The circuit after a sign. A probe is over when its time is, or with it. */
export const afterSign = (circuit: Circuit, sign: Sign): Circuit =>
  sign === "answered" ? CLOSED : { ...circuit, hung: circuit.hung + 1 }

/** The circuit after the probe that was to end by `probeUntil`; a later one stays. */
export const afterProbe = (circuit: Circuit, probeUntil: number): Circuit =>
  circuit.probeUntil === probeUntil ? { ...circuit, probeUntil: CLOSED.probeUntil } : circuit

/** The circuit of a process that has got no answer lately, once it knows of the time-outs in a row of all processes. */
export const afterCount = (circuit: Circuit, inARow: number): Circuit =>
  circuit.hung === 0 ? circuit : { ...circuit, hung: Math.max(circuit.hung, inARow) }
