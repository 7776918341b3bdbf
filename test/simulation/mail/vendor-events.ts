import { Clock, Effect } from "effect"

import type { MailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { reports } from "../../../src/domain/mail/provider.ts"
import type { Chance } from "../kernel.ts"
import type { Chronicle } from "../world.ts"
import type { Attempt } from "./provider-model.ts"
import type { Weather } from "./weather.ts"

const DAY_MS = 24 * 60 * 60_000

interface Announcing {
  readonly chance: Chance
  readonly chronicle: Pick<Chronicle, "saw" | "note">
  /** Ours first, and those of every other installation that hears of the account: events go to all of its subscribers. */
  readonly databases: readonly [MailDatabase, ...ReadonlyArray<MailDatabase>]
  readonly happens: (
    fault: "events are late" | "events come twice" | "events never come" | "a day passes"
  ) => boolean
  readonly weather: Weather
  readonly onRecorded: (messageId: string) => void
}

/** Tells every database what the provider knows of a mail, late, twice, out of order, a day later, or never. */
export const announce = (
  { chance, chronicle, databases, happens, onRecorded, weather }: Announcing,
  { keyHash, keyTag, provider, recipients }: Attempt,
  providerMessageId: string
): Effect.Effect<void> => {
  const { note, saw } = chronicle
  const tell = (event: string, wait: number) =>
    Effect.gen(function* () {
      yield* Effect.sleep(wait)
      for (const database of databases)
        yield* Effect.provideService(
          database.recordEvent({
            provider,
            providerMessageId,
            event,
            keyTag: keyTag ?? undefined,
            recipients
          }),
          Clock.Clock,
          weather.databaseClock
        )
      // Of a send that had no claim, and no row yet, the store does not know what key its event is about, or which day's use of it.
      const isKnown = databases[0]
        .rows()
        .some((row) => row.providerMessageId === providerMessageId && row.keyHash === keyHash)
      if (isKnown) onRecorded(providerMessageId)
      saw("event recorded")
      note(() => `the event ${event} of ${providerMessageId} is recorded`)
    }).pipe(Effect.forkDetach)
  if (!reports(provider)) return Effect.void
  return Effect.gen(function* () {
    if (chance.bool(0.2) && happens("a day passes")) {
      saw("event comes a day later")
      yield* tell("opened", DAY_MS + chance.int(-600_000, 600_000))
    }
    if (chance.bool(0.3) && happens("events never come")) return saw("event never comes")
    const copies = chance.bool(0.3) && happens("events come twice") ? 2 : 1
    for (let copy = 0; copy < copies; copy++)
      for (const event of chance.bool(0.5) ? ["delivered"] : ["delivered", "sent"]) {
        const soon = chance.bool(0.4) || !happens("events are late")
        yield* tell(event, soon ? chance.int(0, 3_000) : chance.int(0, 1_500_000))
      }
  })
}
