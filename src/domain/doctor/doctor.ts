import { Effect, Stream } from "effect"

import { type Dns, Examinations } from "../../ports/doctor/examinations.ts"
import { withDeadline } from "../deadline.ts"
import { bucketVerdicts } from "./buckets.ts"
import { databaseVerdicts } from "./database.ts"
import { objectVerdicts } from "./objects.ts"
import { providerAVerdicts } from "./provider-a.ts"
import { type ProviderBFacts, providerBVerdicts } from "./provider-b.ts"
import { queueVerdicts } from "./queue.ts"
import { senderDnsVerdicts } from "./sender-dns.ts"
import { type Verdict, verdictsOf } from "./verdict.ts"

/** Time limit of one check. */
const CHECK_TIME_LIMIT = "15 seconds"

/** The settings that the checks need. */
interface DoctorOptions {
  /** The sender domain, lower-case. */
  readonly sender: string
  /** Region of `provider_b`. */
  readonly region: string
  readonly visibilitySeconds: number
}

const identityOf = (facts: ProviderBFacts) =>
  facts._tag === "Account" && facts.identity._tag === "There" ? facts.identity.identity : undefined

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

/**
 * Runs all checks at once, each within its time limit, and emits the verdicts of each as soon as they are known. A part
 * that is simulated or not used is reported as such. DNS waits for `provider_b`, which alone knows the names of the DKIM
 * records.
 */
export const examine = (
  options: DoctorOptions
): Stream.Stream<ReadonlyArray<Verdict>, never, Dns | Examinations> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { buckets, database, objects, providerA, providerB, queue } = yield* Examinations
      const { region, sender, visibilitySeconds } = options
      const asked = providerB === undefined ? undefined : yield* Effect.cached(providerB)
      const checks = [
        // Where there is none, the verdicts on the settings report it.
        database === undefined
          ? Effect.succeed([])
          : bounded("database", Effect.map(database, databaseVerdicts)),
        objects === undefined ? Effect.succeed([]) : bounded("objects", Effect.map(objects, objectVerdicts)),
        buckets === undefined ? Effect.succeed([]) : bounded("buckets", Effect.map(buckets, bucketVerdicts)),
        queue === undefined
          ? Effect.succeed([])
          : bounded(
              "queue",
              Effect.map(queue, (facts) => queueVerdicts(facts, visibilitySeconds))
            ),
        providerA === undefined
          ? unused("provider_a", "provider_a is simulated or not used")
          : bounded(
              "provider_a",
              Effect.map(providerA, (facts) => providerAVerdicts(facts, sender))
            ),
        asked === undefined
          ? unused("provider_b", "provider_b is simulated or not used")
          : bounded(
              "provider_b",
              Effect.map(asked, (facts) => providerBVerdicts(facts, sender))
            ),
        asked === undefined
          ? unused("dns", "DNS is not looked at while provider_b is simulated or not used")
          : bounded(
              "dns",
              Effect.flatMap(asked, (facts) =>
                senderDnsVerdicts({ sender, region, identity: identityOf(facts) })
              )
            )
      ]
      return Stream.mergeAll(checks.map(Stream.fromEffect), { concurrency: "unbounded" })
    })
  )
