import { Layer } from "effect"

import { AuditLog } from "../../../../../src/ports/accounts/audit-log.ts"
import { adminListSuite } from "./admin-list.ts"

const row = {
  id: "0199a000-0000-7000-8000-000000000001",
  action: "email_unsuppress",
  actor: "ops",
  target: "a@x.test",
  note: null,
  details: { reasons: ["manual"] },
  created_at: "2026-01-02T03:04:05.678901Z"
}

adminListSuite({
  path: "/api/admin/audit-log",
  behind: (page) => ({ audit: Layer.succeed(AuditLog, { page }) }),
  row,
  filters: { action: "email_unsuppress", target: "A@x.test" },
  refused: ["?action=%00", `?target=${"x".repeat(321)}`]
})
