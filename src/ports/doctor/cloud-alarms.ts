import type { Effect } from "effect"

import type {
  CloudAlarm,
  LineFilter,
  Subscriptions,
  WatchedMetric
} from "../../domain/doctor/cloud-alarms.ts"
import type { CloudNames, Found } from "../../domain/doctor/cloud-side.ts"

/** What is asked of the services. */
export interface CloudAlarms {
  readonly names: CloudNames
  readonly alarmsOn: (watched: WatchedMetric) => Effect.Effect<Found<ReadonlyArray<CloudAlarm>>>
  /** The filters of a log group; `undefined`: there is no such group. */
  readonly filtersOf: (group: string) => Effect.Effect<Found<ReadonlyArray<LineFilter> | undefined>>
  readonly subscriptionsOf: (topic: string) => Effect.Effect<Found<Subscriptions>>
}
