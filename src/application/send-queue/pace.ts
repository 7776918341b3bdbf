import { Context, Effect, Latch, Layer } from "effect"

import type { Provider } from "../../domain/mail/provider.ts"
import type { ProviderPace } from "../../ports/mail/mail-provider.ts"
import { SendQueue } from "../../ports/mail/send-queue.ts"
import { PaceReports } from "../mail/pace-reports.ts"
import { paceOf, QueueConfig } from "./queue-config.ts"

/** How long reports are gathered before they are written, milliseconds. */
const GATHER_MS = 200

/** What was received of a provider's pace since the last write. */
interface Heard {
  asked: number
  said: ProviderPace
}

/** Gathers what this process learns of the providers' pace, and writes it for all processes (QUEUE-5). */
class Paces extends Context.Service<
  Paces,
  { readonly note: (provider: Provider, asked: number, said: ProviderPace | undefined) => void }
>()("postlane/application/Paces") {}

const joined = (one: ProviderPace, two: ProviderPace): ProviderPace => ({
  ratePerSecond: two.ratePerSecond ?? one.ratePerSecond,
  holdMs: one.holdMs === undefined ? two.holdMs : Math.max(one.holdMs, two.holdMs ?? 0)
})

/** The reports of a process. */
export const layer = Layer.effect(
  Paces,
  Effect.gen(function* () {
    const queue = yield* SendQueue
    const { paces } = yield* QueueConfig
    const some = Latch.makeUnsafe()
    const heard = new Map<Provider, Heard>()
    const write = Effect.gen(function* () {
      yield* some.whenOpen(Effect.void)
      yield* Effect.sleep(GATHER_MS)
      some.closeUnsafe()
      const all = [...heard]
      heard.clear()
      for (const [provider, { asked, said }] of all) {
        yield* queue
          .heard(paceOf(paces, provider), asked, said)
          .pipe(Effect.catch((error) => Effect.logDebug("the pace of a provider could not be noted", error)))
      }
    })
    yield* Effect.forkScoped(Effect.forever(write))
    return Paces.of({
      note: (provider, asked, said) => {
        if (paceOf(paces, provider).rate === 0 || (asked === 0 && said === undefined)) return
        const known = heard.get(provider) ?? { asked: 0, said: {} }
        heard.set(provider, { asked: known.asked + asked, said: joined(known.said, said ?? {}) })
        some.openUnsafe()
      }
    })
  })
)

/** Direct sends count, and never wait. */
export const ofDirectSends = Layer.effect(
  PaceReports,
  Effect.map(Paces, ({ note }) => ({ note: (provider, said) => note(provider, 1, said) }))
)

/** The queue has taken a token for each of its attempts. */
export const ofQueue = Layer.effect(
  PaceReports,
  Effect.map(Paces, ({ note }) => ({ note: (provider, said) => note(provider, 0, said) }))
)
