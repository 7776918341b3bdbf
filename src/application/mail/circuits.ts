import { Context, Effect, Layer } from "effect"

import {
  afterCount,
  afterProbe,
  afterSign,
  type Circuit,
  CLOSED,
  enter,
  HANGS_AFTER,
  type Sign
} from "../../domain/mail/circuit.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { ProviderFailure } from "../../ports/mail/mail-provider.ts"
import { MailStore } from "../../ports/mail/mail-store.ts"
import { noAnswer } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import { uptime } from "../uptime.ts"

/** What a process knows of the providers that hang. */
export type Circuits = Map<Provider, Circuit>

/** The circuits that all mailers of a process share where they are opened and closed with its sends; by default each mailer has its own. */
export const KeptCircuits = Context.Reference<Circuits | undefined>("postlane/application/KeptCircuits", {
  defaultValue: () => undefined
})

/** Keeps callers from waiting for a provider that is known to hang (MAIL-38). */
export class ProviderCircuits extends Context.Service<
  ProviderCircuits,
  {
    /**
     * Runs an attempt of at most `lastsMs`. Where the provider hangs and another attempt probes it, nothing is run, and the result is
     * undefined.
     */
    readonly unlessHanging: <A, E>(
      provider: Provider,
      lastsMs: number,
      attempt: Effect.Effect<A, E>
    ) => Effect.Effect<A | undefined, E>
    /** Takes note of how an attempt ended. */
    readonly note: (provider: Provider, sign: Sign) => Effect.Effect<void>
  }
>()("postlane/application/ProviderCircuits") {}

/** How long the store may take to count a time-out; nobody waits for it. */
const COUNTED_WITHIN = "2500 millis"

const said = (provider: Provider, before: Circuit, after: Circuit): Effect.Effect<void> => {
  if (before.hung < HANGS_AFTER && after.hung >= HANGS_AFTER)
    return Effect.logWarning(
      `${provider} hangs: ${after.hung} attempts in a row got no answer in time. Sends wait for their retry at once, but for one at a time`
    )
  return before.hung >= HANGS_AFTER && after.hung === 0
    ? Effect.logInfo(`${provider} answers again`)
    : Effect.void
}

const make = Effect.gen(function* () {
  const circuits: Circuits = (yield* KeptCircuits) ?? new Map()
  const store = yield* MailStore
  const scope = yield* Effect.scope
  const of = (provider: Provider) => circuits.get(provider) ?? CLOSED
  const move = (provider: Provider, to: (circuit: Circuit) => Circuit) =>
    Effect.suspend(() => {
      const before = of(provider)
      const after = to(before)
      circuits.set(provider, after)
      return said(provider, before, after)
    })
  /** Counts it for all processes, in the background. */
  const count = (provider: Provider, sign: Sign) =>
    withDeadline(store.noteSign(provider, sign), {
      duration: COUNTED_WITHIN,
      onTimeout: () => Effect.fail(noAnswer("noteSign", COUNTED_WITHIN))
    }).pipe(
      Effect.flatMap((inARow) => move(provider, (circuit) => afterCount(circuit, inARow))),
      Effect.catch((error) => Effect.logDebug("a time-out could not be counted for all processes", error)),
      Effect.forkIn(scope),
      Effect.asVoid
    )
  return ProviderCircuits.of({
    unlessHanging: (provider, lastsMs, attempt) =>
      Effect.flatMap(uptime, (now) => {
        const { circuit, entry } = enter(of(provider), now, lastsMs)
        circuits.set(provider, circuit)
        if (entry === "hangs") return Effect.undefined
        if (entry === "ask") return attempt
        return Effect.ensuring(
          attempt,
          Effect.sync(() => circuits.set(provider, afterProbe(of(provider), circuit.probeUntil)))
        )
      }),
    note: (provider, sign) =>
      Effect.suspend(() => {
        const isNews = sign === "hung" || of(provider).hung > 0
        const moved = move(provider, (circuit) => afterSign(circuit, sign))
        return isNews && store.configured ? Effect.andThen(moved, count(provider, sign)) : moved
      })
  })
})

/** One for all that is built together, which is a process. */
export const layerCircuits: Layer.Layer<ProviderCircuits, never, MailStore> = Layer.effect(
  ProviderCircuits,
  make
)

/** Notes how an attempt ended; one that a shutdown cut off says nothing of the provider. */
export const signOf = (failure: ProviderFailure): Sign | undefined =>
  failure.cut === "late" ? "hung" : failure.cut === "stopped" ? undefined : "answered"
