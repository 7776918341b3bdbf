import { Layer } from "effect"

import { makeAuditDigestStore } from "../../../src/adapters/memory/delivery/audit-digest-store.ts"
import { AuditDigestStore } from "../../../src/ports/delivery/audit-digest-store.ts"
import { subscriptions, suite } from "../../contracts/delivery/audit-digest-store.ts"

const counts = { sent: 0, delivered: 0, bounced: 0, complained: 0, failed: 0, suppressed: 0 }

suite(
  "memory",
  Layer.sync(AuditDigestStore, () =>
    makeAuditDigestStore({ subscriptions, activity: { counts, entries: [], total: 0 } })
  )
)
