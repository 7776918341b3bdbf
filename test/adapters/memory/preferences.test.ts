import { Layer } from "effect"

import { makeCampaignDatabase } from "../../../src/adapters/memory/outreach/campaign-book.ts"
import { MailPreferences } from "../../../src/ports/mail/preferences.ts"
import { suite } from "../../contracts/mail/preferences.ts"

suite(
  "memory",
  200,
  Layer.sync(MailPreferences, () => makeCampaignDatabase().preferences)
)
