import { Context } from "effect"

import type { Provider } from "../../domain/mail/provider.ts"
import { fixedRate } from "../../domain/mail/rate.ts"
import type { PaceLimit } from "../../ports/mail/send-queue.ts"

/** The settings of the send queue. */
export class QueueConfig extends Context.Service<
  QueueConfig,
  {
    /** Requests that one process sends at once. */
    readonly concurrency: number
    /** A request that was refused for so long ends `failed`, milliseconds. */
    readonly maxAgeMs: number
    readonly paces: ReadonlyArray<PaceLimit>
  }
>()("postlane/application/QueueConfig") {}

/** The pace of a provider. */
export const paceOf = (paces: ReadonlyArray<PaceLimit>, provider: Provider): PaceLimit =>
  paces.find((pace) => pace.provider === provider) ?? { provider, ...fixedRate(0) }
