import { Effect } from "effect"

import { type CampaignDatabase, makeCampaignDatabase } from "../../../src/adapters/memory/campaigns.ts"
import { CampaignBook } from "../../../src/ports/campaign-book.ts"
import { Unsubscribes } from "../../../src/ports/unsubscribes.ts"
import { type CampaignWorld, suite } from "../../contracts/campaign-book.ts"

let database: CampaignDatabase = makeCampaignDatabase()
const world: CampaignWorld = {
  clear: Effect.sync(() => void (database = makeCampaignDatabase())),
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
          finish: (end) => Effect.suspend(() => database.book.finish(end))
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
