import { Effect } from "effect"

import type { KeyHash } from "../../domain/ids.ts"
import { endedSince, type SendResult } from "../../domain/mail/send-result.ts"
import type { SendParts } from "./sending.ts"
import { deferralEnd } from "./store-access.ts"

/** The first result again; of a deferral, how it ended since. */
export const replay = (parts: SendParts, keyHash: KeyHash, result: SendResult): Effect.Effect<SendResult> =>
  result.status === "deferred"
    ? Effect.map(deferralEnd(parts, { keyHash, sendId: result.sendId }), (end) =>
        end === undefined ? result : endedSince(result, end)
      )
    : Effect.succeed(result)
