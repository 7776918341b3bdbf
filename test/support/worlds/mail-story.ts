import type { MailStory, StoryRow } from "../../../src/domain/delivery/mail-story.ts"

/** A row of a mail that was accepted. */
export const storyRow = (change: Partial<StoryRow> = {}): StoryRow => ({
  id: "0199a000-0000-7000-8000-000000000001",
  created_at: "2026-11-20T10:11:12.000000Z",
  updated_at: "2026-11-20T10:11:12.000000Z",
  category: "transactional",
  source: "api:shop",
  from_address: "noreply@postlane.test",
  to_addresses: ["ann@x.test"],
  other_addresses: [],
  dropped_addresses: [],
  subject: "Your order",
  outcome: "sent",
  status: "sent",
  last_event: null,
  last_event_at: null,
  error: null,
  error_kind: null,
  failed_over: false,
  cost_usd: 0.0004,
  idempotency_key: "order-17",
  provider: "provider_a",
  provider_message_id: "m-1",
  alerted_at: null,
  attempts: [],
  retry_at: null,
  queued: null,
  events: [],
  suppression_marks: [],
  tags: {},
  ...change
})

export const story = (rows: MailStory["rows"], change: Partial<MailStory> = {}): MailStory => ({
  rows,
  claim: undefined,
  alerts: [],
  suppressions: [],
  ...change
})
