import { APPLY, DELIVERY, DETAIL_TYPES, type Found } from "./cloud-side.ts"
import { type Verdict, verdictsOf } from "./verdict.ts"

/** An API destination that a rule of the event bus delivers events of `provider_b` to. */
export interface EventRoute {
  readonly rule: string
  readonly enabled: boolean
  /** The kinds of events that the rule's pattern names; `undefined`: all. */
  readonly types: ReadonlyArray<string> | undefined
  /** `state` as the bus names it: `ACTIVE` where it is in use. */
  readonly destination: Found<{ readonly endpoint: string; readonly state: string }>
  /** State of the connection, which holds the secret: `AUTHORIZED` where it is in use. */
  readonly connection: Found<string>
  readonly retriedSeconds: number
  readonly attempts: number
  readonly deadLetterQueue: string | undefined
}

/** How the events of `provider_b` leave the event bus. */
export interface EventFacts {
  readonly routes: ReadonlyArray<EventRoute>
  /** Other targets of such rules, a queue for example. */
  readonly elsewhere: ReadonlyArray<string>
}

const { fail, ok, warn } = verdictsOf("events")

const SEEN_BY =
  "allow events:ListRules, events:ListTargetsByRule, events:DescribeApiDestination and events:DescribeConnection to these credentials"

const unseen = (what: string, why: string): Verdict => warn({ what, why, do: SEEN_BY })

/** Whether events get through. */
const wayVerdicts = (route: EventRoute): ReadonlyArray<Verdict> => {
  const { connection, destination, enabled, rule } = route
  return [
    ...(enabled
      ? []
      : [
          fail({
            what: `the rule ${rule} is switched off`,
            why: "bounces and complaints are never seen",
            do: "enable the rule"
          })
        ]),
    ...(destination._tag === "Unseen"
      ? [unseen(`the API destination of the rule ${rule} cannot be seen`, destination.why)]
      : destination.value.state === "ACTIVE"
        ? []
        : [
            fail({
              what: `the API destination of the rule ${rule} is ${destination.value.state}`,
              why: "the bus delivers nothing to it",
              do: "see its connection in the EventBridge console, and authorise it again"
            })
          ]),
    ...(connection._tag === "Unseen"
      ? [unseen(`the connection of the rule ${rule} cannot be seen`, connection.why)]
      : connection.value === "AUTHORIZED"
        ? []
        : [
            fail({
              what: `the connection of the rule ${rule} is ${connection.value}`,
              why: "the bus delivers nothing without its header X-Webhook-Secret",
              do: "store the value of PROVIDERB_WEBHOOK_SECRET in the connection again"
            })
          ])
  ]
}

/** Whether an event that cannot be delivered at once is lost (EVENT-12). */
const lossVerdicts = (route: EventRoute): ReadonlyArray<Verdict> => {
  const { attempts, deadLetterQueue, retriedSeconds, rule, types } = route
  const missing = types === undefined ? [] : DETAIL_TYPES.filter((type) => !types.includes(type))
  return [
    ...(missing.length === 0
      ? []
      : [
          warn({
            what: `the rule ${rule} leaves out ${missing.join(", ")}`,
            why: "rows do not move on these events",
            do: APPLY
          })
        ]),
    ...(retriedSeconds >= DELIVERY.hours * 3_600 && attempts >= DELIVERY.attempts
      ? []
      : [
          warn({
            what: `the rule ${rule} tries for ${Math.floor(retriedSeconds / 60)} minutes and ${attempts} times`,
            why: `events are lost where this installation is away for longer than that, and need not be before ${DELIVERY.hours} hours`,
            do: APPLY
          })
        ]),
    ...(deadLetterQueue === undefined
      ? [
          warn({
            what: `the rule ${rule} has no dead-letter queue`,
            why: "what could not be delivered is gone without a notice",
            do: APPLY
          })
        ]
      : [])
  ]
}

/** The verdicts on the way of the events to `webhook`. */
export const eventVerdicts = (facts: Found<EventFacts>, webhook: string): ReadonlyArray<Verdict> => {
  if (facts._tag === "Unseen") return [unseen("the rules of the event bus cannot be seen", facts.why)]
  const { elsewhere, routes } = facts.value
  const ours = routes.filter(
    ({ destination }) => destination._tag === "Unseen" || destination.value.endpoint === webhook
  )
  if (ours.length === 0) {
    const others = [
      ...routes.flatMap(({ destination }) =>
        destination._tag === "Seen" ? [destination.value.endpoint] : []
      ),
      ...elsewhere
    ]
    return [
      warn({
        what: `no rule delivers the events of Amazon SES to ${webhook}`,
        why:
          others.length === 0
            ? "bounces and complaints are never seen"
            : `they go to ${others.join(", ")}: what does not hand them on to the webhook loses them`,
        do: APPLY
      })
    ]
  }
  const complaints = ours.flatMap((route) => [...wayVerdicts(route), ...lossVerdicts(route)])
  return complaints.length > 0
    ? complaints
    : [
        ok(
          `events are delivered to ${webhook}, for ${DELIVERY.hours} hours, then kept in a dead-letter queue`
        )
      ]
}

/** The dead-letter queues of the rules. */
export const eventDeadLetters = (facts: Found<EventFacts>): ReadonlyArray<string> =>
  facts._tag === "Unseen"
    ? []
    : facts.value.routes.flatMap(({ deadLetterQueue }) =>
        deadLetterQueue === undefined ? [] : [deadLetterQueue]
      )
