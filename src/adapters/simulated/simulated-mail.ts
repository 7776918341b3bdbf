import { join } from "node:path"

import { Effect, Layer, Scope } from "effect"

import type { Provider } from "../../domain/mail/failover.ts"
import { type SimulatedEvent, SimulatedMail, type SimulatedOutcome } from "../../ports/mail/simulated-mail.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { makeKeyMemories } from "./key-memory.ts"
import { makeOutbox, outboxUnavailable } from "./outbox.ts"
import { makeSimulatedProvider } from "./simulated-provider.ts"

interface Script {
  readonly outcomes: ReadonlyArray<SimulatedOutcome>
  readonly otherwise: SimulatedOutcome
}

const NO_SCRIPT: Script = { outcomes: [], otherwise: "ok" }

/**
 * Both simulated providers over one data folder: mail in `<dataDir>/outbox`, remembered keys in `<dataDir>/simulated-keys`.
 * Several processes may share the folder; scripts hold for one process.
 */
export const layer = (options: {
  readonly dataDir: string
  /** Called after a message to a vendor's test address was accepted, in a fiber of its own. */
  readonly onEvent?: (event: SimulatedEvent) => Effect.Effect<void>
}): Layer.Layer<SimulatedMail, StoreUnavailable> =>
  Layer.effect(
    SimulatedMail,
    Effect.gen(function* () {
      const scope = yield* Scope.Scope
      const outbox = yield* makeOutbox(join(options.dataDir, "outbox"))
      const keys = yield* Effect.tryPromise({
        try: () => makeKeyMemories(join(options.dataDir, "simulated-keys")),
        catch: outboxUnavailable("put")
      })
      const scripts = new Map<Provider, Script>()

      const next = (provider: Provider) =>
        Effect.sync(() => {
          const { outcomes, otherwise } = scripts.get(provider) ?? NO_SCRIPT
          scripts.set(provider, { outcomes: outcomes.slice(1), otherwise })
          return outcomes[0] ?? otherwise
        })

      const make = (provider: Provider) =>
        makeSimulatedProvider({
          provider,
          outbox,
          keys,
          next: next(provider),
          onEvent: options.onEvent ?? (() => Effect.void),
          scope
        })
      const providers = { provider_a: make("provider_a"), provider_b: make("provider_b") }

      return SimulatedMail.of({
        outbox,
        provider: (provider) => providers[provider],
        script: (provider, outcomes, otherwise = "ok") =>
          Effect.sync(() => void scripts.set(provider, { outcomes, otherwise }))
      })
    })
  )
