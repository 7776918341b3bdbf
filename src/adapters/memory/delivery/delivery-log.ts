import { Effect, Layer } from "effect"

import { DeliveryLog } from "../../../ports/delivery/delivery-log.ts"
import type { MailDatabase } from "../mail/mail-store.ts"

/** The delivery log of a mail database in memory. */
export const layer = (database: MailDatabase): Layer.Layer<DeliveryLog> =>
  Layer.succeed(
    DeliveryLog,
    DeliveryLog.of({
      record: (event, options) =>
        database.recordEvent({
          ...event,
          category: event.tags["category"],
          backfill: options?.backfill,
          listed: options?.polled
        }),
      // Nothing to note: the alarms in memory get their measures from the test.
      heard: () => Effect.void,
      traceparent: (sendId) =>
        Effect.sync(() => database.rows().find(({ id }) => id === sendId)?.traceparent ?? undefined),
      releaseAlert: database.releaseAlert,
      confirmAlert: database.confirmAlert,
      claimDueAlert: database.claimDueAlert
    })
  )
