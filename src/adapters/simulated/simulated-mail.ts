import { join } from "node:path"

import { Clock, Effect, Layer, Option, Record, Schema, Scope } from "effect"

import { formattedKey } from "../../domain/mail/address.ts"
import { LIMITED_PROVIDER, Provider, PROVIDERS, reports } from "../../domain/mail/provider.ts"
import type { ReturnAddress } from "../../domain/mail/return-address.ts"
import { ProviderFailure } from "../../ports/mail/mail-provider.ts"
import {
  type OutboxEntry,
  type SimulatedEvent,
  type SimulatedEventType,
  SimulatedMail
} from "../../ports/mail/simulated-mail.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { deliveryReport } from "./delivery-report.ts"
import { makeKeyMemories } from "./key-memory.ts"
import { makeOutbox, outboxUnavailable } from "./outbox.ts"
import { makeScripts } from "./scripts.ts"
import { makeSimulatedProvider } from "./simulated-provider.ts"
import { limited, makeVendorLimit } from "./vendor-limit.ts"

const isProvider = Schema.is(Provider)

/** An event of a message that a simulated provider sent. Undefined: no simulated provider sent it, or its provider reports no such event. */
const eventOf = (
  { bcc, cc, configurationSet, from, messageId, subject, tags, to, via }: OutboxEntry,
  type: SimulatedEventType,
  recipients: ReadonlyArray<string> | undefined,
  { now, returns }: { readonly now: number; readonly returns: ReturnAddress | undefined }
): SimulatedEvent | undefined => {
  if (!isProvider(via) || messageId === undefined) return undefined
  const allRecipients = [...new Set([...to, ...cc, ...bcc].map(formattedKey))]
  const event = {
    provider: via,
    type,
    messageId,
    recipients: recipients ?? allRecipients,
    allRecipients,
    from: formattedKey(from),
    subject,
    tags: tags ?? {},
    configurationSet,
    at: new Date(now).toISOString()
  }
  return reports(via) || Option.isSome(deliveryReport(event, returns)) ? event : undefined
}

/** Puts a script there; addresses are compared in lower case. */
const scriptIn =
  (scripts: Awaited<ReturnType<typeof makeScripts>>): SimulatedMail["Service"]["script"] =>
  (provider, outcomes, otherwise = "ok", { to, ...rest } = {}) =>
    Effect.tryPromise({
      try: () => {
        const target = to === undefined ? rest : { ...rest, to: formattedKey(to) }
        return scripts.put(provider, { outcomes, otherwise, target })
      },
      catch: outboxUnavailable("put")
    })

/**
 * The simulated providers over one data folder: mail in `<dataDir>/outbox`, remembered keys in `<dataDir>/simulated-keys`,
 * what counts against a limit in `<dataDir>/simulated-pace`, scripts in `<dataDir>/simulated-scripts`. Several processes may share the
 * folder, and a script holds for them together.
 */
export const layer = (options: {
  readonly dataDir: string
  /** `SIMULATE_VENDOR_LIMITS`: `provider_a` takes as few requests a second as Resend. */
  readonly vendorLimits?: boolean
  /** `BOUNCE_ADDRESS`: where `smtp` reports to; without one it reports nothing. */
  readonly returns?: ReturnAddress | undefined
  /** Called in a separate fiber after a message to a vendor's test address was accepted, and with requested events. */
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
      const limit = yield* Effect.tryPromise({
        try: () => makeVendorLimit(join(options.dataDir, "simulated-pace")),
        catch: outboxUnavailable("put")
      })
      const onEvent = options.onEvent ?? (() => Effect.void)
      const scripts = yield* Effect.tryPromise({
        try: () => makeScripts(join(options.dataDir, "simulated-scripts")),
        catch: outboxUnavailable("put")
      })

      const make = (provider: Provider) =>
        makeSimulatedProvider({
          provider,
          returns: options.returns,
          outbox,
          keys,
          next: (asked) =>
            Effect.tryPromise({
              try: () => scripts.next(provider, asked),
              catch: (cause) =>
                new ProviderFailure({
                  provider,
                  kind: "unavailable",
                  message: `simulated ${provider}: its script cannot be read: ${String(cause)}`
                })
            }),
          onEvent,
          scope
        })
      const providers = Record.map(PROVIDERS, (_, provider) => {
        const free = make(provider)
        return provider === LIMITED_PROVIDER && options.vendorLimits === true ? limited(free, limit) : free
      })

      return SimulatedMail.of({
        outbox,
        report: Effect.fnUntraced(function* (entry, type, recipients) {
          const moment = { now: yield* Clock.currentTimeMillis, returns: options.returns }
          const event = eventOf(entry, type, recipients, moment)
          if (event === undefined) return false
          yield* outbox.mark(entry.id, type)
          yield* onEvent(event)
          return true
        }),
        provider: (provider) => providers[provider],
        script: scriptIn(scripts)
      })
    })
  )
