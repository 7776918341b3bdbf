import { Effect, Stream } from "effect"

import { bucketVerdicts } from "../../domain/doctor/buckets.ts"
import { credentialVerdicts } from "../../domain/doctor/cloud-credentials.ts"
import { type Found, webhookOf } from "../../domain/doctor/cloud-side.ts"
import { databaseVerdicts } from "../../domain/doctor/database.ts"
import { eventDeadLetters, type EventFacts, eventVerdicts } from "../../domain/doctor/event-delivery.ts"
import { modelVerdicts } from "../../domain/doctor/model.ts"
import { objectVerdicts, probeVerdicts } from "../../domain/doctor/objects.ts"
import { type ProviderBFacts, providerBVerdicts } from "../../domain/doctor/provider-b.ts"
import { type QueueFacts, queueVerdicts } from "../../domain/doctor/queue.ts"
import { servedVerdicts } from "../../domain/doctor/served.ts"
import { type Verdict, verdictsOf } from "../../domain/doctor/verdict.ts"
import { DEFAULT_PRIMARY } from "../../domain/mail/provider.ts"
import { type Dns, Examinations } from "../../ports/doctor/examinations.ts"
import { withDeadline } from "../deadline.ts"
import { alarmVerdicts } from "./cloud-alarms.ts"
import { seen } from "./cloud-look.ts"
import { senderDnsVerdicts } from "./sender-dns.ts"

/** Time limit of one check. */
const CHECK_TIME_LIMIT = "15 seconds"

/** The settings that the checks need. */
interface DoctorOptions {
  /** The sender domain, lower-case. */
  readonly sender: string
  /** Region of `provider_b`. */
  readonly region: string
  readonly visibilitySeconds: number
  /** Where this installation is reached. */
  readonly baseUrl: string
}

const identityOf = (facts: ProviderBFacts) =>
  facts._tag === "Account" && facts.identity._tag === "There" ? facts.identity.identity : undefined

const deadLettersOf = (facts: QueueFacts | undefined): string | undefined =>
  facts?._tag === "Sqs" ? facts.redrive?.deadLetterQueue : undefined

const NO_EVENTS: Found<EventFacts> = seen({ routes: [], elsewhere: [] })

const bounded = <R>(check: string, run: Effect.Effect<ReadonlyArray<Verdict>, never, R>) =>
  withDeadline(run, {
    duration: CHECK_TIME_LIMIT,
    onTimeout: () =>
      Effect.succeed<ReadonlyArray<Verdict>>([
        verdictsOf(check).fail({
          what: "the check took too long",
          why: `no answer within ${CHECK_TIME_LIMIT}`,
          do: "see that this machine reaches what is checked, and run doctor again"
        })
      ])
  })

const unused = (check: string, what: string) =>
  Effect.succeed<ReadonlyArray<Verdict>>([verdictsOf(check).ok(what)])

/** Checks of the objects in stores. */
const storeChecks = ({
  buckets,
  objects,
  probes
}: Pick<Examinations["Service"], "buckets" | "objects" | "probes">) => [
  objects === undefined ? Effect.succeed([]) : bounded("objects", Effect.map(objects, objectVerdicts)),
  probes === undefined ? Effect.succeed([]) : bounded("objects", Effect.map(probes, probeVerdicts)),
  buckets === undefined ? Effect.succeed([]) : bounded("buckets", Effect.map(buckets, bucketVerdicts))
]

/** The checks of the account's keys, and of the model that they reach. */
const cloudChecks = ({ cloud, model }: Pick<Examinations["Service"], "cloud" | "model">) => [
  cloud === undefined ? Effect.succeed([]) : bounded("cloud", Effect.map(cloud, credentialVerdicts)),
  model === undefined
    ? unused("model", "the high-fidelity model is simulated or not used")
    : bounded("model", Effect.map(model, modelVerdicts))
]

/** The checks of what mail and its events pass. */
const pathChecks = (
  {
    events,
    queue,
    served
  }: {
    readonly events: Effect.Effect<Found<EventFacts>> | undefined
    readonly queue: Effect.Effect<QueueFacts> | undefined
    readonly served: Examinations["Service"]["served"]
  },
  { baseUrl, visibilitySeconds }: DoctorOptions
) => [
  served === undefined ? Effect.succeed([]) : bounded("served", Effect.map(served, servedVerdicts)),
  queue === undefined
    ? Effect.succeed([])
    : bounded(
        "queue",
        Effect.map(queue, (facts) => queueVerdicts(facts, visibilitySeconds))
      ),
  events === undefined
    ? Effect.succeed([])
    : bounded(
        "events",
        Effect.map(events, (facts) => eventVerdicts(facts, webhookOf(baseUrl)))
      )
]

/** The checks of the providers but `provider_b`, which others wait for. */
const providerChecks = (providers: Examinations["Service"]["providers"]) => [
  ...(providers.has(DEFAULT_PRIMARY)
    ? []
    : [unused(DEFAULT_PRIMARY, `${DEFAULT_PRIMARY} is simulated or not used`)]),
  ...[...providers]
    .filter(([provider]) => provider !== "provider_b")
    .map(([provider, verdicts]) => bounded(provider, verdicts))
]

/**
 * Runs all checks at once, each within its time limit, and emits the verdicts of each as soon as they are known. A part
 * that is simulated or not used is reported as such. DNS waits for `provider_b`, which alone knows the names of the DKIM
 * records, and alarms for the queues that they watch.
 */
export const examine = (
  options: DoctorOptions
): Stream.Stream<ReadonlyArray<Verdict>, never, Dns | Examinations> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { alarms, buckets, cloud, database, model, objects, probes, providers, served, ...asked } =
        yield* Examinations
      const { region, sender } = options
      // Two checks wait for each of these.
      const once = <A>(part: Effect.Effect<A> | undefined) =>
        part === undefined ? Effect.succeed(undefined) : Effect.cached(part)
      const providerB = yield* once(asked.providerB)
      const queue = yield* once(asked.queue)
      const events = yield* once(asked.events)
      const checks = [
        // A missing database is reported by the verdicts on the settings.
        database === undefined
          ? Effect.succeed([])
          : bounded("database", Effect.map(database, databaseVerdicts)),
        ...storeChecks({ buckets, objects, probes }),
        ...cloudChecks({ cloud, model }),
        ...pathChecks({ queue, events, served }, options),
        ...providerChecks(providers),
        providerB === undefined
          ? unused("provider_b", "provider_b is simulated or not used")
          : bounded(
              "provider_b",
              Effect.map(providerB, (facts) => providerBVerdicts(facts, sender))
            ),
        alarms === undefined
          ? Effect.succeed([])
          : bounded(
              "alarms",
              Effect.flatMap(
                Effect.all([queue ?? Effect.undefined, events ?? Effect.succeed(NO_EVENTS)], {
                  concurrency: "unbounded"
                }),
                ([deferred, bus]) =>
                  alarmVerdicts(alarms, { deferred: deadLettersOf(deferred), events: eventDeadLetters(bus) })
              )
            ),
        providerB === undefined
          ? unused("dns", "DNS is not looked at while provider_b is simulated or not used")
          : bounded(
              "dns",
              Effect.flatMap(providerB, (facts) =>
                senderDnsVerdicts({ sender, region, identity: identityOf(facts) })
              )
            )
      ]
      return Stream.mergeAll(checks.map(Stream.fromEffect), { concurrency: "unbounded" })
    })
  )
