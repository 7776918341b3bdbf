import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { cloudAlarms } from "../../src/adapters/cloudwatch/alarms.ts"
import { examineEvents } from "../../src/adapters/eventbridge/examination.ts"
import { alarmVerdicts } from "../../src/application/doctor/cloud-alarms.ts"
import { watchedMetrics } from "../../src/domain/doctor/cloud-alarms.ts"
import { cloudNames, DETAIL_TYPES, patternOf, webhookOf } from "../../src/domain/doctor/cloud-side.ts"
import { eventDeadLetters, eventVerdicts } from "../../src/domain/doctor/event-delivery.ts"
import type { Verdict } from "../../src/domain/doctor/verdict.ts"

const WEBHOOK = webhookOf("https://api.example.com/")
const QUEUES = { deferred: "defer-dead-letters", events: ["event-dead-letters"] }
const NAMES = cloudNames(undefined)
const WATCHED = watchedMetrics(QUEUES, NAMES)
const TOPIC = "arn:aws:sns:us-east-1:1:postlane-AlarmTopic"

interface Question {
  readonly NextToken?: string
  readonly Name?: string
  readonly Rule?: string
  readonly MetricName?: string
  readonly Namespace?: string
  readonly Dimensions?: ReadonlyArray<{ readonly Value: string }>
}
type Answer = object | string | undefined
const GONE = { __type: "ResourceNotFoundException", message: "The specified log group does not exist." }
/** Answers by the name of the call; `undefined`: these credentials may not. */
type Account = Readonly<Record<string, (question: Question) => Answer>>

const rule = (name: string, pattern: object) => ({
  Name: name,
  State: "ENABLED",
  EventPattern: JSON.stringify(pattern)
})
const TARGET = {
  Id: "Target0",
  Arn: "arn:aws:events:us-east-1:1:api-destination/Webhook/a-b",
  RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
  DeadLetterConfig: { Arn: "arn:aws:sqs:us-east-1:1:event-dead-letters" }
}
const DESTINATION = {
  ApiDestinationState: "ACTIVE",
  ConnectionArn: "arn:aws:events:us-east-1:1:connection/Held/c-d",
  InvocationEndpoint: WEBHOOK
}
const metricFilter = (metricName: string, filterPattern: string) => ({
  filterPattern,
  metricTransformations: [{ metricName, metricNamespace: "Postlane", metricValue: "1" }]
})
const subscription = (arn: string) =>
  `<ListSubscriptionsByTopicResponse><ListSubscriptionsByTopicResult><Subscriptions><member><SubscriptionArn>${arn}</SubscriptionArn><Protocol>email</Protocol></member></Subscriptions></ListSubscriptionsByTopicResult></ListSubscriptionsByTopicResponse>`

/** What `npm run infra -- apply` makes. */
const APPLIED: Account = {
  // The second page holds what matters.
  ListRules: ({ NextToken }) =>
    NextToken === undefined
      ? { Rules: [rule("other", { source: ["aws.ec2"] })], NextToken: "2" }
      : { Rules: [rule("mail", { source: ["aws.ses"], "detail-type": DETAIL_TYPES })] },
  ListTargetsByRule: ({ Rule }) => ({ Targets: Rule === "mail" ? [TARGET] : [] }),
  DescribeApiDestination: ({ Name }) => (Name === "Webhook" ? DESTINATION : undefined),
  DescribeConnection: ({ Name }) => (Name === "Held" ? { ConnectionState: "AUTHORIZED" } : undefined),
  DescribeAlarmsForMetric: ({ Dimensions, MetricName, Namespace }) => {
    const watched = WATCHED.find(
      ({ metric, namespace, queueName }) =>
        metric === MetricName && namespace === Namespace && queueName === Dimensions?.[0]?.Value
    )
    const alarm = { AlarmName: MetricName, Threshold: watched?.threshold, AlarmActions: [TOPIC] }
    return { MetricAlarms: watched === undefined ? [] : [alarm] }
  },
  DescribeMetricFilters: () => ({
    metricFilters: (["Failovers", "Alarms"] as const).map((metric) => metricFilter(metric, patternOf(metric)))
  }),
  ListSubscriptionsByTopic: () => subscription(`${TOPIC}:1`)
}

let account = APPLIED
const answer = async (request: IncomingMessage, response: ServerResponse) => {
  const body = await text(request)
  const target = request.headers["x-amz-target"]
  const name = typeof target === "string" ? target.split(".")[1]! : new URLSearchParams(body).get("Action")!
  const given = account[name]!(typeof target === "string" ? JSON.parse(body) : {})
  if (given !== undefined)
    return response
      .writeHead(given === GONE ? 400 : 200, {
        "content-type": typeof given === "string" ? "text/xml" : "application/x-amz-json-1.1"
      })
      .end(typeof given === "string" ? given : JSON.stringify(given))
  const denied = { __type: "AccessDeniedException", message: `not authorized to perform ${name}` }
  return typeof target === "string"
    ? response.writeHead(400, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(denied))
    : response
        .writeHead(403, { "content-type": "text/xml" })
        .end(
          "<ErrorResponse><Error><Code>AuthorizationError</Code><Message>no</Message></Error></ErrorResponse>"
        )
}
const server = createServer((request, response) => void answer(request, response))
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** Both parts as `postlane doctor` reports them. */
const examined = async (change: Account = {}) => {
  account = { ...APPLIED, ...change }
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const credentials = { accessKeyId: "AKIA", secretAccessKey: "s" }
  const events = await Effect.runPromise(examineEvents({ region: "us-east-1", endpoint, credentials }))
  const alarms = cloudAlarms({ names: NAMES, home: "us-east-1", mail: "eu-west-1", endpoint, credentials })
  return [
    ...eventVerdicts(events, WEBHOOK),
    ...(await Effect.runPromise(
      alarmVerdicts(alarms, { deferred: QUEUES.deferred, events: eventDeadLetters(events) })
    ))
  ]
}
const complaints = (verdicts: ReadonlyArray<Verdict>) =>
  verdicts.flatMap((verdict) => {
    if (verdict.status === "ok") return []
    assert.isTrue(verdict.why !== "" && verdict.do !== "", verdict.what)
    return [`${verdict.status} ${verdict.check}: ${verdict.what}`]
  })
const complaintsOf = async (change: Account) => complaints(await examined(change))

describe("the cloud side", () => {
  it("is seen as it was applied", async () => {
    const verdicts = await examined()
    assert.deepStrictEqual(complaints(verdicts), [])
    // The way of the events, six alarms, one topic.
    assert.lengthOf(verdicts, 8)
  })

  it("that was never applied is complained of part by part, each with what to do", async () => {
    const found = await examined({
      ListRules: () => ({ Rules: [] }),
      DescribeAlarmsForMetric: () => ({ MetricAlarms: [] }),
      DescribeMetricFilters: () => ({ metricFilters: [] })
    })
    assert.deepStrictEqual(complaints(found), [
      `warn events: no rule delivers the events of Amazon SES to ${WEBHOOK}`,
      "warn alarms: no alarm watches 3 fail-overs in 15 minutes",
      "warn alarms: no alarm watches an alarm of Postlane's own",
      "warn alarms: no alarm watches bounces over 2 %",
      "warn alarms: no alarm watches complaints over 0.05 %",
      "warn alarms: no alarm watches dead letters in defer-dead-letters",
      "warn alarms: the lines EMAIL_FAILOVER of /postlane/api are not counted",
      "warn alarms: the lines EMAIL_ALARM * of /postlane/api are not counted",
      "warn alarms: the lines EMAIL_FAILOVER of /postlane/anchor are not counted",
      "warn alarms: the lines EMAIL_ALARM * of /postlane/anchor are not counted"
    ])
    assert.match(JSON.stringify(found), /npm run infra -- apply/)
  })

  it("delivers nothing through a rule, a destination or a connection that is off", async () => {
    const off = { ...rule("mail", { source: ["aws.ses"] }), State: "DISABLED" }
    assert.deepStrictEqual(
      await complaintsOf({
        ListRules: () => ({ Rules: [off] }),
        DescribeApiDestination: () => ({ ...DESTINATION, ApiDestinationState: "INACTIVE" }),
        DescribeConnection: () => ({ ConnectionState: "DEAUTHORIZED" })
      }),
      [
        "fail events: the rule mail is switched off",
        "fail events: the API destination of the rule mail is INACTIVE",
        "fail events: the connection of the rule mail is DEAUTHORIZED"
      ]
    )
  })

  it("loses events that it leaves out, gives up early or throws away", async () => {
    const [sent, ...others] = DETAIL_TYPES
    assert.deepStrictEqual(
      await complaintsOf({
        ListRules: () => ({ Rules: [rule("mail", { source: ["aws.ses"], "detail-type": others })] }),
        ListTargetsByRule: () => ({
          Targets: [{ Arn: TARGET.Arn, RetryPolicy: { MaximumEventAgeInSeconds: 3600 } }]
        })
      }),
      [
        `warn events: the rule mail leaves out ${sent}`,
        "warn events: the rule mail tries for 60 minutes and 185 times",
        "warn events: the rule mail has no dead-letter queue"
      ]
    )
    const away = await examined({
      DescribeApiDestination: () => ({ ...DESTINATION, InvocationEndpoint: "https://old.example.com/x" }),
      ListTargetsByRule: () => ({ Targets: [TARGET, { Arn: "arn:aws:sqs:us-east-1:1:buffer" }] })
    })
    assert.match(
      JSON.stringify(away),
      /they go to https:\/\/old\.example\.com\/x, arn:aws:sqs:us-east-1:1:buffer/
    )
  })

  it("has alarms that begin in time and reach somebody", async () => {
    const late = await complaintsOf({
      DescribeAlarmsForMetric: () => ({
        MetricAlarms: [{ AlarmName: "late", Threshold: 50, AlarmActions: [TOPIC] }]
      })
    })
    assert.include(late, "warn alarms: the alarm late begins above 50")
    const silent = await complaintsOf({
      DescribeAlarmsForMetric: () => ({
        MetricAlarms: [{ AlarmName: "silent", Threshold: 0, AlarmActions: [TOPIC], ActionsEnabled: false }]
      })
    })
    assert.deepStrictEqual(new Set(silent), new Set(["warn alarms: the alarm silent has no recipient"]))
    assert.deepStrictEqual(
      await complaintsOf({ ListSubscriptionsByTopic: () => subscription("PendingConfirmation") }),
      ["warn alarms: no subscription of the topic postlane-AlarmTopic is confirmed"]
    )
    // Somebody followed the link at the foot of an alarm's mail.
    assert.deepStrictEqual(await complaintsOf({ ListSubscriptionsByTopic: () => subscription("Deleted") }), [
      "warn alarms: the topic postlane-AlarmTopic has no subscription"
    ])
    const other = {
      metricFilters: [metricFilter("Failovers", patternOf("Failovers")), metricFilter("Alarms", "x")]
    }
    assert.lengthOf(await complaintsOf({ DescribeMetricFilters: () => other }), 2)
    assert.deepStrictEqual(await complaintsOf({ DescribeMetricFilters: () => GONE }), [
      "warn alarms: there is no log group /postlane/api",
      "warn alarms: there is no log group /postlane/anchor"
    ])
  })

  it("is not judged by what these credentials may not see: each is named, and the rest is looked at", async () => {
    const denied = () => undefined
    for (const [name, what, count] of [
      ["ListRules", "the rules of the event bus cannot be seen", 1],
      ["ListTargetsByRule", "the rules of the event bus cannot be seen", 1],
      ["DescribeApiDestination", "the API destination of the rule mail cannot be seen", 2],
      ["DescribeConnection", "the connection of the rule mail cannot be seen", 1],
      ["DescribeAlarmsForMetric", "the alarms on 3 fail-overs in 15 minutes cannot be seen", 6],
      ["DescribeMetricFilters", "the filters of the log group /postlane/api cannot be seen", 2],
      ["ListSubscriptionsByTopic", "the subscriptions of the topic postlane-AlarmTopic cannot be seen", 1]
    ] as const) {
      const verdicts = await examined({ [name]: denied })
      const found = complaints(verdicts)
      assert.lengthOf(found, count, name)
      assert.match(found[0]!, new RegExp(`^warn (events|alarms): ${what}`))
      assert.include(
        JSON.stringify(verdicts.filter(({ status }) => status === "warn")),
        name === "DescribeConnection" || name === "DescribeApiDestination" ? `events:${name}` : `:${name}`
      )
    }
  })
})
