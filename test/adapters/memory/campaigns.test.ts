import { Effect } from "effect"

import {
  type CampaignDatabase,
  type KnownDeferral,
  makeCampaignDatabase
} from "../../../src/adapters/memory/outreach/campaign-book.ts"
import { CampaignBook, Unsubscribes } from "../../../src/ports/outreach/campaign-book.ts"
import { type CampaignWorld, suite } from "../../contracts/outreach/campaign-book.ts"

/** How the deferral under a key stands, as the send log would tell it. */
const ends = new Map<string, "deferred" | "sent" | "failed" | "suppressed">()
const deferralOf = (key: string): KnownDeferral => {
  let ended: KnownDeferral["ended"]
  for (let number = 1; ; number++) {
    const asked = number === 1 ? key : `${key}/${number}`
    const end = ends.get(asked)
    if (end !== "failed" && end !== "suppressed") return { key: asked, state: end ?? "new", ended }
    ended = end
  }
}

let database: CampaignDatabase = makeCampaignDatabase(deferralOf)
const world: CampaignWorld = {
  clear: Effect.sync(() => {
    ends.clear()
    database = makeCampaignDatabase(deferralOf)
  }),
  deferral: (key, end) => Effect.sync(() => void ends.set(key, end)),
  resubscribe: (email) => Effect.sync(() => database.resubscribe(email)),
  tables: Effect.sync(() => ({
    sends: database
      .sends()
      .map((row) => ({
        email: row.email ?? null,
        campaign: row.campaign ?? null,
        providerMessageId: row.providerMessageId ?? null,
        status: row.status,
        opens: row.openCount,
        clicks: row.clickCount,
        openedAt: row.openedAt ?? null,
        clickedAt: row.clickedAt ?? null,
        bouncedAt: row.bouncedAt ?? null,
        complainedAt: row.complainedAt ?? null
      }))
      .sort((a, b) => ((a.providerMessageId ?? "") < (b.providerMessageId ?? "") ? -1 : 1)),
    prospects: database.prospects(),
    unsubscribed: database.unsubscribed()
  }))
}

suite("memory", 200, (body) =>
  Effect.suspend(() =>
    body(world).pipe(
      Effect.provideService(
        CampaignBook,
        CampaignBook.of({
          record: (event) => Effect.suspend(() => database.book.record(event)),
          begin: (entry) => Effect.suspend(() => database.book.begin(entry)),
          finish: (end) => Effect.suspend(() => database.book.finish(end)),
          settle: Effect.suspend(() => database.book.settle)
        })
      ),
      Effect.provideService(
        Unsubscribes,
        Unsubscribes.of({
          key: Effect.suspend(() => database.unsubscribes.key),
          add: (entry) => Effect.suspend(() => database.unsubscribes.add(entry))
        })
      )
    )
  )
)
