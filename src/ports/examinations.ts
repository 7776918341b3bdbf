import { Context } from "effect"
import type { Effect } from "effect"

import type { DatabaseFacts } from "../domain/doctor/database.ts"
import type { ProviderAFacts } from "../domain/doctor/provider-a.ts"
import type { ProviderBFacts } from "../domain/doctor/provider-b.ts"
import type { QueueFacts } from "../domain/doctor/queue.ts"

/**
 * What the doctor asks of the parts outside. Nothing is sent or changed by asking, and nothing fails: what cannot be found
 * out is a fact of its own. Absent: the part is simulated or not used. Texts in the facts hold no secret.
 */
export class Examinations extends Context.Service<
  Examinations,
  {
    readonly database: Effect.Effect<DatabaseFacts> | undefined
    readonly providerA: Effect.Effect<ProviderAFacts> | undefined
    readonly providerB: Effect.Effect<ProviderBFacts> | undefined
    readonly queue: Effect.Effect<QueueFacts> | undefined
  }
>()("postlane/ports/Examinations") {}
