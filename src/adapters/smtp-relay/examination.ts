import { Effect } from "effect"

import type { RelayFacts } from "../../domain/doctor/relay.ts"
import { addressOfRelay, relayText } from "./relay-provider.ts"
import { ask, openSession, type Relay } from "./session.ts"

/** Connects, logs in and takes leave. Sends nothing. */
export const examineRelay = (relay: Relay): Effect.Effect<RelayFacts> =>
  Effect.tryPromise(async (signal): Promise<RelayFacts> => {
    const { dialogue, offers } = await openSession(relay, signal)
    try {
      const size = Number(offers.get("SIZE") ?? "")
      await ask(dialogue, "opening", "QUIT").catch(() => undefined)
      return {
        _tag: "LoggedIn",
        encrypted: dialogue.isEncrypted(),
        authenticated: relay.login !== undefined,
        maxBytes: size > 0 ? size : undefined
      }
    } finally {
      dialogue.destroy()
    }
  }).pipe(
    Effect.catch(({ cause }) =>
      Effect.succeed<RelayFacts>({
        _tag: "Failed",
        why: relayText(
          relay,
          `${addressOfRelay(relay)}: ${cause instanceof Error ? cause.message : String(cause)}`
        )
      })
    )
  )
