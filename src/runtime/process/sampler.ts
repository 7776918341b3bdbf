import { Option, type Tracer } from "effect"

/** Of a span that begins: what begins it, and the trace it is in. */
interface Beginning {
  readonly parent: Option.Option<Tracer.AnySpan>
  readonly traceId: string
}

/** Whether a span is recorded. */
type Sampler = (beginning: Beginning) => boolean

const always: Sampler = () => true
const never: Sampler = () => false

/** The same answer for one trace in every service that has this ratio. */
const byRatio =
  (ratio: number): Sampler =>
  ({ traceId }) =>
    Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32

const parentBased =
  (root: Sampler): Sampler =>
  (beginning) =>
    Option.match(beginning.parent, { onNone: () => root(beginning), onSome: ({ sampled }) => sampled })

const DEFAULT_NAME = "parentbased_always_on"

const SAMPLERS: ReadonlyMap<string, (ratio: number) => Sampler> = new Map([
  ["always_on", () => always],
  ["always_off", () => never],
  ["traceidratio", byRatio],
  [DEFAULT_NAME, () => parentBased(always)],
  ["parentbased_always_off", () => parentBased(never)],
  ["parentbased_traceidratio", (ratio: number) => parentBased(byRatio(ratio))]
])

/**
 * The sampler of `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`, as OpenTelemetry's specification has them: what it does not know
 * is said, and the default holds.
 */
export const samplerOf = (
  name: string = DEFAULT_NAME,
  ratioText: string | undefined
): { readonly sampler: Sampler; readonly notes: ReadonlyArray<string> } => {
  const notes: Array<string> = []
  const made = SAMPLERS.get(name)
  if (made === undefined)
    notes.push(`OTEL_TRACES_SAMPLER names no sampler that is known: ${DEFAULT_NAME} is used`)
  const ratio = ratioText === undefined ? 1 : Number(ratioText)
  const isRatio = ratio >= 0 && ratio <= 1
  if (!isRatio && name.endsWith("traceidratio"))
    notes.push("OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1: every trace is taken")
  return { sampler: (made ?? (() => parentBased(always)))(isRatio ? ratio : 1), notes }
}
