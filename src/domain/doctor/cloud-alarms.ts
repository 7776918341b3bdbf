import { BOUNCES, COMPLAINTS, FAILOVER_WINDOW_MINUTES, FAILOVERS } from "../delivery/alarm-rules.ts"
import { APPLY, type CloudNames, type CountedLine, type Found, LINES, patternOf } from "./cloud-side.ts"
import { type Verdict, verdictsOf } from "./verdict.ts"

/** A metric that an alarm has to watch. */
export interface WatchedMetric {
  /** What is wrong while the alarm fires. */
  readonly what: string
  readonly namespace: string
  readonly metric: string
  /** Where it is counted: with the processes, or where Amazon SES sends. */
  readonly place: "home" | "mail"
  /** Of an SQS metric. */
  readonly queueName?: string
  /** The alarm may fire earlier than here, and no later. */
  readonly threshold: number
}

/** An alarm as it was found. */
export interface CloudAlarm {
  readonly name: string
  readonly threshold: number
  /** What its beginning is reported to, by ARN; empty where its actions are switched off. */
  readonly actions: ReadonlyArray<string>
}

/** A filter that counts log lines. */
export interface LineFilter {
  readonly metric: string
  readonly pattern: string
}

/** Subscribers of a topic, by mail or by call. */
export interface Subscriptions {
  readonly confirmed: number
  readonly pending: number
}

/** Dead-letter queues: of deferred sends, and of the events' rules. */
export interface DeadLetterQueues {
  readonly deferred: string | undefined
  readonly events: ReadonlyArray<string>
}

/** The alarms of EVENT-40. */
export const watchedMetrics = (
  { deferred, events }: DeadLetterQueues,
  { namespace }: CloudNames
): ReadonlyArray<WatchedMetric> => {
  const counted = (metric: CountedLine, what: string, threshold: number): WatchedMetric => ({
    what,
    namespace,
    metric,
    place: "home",
    threshold
  })
  const reputation = (metric: string, what: string, threshold: number): WatchedMetric => ({
    what,
    namespace: "AWS/SES",
    metric: `Reputation.${metric}`,
    place: "mail",
    threshold
  })
  const dead = (queueName: string, what: string, place: "home" | "mail"): WatchedMetric => ({
    what,
    namespace: "AWS/SQS",
    metric: "ApproximateNumberOfMessagesVisible",
    place,
    queueName,
    threshold: 1
  })
  return [
    counted("Failovers", `${FAILOVERS} fail-overs in ${FAILOVER_WINDOW_MINUTES} minutes`, FAILOVERS),
    counted("Alarms", "an alarm of Postlane's own", 1),
    reputation("BounceRate", `bounces over ${BOUNCES.above * 100} %`, BOUNCES.above),
    reputation("ComplaintRate", `complaints over ${COMPLAINTS.above * 100} %`, COMPLAINTS.above),
    ...(deferred === undefined ? [] : [dead(deferred, `dead letters in ${deferred}`, "home")]),
    ...events.map((name) => dead(name, `dead letters in ${name}`, "mail"))
  ]
}

const { ok, warn } = verdictsOf("alarms")

export const alarmVerdict = (watched: WatchedMetric, found: Found<ReadonlyArray<CloudAlarm>>): Verdict => {
  const { metric, namespace, threshold, what } = watched
  if (found._tag === "Unseen") {
    return warn({
      what: `the alarms on ${what} cannot be seen`,
      why: found.why,
      do: "allow cloudwatch:DescribeAlarmsForMetric to these credentials"
    })
  }
  const alarms = found.value
  if (alarms.length === 0) {
    return warn({
      what: `no alarm watches ${what}`,
      why: `none is on the metric ${namespace} ${metric}; while no process runs, nothing else reports it`,
      do: APPLY
    })
  }
  const soon = alarms.filter((alarm) => alarm.threshold <= threshold)
  if (soon.length === 0) {
    return warn({
      what: `the alarm ${alarms[0]!.name} begins above ${alarms[0]!.threshold}`,
      why: `${what} are meant to be reported from ${threshold} on`,
      do: APPLY
    })
  }
  return soon.some(({ actions }) => actions.length > 0)
    ? ok(`${soon[0]!.name} watches ${what}`)
    : warn({
        what: `the alarm ${soon[0]!.name} has no recipient`,
        why: `${what} pass unnoticed: it has no action, or its actions are switched off`,
        do: APPLY
      })
}

/** Whether the lines of one log group are counted. */
export const filterVerdicts = (
  { group, namespace }: { readonly group: string; readonly namespace: string },
  found: Found<ReadonlyArray<LineFilter> | undefined>
): ReadonlyArray<Verdict> => {
  if (found._tag === "Unseen") {
    return [
      warn({
        what: `the filters of the log group ${group} cannot be seen`,
        why: found.why,
        do: "allow logs:DescribeMetricFilters to these credentials"
      })
    ]
  }
  const filters = found.value
  if (filters === undefined) {
    return [
      warn({
        what: `there is no log group ${group}`,
        why: "the alarms on log lines never fire",
        do: `${APPLY}; then send the processes' output there`
      })
    ]
  }
  const uncounted = (["Failovers", "Alarms"] as const).filter(
    (metric) => !filters.some((filter) => filter.metric === metric && filter.pattern === patternOf(metric))
  )
  return uncounted.map((metric) =>
    warn({
      what: `the lines ${LINES[metric]} of ${group} are not counted`,
      why: `no filter there makes ${namespace} ${metric} of ${patternOf(metric)}`,
      do: APPLY
    })
  )
}

export const isTopic = (arn: string): boolean => /^arn:[^:]*:sns:/.test(arn)

export const topicVerdict = (topic: string, found: Found<Subscriptions>): Verdict => {
  const name = topic.split(":").at(-1) ?? topic
  if (found._tag === "Unseen") {
    return warn({
      what: `the subscriptions of the topic ${name} cannot be seen`,
      why: found.why,
      do: "allow sns:ListSubscriptionsByTopic to these credentials"
    })
  }
  const { confirmed, pending } = found.value
  if (confirmed > 0)
    return ok(
      `the topic ${name} has ${confirmed} confirmed ${confirmed === 1 ? "subscription" : "subscriptions"}`
    )
  return warn(
    pending > 0
      ? {
          what: `no subscription of the topic ${name} is confirmed`,
          why: "alarms reach no one",
          do: "follow the link in the mail that AWS sent to ALERT_EMAIL, or ask for it again in the SNS console"
        }
      : { what: `the topic ${name} has no subscription`, why: "alarms reach no one", do: APPLY }
  )
}
