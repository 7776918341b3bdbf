import { type Context, Effect, Metric } from "effect"

/** Any metric, in lists that are only registered. */
type AnyMetric = Metric.Metric<never, unknown>

/**
 * Makes one metric per label combination, once. An update is then one look-up by name; attaching labels at each update would build
 * and sort them for every mail. It can also be shown as 0 before anything was counted.
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
 * Shows metrics as 0 before anything is counted. A counter that first appears with value 1 has no earlier value to compare with,
 * so that monitoring would miss the first event.
 */
export const showFromStart = (metrics: ReadonlyArray<AnyMetric>): Effect.Effect<void> =>
  Effect.forEach(metrics, (metric) => Metric.value(metric), { discard: true })
