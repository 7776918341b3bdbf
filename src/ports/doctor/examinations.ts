import { Context, Data, type Effect } from "effect"

import type { BucketFacts } from "../../domain/doctor/buckets.ts"
import type { CredentialFacts } from "../../domain/doctor/cloud-credentials.ts"
import type { Found } from "../../domain/doctor/cloud-side.ts"
import type { DatabaseFacts } from "../../domain/doctor/database.ts"
import type { MxRecord } from "../../domain/doctor/dns-records.ts"
import type { EventFacts } from "../../domain/doctor/event-delivery.ts"
import type { ModelFacts } from "../../domain/doctor/model.ts"
import type { BucketProbe, ObjectStoreFacts } from "../../domain/doctor/objects.ts"
import type { ProviderBFacts } from "../../domain/doctor/provider-b.ts"
import type { QueueFacts } from "../../domain/doctor/queue.ts"
import type { ServedFacts } from "../../domain/doctor/served.ts"
import type { Verdict } from "../../domain/doctor/verdict.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { CloudAlarms } from "./cloud-alarms.ts"

/** The resolver did not answer, or refused. `message` is for people. */
export class DnsFailure extends Data.TaggedError("DnsFailure")<{ readonly message: string }> {}

/** Looks names up. A name that does not exist gives an empty list, not a failure. */
export class Dns extends Context.Service<
  Dns,
  {
    readonly cname: (name: string) => Effect.Effect<ReadonlyArray<string>, DnsFailure>
    readonly mx: (name: string) => Effect.Effect<ReadonlyArray<MxRecord>, DnsFailure>
    /** The strings of each record are joined. */
    readonly txt: (name: string) => Effect.Effect<ReadonlyArray<string>, DnsFailure>
  }
>()("postlane/ports/Dns") {}

/**
 * The doctor's queries to external systems. They send nothing, leave nothing behind and never fail: an unanswered query is a fact,
 * too. Absent: the part is simulated or not used. Texts in the facts hold no secret.
 */
export class Examinations extends Context.Service<
  Examinations,
  {
    readonly alarms: CloudAlarms | undefined
    readonly database: Effect.Effect<DatabaseFacts> | undefined
    readonly buckets: Effect.Effect<ReadonlyArray<BucketFacts>> | undefined
    /** Asks the model for one word. */
    readonly model: Effect.Effect<ModelFacts> | undefined
    readonly cloud: Effect.Effect<CredentialFacts> | undefined
    readonly events: Effect.Effect<Found<EventFacts>> | undefined
    /** Writes, reads and removes one small object in each bucket. */
    readonly probes: Effect.Effect<ReadonlyArray<BucketProbe>> | undefined
    readonly objects: Effect.Effect<ReadonlyArray<ObjectStoreFacts>> | undefined
    /** What the accounts of the providers say. */
    readonly providers: ReadonlyMap<Provider, Effect.Effect<ReadonlyArray<Verdict>>>
    /** What the account says that others ask about, too. */
    readonly providerB: Effect.Effect<ProviderBFacts> | undefined
    readonly queue: Effect.Effect<QueueFacts> | undefined
    /** Whether the server that others reach has the secrets of this machine. */
    readonly served: Effect.Effect<ServedFacts> | undefined
  }
>()("postlane/ports/Examinations") {}
