import { CloudWatchClient, DescribeAlarmsForMetricCommand } from "@aws-sdk/client-cloudwatch"
import {
  CloudWatchLogsClient,
  type CloudWatchLogsClientConfig,
  DescribeMetricFiltersCommand,
  ResourceNotFoundException
} from "@aws-sdk/client-cloudwatch-logs"
import { ListSubscriptionsByTopicCommand, SNSClient } from "@aws-sdk/client-sns"
import { Effect } from "effect"

import { asked, found } from "../../application/doctor/cloud-look.ts"
import type { CloudNames, Found } from "../../domain/doctor/cloud-side.ts"
import type { CloudAlarms } from "../../ports/doctor/cloud-alarms.ts"
import { withBoundedAnswers } from "../aws/bounded-answers.ts"

/** Where alarms are looked for. */
interface CloudAlarmsOptions {
  readonly names: CloudNames
  readonly home: string
  /** Region of Amazon SES. */
  readonly mail: string
  readonly credentials: NonNullable<CloudWatchLogsClientConfig["credentials"]>
  readonly endpoint?: string
}

interface Client {
  readonly destroy: () => void
}

/** One call on a new client: about ten calls are made, and then the process ends. */
const ask = <C extends Client, A, B>(
  open: () => C,
  call: (client: C, abortSignal: AbortSignal) => Promise<A>,
  read: (answer: A) => B
): Effect.Effect<Found<B>> =>
  Effect.acquireUseRelease(
    Effect.sync(open),
    (client) =>
      found(
        Effect.map(
          asked((signal) => call(client, signal)),
          read
        )
      ),
    (client) => Effect.sync(() => client.destroy())
  )

const regionOf = (topic: string): string | undefined => topic.split(":")[3]

/** Reads alarms, filters of log groups and subscriptions. Changes nothing. */
export const cloudAlarms = ({
  credentials,
  endpoint,
  home,
  mail,
  names
}: CloudAlarmsOptions): CloudAlarms => {
  const config = (region: string) => ({
    region,
    credentials,
    ignoreConfiguredEndpointUrls: true,
    maxAttempts: 2,
    ...(endpoint === undefined ? {} : { endpoint })
  })
  return {
    names,
    alarmsOn: ({ metric, namespace, place, queueName }) =>
      ask(
        () => withBoundedAnswers(new CloudWatchClient(config(place === "home" ? home : mail))),
        (client, abortSignal) =>
          client.send(
            new DescribeAlarmsForMetricCommand({
              Namespace: namespace,
              MetricName: metric,
              ...(queueName === undefined ? {} : { Dimensions: [{ Name: "QueueName", Value: queueName }] })
            }),
            { abortSignal }
          ),
        ({ MetricAlarms = [] }) =>
          MetricAlarms.map(({ ActionsEnabled, AlarmActions = [], AlarmName = "", Threshold = 0 }) => ({
            name: AlarmName,
            threshold: Threshold,
            actions: ActionsEnabled === false ? [] : AlarmActions
          }))
      ),
    filtersOf: (logGroupName) =>
      ask(
        () => withBoundedAnswers(new CloudWatchLogsClient(config(home))),
        (client, abortSignal) =>
          client.send(new DescribeMetricFiltersCommand({ logGroupName }), { abortSignal }).catch((cause) => {
            if (cause instanceof ResourceNotFoundException) return undefined
            throw cause
          }),
        (answer) =>
          answer &&
          (answer.metricFilters ?? []).flatMap(({ filterPattern = "", metricTransformations = [] }) =>
            metricTransformations.flatMap(({ metricName = "", metricNamespace }) =>
              metricNamespace === names.namespace ? [{ metric: metricName, pattern: filterPattern }] : []
            )
          )
      ),
    subscriptionsOf: (TopicArn) =>
      ask(
        () => withBoundedAnswers(new SNSClient(config(regionOf(TopicArn) ?? home))),
        (client, abortSignal) =>
          client.send(new ListSubscriptionsByTopicCommand({ TopicArn }), { abortSignal }),
        ({ Subscriptions = [] }) => {
          const arns = Subscriptions.map(({ SubscriptionArn = "" }) => SubscriptionArn)
          return {
            // One that was ended stays listed for days, with the word "Deleted" for its ARN.
            confirmed: arns.filter((arn) => arn.startsWith("arn:")).length,
            pending: arns.filter((arn) => arn === "PendingConfirmation").length
          }
        }
      )
  }
}
