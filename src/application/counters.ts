import { type Context, Effect, Metric } from "effect"

/** Any metric, for what only has to be there. */
type AnyMetric = Metric.Metric<never, unknown>

/**
 * Every label combination has a metric of its own, made once: an update is then one look-up by name, where attaching labels at each
 * update would build and sort them for every mail; and it can be shown as 0 before anything was counted.
 */
export const perLabel = <K extends string, A>(
  keys: ReadonlyArray<K>,
  make: (key: K) => A
): Readonly<Record<K, A>> => {
  const record: Partial<Record<K, A>> = {}
  for (const key of keys) record[key] = make(key)
  return record as Record<K, A>
}

export const counter = (
  name: string,
  description: string,
  attributes?: Readonly<Record<string, string>>
): Metric.Counter<number> => Metric.counter(name, { description, incremental: true, attributes })

export const increment = (metric: Metric.Counter<number>): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) => {
    metric.updateUnsafe(1, context)
    return Effect.void
  })

/**
 * Shows these before anything is counted: of a counter that is born with its first event the difference to before is 0, so that
 * nobody sees the first of anything.
 */
export const showFromStart = (metrics: ReadonlyArray<AnyMetric>): Effect.Effect<void> =>
  Effect.forEach(metrics, (metric) => Metric.value(metric), { discard: true })
