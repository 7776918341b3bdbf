import type { Effect, Result } from "effect"

import type { Enqueue } from "../../application/send-queue/enqueue.ts"
import type { InvalidCursor } from "../../ports/cursor.ts"
import type { EmailLogQuery } from "../../ports/delivery/email-log-query.ts"
import type { SendQueue } from "../../ports/mail/send-queue.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { failure, type ResendFailure } from "./resend-answers.ts"

export type Env = Readonly<Record<string, unknown>>

/** Why the database was not used. */
interface StoresAway {
  /** False: the settings name no database, or are wrong. */
  readonly isConfigured: boolean
  readonly message: string
}

/** Uses the send log and the send queue that these settings name. */
export type UseStores = <A>(
  env: Env,
  use: (stores: {
    readonly log: EmailLogQuery["Service"]
    readonly queue: SendQueue["Service"]
    readonly enqueue: Enqueue["Service"]
  }) => Effect.Effect<A, StoreUnavailable | InvalidCursor>
) => Promise<Result.Result<A, StoresAway>>

export const storesAway = ({ message }: StoresAway): ResendFailure =>
  failure("application_error", 503, message)
