import { CfnOutput, Duration, RemovalPolicy, type Stack } from "aws-cdk-lib"
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch"
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions"
import * as logs from "aws-cdk-lib/aws-logs"
import * as sns from "aws-cdk-lib/aws-sns"
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions"
import type * as sqs from "aws-cdk-lib/aws-sqs"

import {
  BOUNCES,
  COMPLAINTS,
  FAILOVER_WINDOW_MINUTES,
  FAILOVERS
} from "../../src/domain/delivery/alarm-rules.ts"
import { type CloudNames, type CountedLine, patternOf } from "../../src/domain/doctor/cloud-side.ts"

type AlarmOptions = Pick<
  cloudwatch.AlarmProps,
  "alarmDescription" | "comparisonOperator" | "metric" | "threshold" | "treatMissingData"
>

/** Makes an alarm of a stack, which reports its beginning and its end to the topic. */
export type AddAlarm = (id: string, options: AlarmOptions) => void

const { GREATER_THAN_OR_EQUAL_TO_THRESHOLD: AT_LEAST, GREATER_THAN_THRESHOLD: ABOVE } =
  cloudwatch.ComparisonOperator

/** A topic that mails the alert address, and the alarms that report to it. A topic serves its own region only. */
export const alarmTopic = (stack: Stack, alertEmail: string): AddAlarm => {
  const topic = new sns.Topic(stack, "AlarmTopic", { displayName: "Postlane alarms" })
  topic.addSubscription(new EmailSubscription(alertEmail))
  new CfnOutput(stack, "AlarmTopicArn", { value: topic.topicArn })
  const action = new SnsAction(topic)
  return (id, options) => {
    const alarm = new cloudwatch.Alarm(stack, id, { evaluationPeriods: 1, ...options })
    alarm.addAlarmAction(action)
    alarm.addOkAction(action)
  }
}

/** EVENT-40's dead letters: any message at all. */
export const deadLetterAlarm = (add: AddAlarm, id: string, queue: sqs.Queue, what: string): void =>
  add(id, {
    alarmDescription: what,
    metric: queue.metricApproximateNumberOfMessagesVisible({
      statistic: cloudwatch.Stats.MAXIMUM,
      period: Duration.minutes(5)
    }),
    threshold: 1,
    comparisonOperator: AT_LEAST,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING
  })

/**
 * EVENT-40's bounce and complaint rates, as Amazon SES itself counts them for the account: they fire also while no process of ours
 * runs. Points are hours apart, so that one that is missing says nothing.
 */
export const reputationAlarms = (add: AddAlarm): void => {
  const rate = (metricName: string) =>
    new cloudwatch.Metric({
      namespace: "AWS/SES",
      metricName,
      statistic: cloudwatch.Stats.MAXIMUM,
      period: Duration.hours(1)
    })
  const limits = [
    ["BounceRate", BOUNCES.above, "bounce; the provider reviews the account at 5 %"],
    ["ComplaintRate", COMPLAINTS.above, "are reported as spam; the provider reviews the account at 0.1 %"]
  ] as const
  for (const [name, threshold, what] of limits) {
    add(name, {
      alarmDescription: `More than ${threshold * 100} % of the mails of provider_b ${what}`,
      metric: rate(`Reputation.${name}`),
      threshold,
      comparisonOperator: ABOVE,
      treatMissingData: cloudwatch.TreatMissingData.IGNORE
    })
  }
}

/** The log groups, and the alarms on lines that the processes write. */
export const logAlarms = (stack: Stack, add: AddAlarm, { logGroups, namespace }: CloudNames): void => {
  const groups = Object.entries(logGroups).map(
    ([name, logGroupName]) =>
      new logs.LogGroup(stack, `${name === "api" ? "Api" : "Anchor"}Logs`, {
        logGroupName,
        retention: logs.RetentionDays.THREE_MONTHS,
        removalPolicy: RemovalPolicy.RETAIN
      })
  )
  /** The lines of all groups together. */
  const count = (metricName: CountedLine, period: Duration) => {
    for (const group of groups) {
      group.addMetricFilter(metricName, {
        filterPattern: logs.FilterPattern.literal(patternOf(metricName)),
        metricNamespace: namespace,
        metricName,
        metricValue: "1"
      })
    }
    return new cloudwatch.Metric({
      namespace,
      metricName,
      statistic: cloudwatch.Stats.SUM,
      period
    })
  }
  add("FailoverAlarm", {
    alarmDescription: `${FAILOVERS} or more sends failed over in ${FAILOVER_WINDOW_MINUTES} minutes: the lines EMAIL_FAILOVER say why`,
    metric: count("Failovers", Duration.minutes(FAILOVER_WINDOW_MINUTES)),
    threshold: FAILOVERS,
    comparisonOperator: AT_LEAST,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING
  })
  add("EmailAlarm", {
    alarmDescription: "An alarm of Postlane's own began: the line EMAIL_ALARM names it",
    metric: count("Alarms", Duration.minutes(5)),
    threshold: 1,
    comparisonOperator: AT_LEAST,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING
  })
}
