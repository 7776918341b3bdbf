import { Effect } from "effect"

import {
  alarmVerdict,
  type DeadLetterQueues,
  filterVerdicts,
  isTopic,
  topicVerdict,
  watchedMetrics
} from "../../domain/doctor/cloud-alarms.ts"
import type { Verdict } from "../../domain/doctor/verdict.ts"
import type { CloudAlarms } from "../../ports/doctor/cloud-alarms.ts"

/** Looks for every alarm of EVENT-40, the filters that feed them and who gets them. */
export const alarmVerdicts = (
  { alarmsOn, filtersOf, names, subscriptionsOf }: CloudAlarms,
  queues: DeadLetterQueues
): Effect.Effect<ReadonlyArray<Verdict>> =>
  Effect.gen(function* () {
    const alarms = yield* Effect.forEach(watchedMetrics(queues, names), (watched) =>
      Effect.map(alarmsOn(watched), (found) => ({ watched, found }))
    )
    const filters = yield* Effect.forEach(Object.values(names.logGroups), (group) =>
      Effect.map(filtersOf(group), (found) => filterVerdicts({ group, namespace: names.namespace }, found))
    )
    const topics = new Set(
      alarms.flatMap(({ found }) =>
        found._tag === "Seen" ? found.value.flatMap((alarm) => alarm.actions.filter(isTopic)) : []
      )
    )
    const subscriptions = yield* Effect.forEach(topics, (topic) =>
      Effect.map(subscriptionsOf(topic), (found) => topicVerdict(topic, found))
    )
    return [
      ...alarms.map(({ found, watched }) => alarmVerdict(watched, found)),
      ...filters.flat(),
      ...subscriptions
    ]
  })
