import { Context, type Effect, type Redacted } from "effect"

import type { SenderToken } from "../../domain/mail/sender-token.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** A token that is in force, without its text. Times are milliseconds since the epoch. */
export interface ListedSenderToken extends SenderToken {
  readonly createdAt: number
  /** To the minute; `undefined` for never. */
  readonly lastUsedAt: number | undefined
}

/**
 * The tokens of programs that send (FRONT-1). Only hashes are stored. Nothing is cached: a revocation takes effect at once, in all
 * processes.
 */
export class SenderTokens extends Context.Service<
  SenderTokens,
  {
    /** What the token with this text allows; undefined where it is unknown or revoked. Its use is noted once a minute. */
    readonly use: (text: string) => Effect.Effect<SenderToken | undefined, StoreUnavailable>
    /** Makes a token. Its text is returned only here and stored nowhere. Writes one audit row, both or neither. */
    readonly create: (
      token: Omit<SenderToken, "id">,
      /** The admin, or `cli`. */
      actor: string
    ) => Effect.Effect<{ readonly id: string; readonly token: Redacted.Redacted }, StoreUnavailable>
    /** Those in force, newest first. */
    readonly list: Effect.Effect<ReadonlyArray<ListedSenderToken>, StoreUnavailable>
    /** False where none of this id is in force. Writes one audit row where it revokes one, both or neither. */
    readonly revoke: (id: string, actor: string) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("postlane/ports/SenderTokens") {}
