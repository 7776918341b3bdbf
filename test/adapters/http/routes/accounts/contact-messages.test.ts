import { Layer } from "effect"

import { type ContactMessageRow, ContactMessages } from "../../../../../src/ports/accounts/accounts.ts"
import { adminListSuite } from "./admin-list.ts"

const row: ContactMessageRow = {
  id: "0199a000-0000-7000-8000-000000000001",
  kind: "contact",
  name: null,
  email: "a@x.test",
  message: "Hello",
  rating: null,
  page: null,
  spam: false,
  notified_at: null,
  notify_after: "2026-01-02T03:06:05.678901Z",
  notify_attempts: 3,
  notify_error: "not sent",
  created_at: "2026-01-02T03:04:05.678901Z"
}

adminListSuite({
  path: "/api/admin/contact-messages",
  behind: (page) => ({ messages: Layer.mock(ContactMessages, { page }) }),
  row,
  filters: { state: "waiting", kind: "feedback" },
  refused: ["?state=lost", "?kind=letter"]
})
