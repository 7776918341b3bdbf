import {
  DescribeApiDestinationCommand,
  DescribeConnectionCommand,
  EventBridgeClient,
  type EventBridgeClientConfig,
  ListRulesCommand,
  ListTargetsByRuleCommand,
  type Rule,
  type Target
} from "@aws-sdk/client-eventbridge"
import { Effect, Option, Schema } from "effect"

import { asked, found, seen } from "../../application/doctor/cloud-look.ts"
import { DELIVERY, EVENT_SOURCE, type Found } from "../../domain/doctor/cloud-side.ts"
import type { EventFacts, EventRoute } from "../../domain/doctor/event-delivery.ts"
import { withBoundedAnswers } from "../aws/bounded-answers.ts"

/** Pages of 100 rules that are read at most; a bus has 300 rules unless more were asked for. */
const MOST_PAGES = 20

const decodePattern = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      source: Schema.optionalKey(Schema.Array(Schema.Unknown)),
      "detail-type": Schema.optionalKey(Schema.Array(Schema.Unknown))
    })
  )
)

const isText = (value: unknown): value is string => typeof value === "string"

/** The kinds of events of SES that a rule lets through; none where it is about something else. */
const typesOf = ({ EventPattern }: Rule): Option.Option<ReadonlyArray<string> | undefined> =>
  decodePattern(EventPattern).pipe(
    Option.filter(({ source }) => source?.includes(EVENT_SOURCE) === true),
    Option.map((pattern) => pattern["detail-type"]?.filter(isText))
  )

/** `arn:aws:events:REGION:ACCOUNT:api-destination/NAME/ID`, and the same of a connection. */
const nameIn = (kind: "api-destination" | "connection", arn: string | undefined): string | undefined =>
  new RegExp(`:${kind}/([^/]+)`).exec(arn ?? "")?.[1]

const rulesOf = (client: EventBridgeClient) =>
  Effect.gen(function* () {
    const rules: Array<Rule> = []
    let next: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const command = new ListRulesCommand({ Limit: 100, NextToken: next })
      const answer = yield* asked((abortSignal) => client.send(command, { abortSignal }))
      for (const rule of answer.Rules ?? []) rules.push(rule)
      next = answer.NextToken
      if (next === undefined) break
    }
    return rules
  })

/** An API destination, and the connection that it names. */
const destinationOf = (client: EventBridgeClient, Name: string) =>
  Effect.gen(function* () {
    const destination = yield* found(
      asked((abortSignal) => client.send(new DescribeApiDestinationCommand({ Name }), { abortSignal }))
    )
    if (destination._tag === "Unseen") return { destination, connection: destination }
    const { ApiDestinationState, ConnectionArn, InvocationEndpoint } = destination.value
    const connection = yield* found(
      asked((abortSignal) =>
        client.send(new DescribeConnectionCommand({ Name: nameIn("connection", ConnectionArn) }), {
          abortSignal
        })
      ).pipe(Effect.map(({ ConnectionState }) => ConnectionState ?? ""))
    )
    return {
      destination: seen({ endpoint: InvocationEndpoint ?? "", state: ApiDestinationState ?? "" }),
      connection
    }
  })

const routeOf = (
  client: EventBridgeClient,
  { Name: rule = "", State }: Rule,
  types: ReadonlyArray<string> | undefined,
  { Arn, DeadLetterConfig, RetryPolicy }: Target
): Effect.Effect<EventRoute> =>
  Effect.map(destinationOf(client, nameIn("api-destination", Arn) ?? ""), (ends) => ({
    ...ends,
    rule,
    enabled: State !== "DISABLED",
    types,
    retriedSeconds: RetryPolicy?.MaximumEventAgeInSeconds ?? DELIVERY.hours * 3_600,
    attempts: RetryPolicy?.MaximumRetryAttempts ?? DELIVERY.attempts,
    deadLetterQueue: DeadLetterConfig?.Arn?.split(":").at(-1)
  }))

const examine = (client: EventBridgeClient): Effect.Effect<EventFacts, string> =>
  Effect.gen(function* () {
    const routes: Array<EventRoute> = []
    const elsewhere: Array<string> = []
    for (const rule of yield* rulesOf(client)) {
      const types = typesOf(rule)
      if (Option.isNone(types)) continue
      const command = new ListTargetsByRuleCommand({ Rule: rule.Name })
      const { Targets = [] } = yield* asked((abortSignal) => client.send(command, { abortSignal }))
      for (const target of Targets) {
        if (nameIn("api-destination", target.Arn) === undefined) elsewhere.push(target.Arn ?? "")
        else routes.push(yield* routeOf(client, rule, types.value, target))
      }
    }
    return { routes, elsewhere }
  })

/** Reads the rules for events of Amazon SES on the default bus, and where they lead. Changes nothing. */
export const examineEvents = (
  options: Pick<EventBridgeClientConfig, "region" | "endpoint" | "credentials">
): Effect.Effect<Found<EventFacts>> =>
  Effect.scoped(
    Effect.flatMap(
      Effect.acquireRelease(
        Effect.sync(() =>
          withBoundedAnswers(
            new EventBridgeClient({ ...options, ignoreConfiguredEndpointUrls: true, maxAttempts: 2 })
          )
        ),
        (client) => Effect.sync(() => client.destroy())
      ),
      (client) => found(examine(client))
    )
  )
