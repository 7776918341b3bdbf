import { Effect, Layer } from "effect"

import { REPORTED_PROVIDER } from "../../../domain/mail/provider.ts"
import { DeliveryLog, type MailOfReport } from "../../../ports/delivery/delivery-log.ts"
import type { MailDatabase } from "../mail/mail-store.ts"
import { ERASED, type MailTables, newestRow, rowOfMessage } from "../mail/tables.ts"

/** `mail_of_report`, without a send queue. */
const mailOfReport = (
  tables: MailTables,
  { keyTag, messageId }: Parameters<DeliveryLog["Service"]["mailOfReport"]>[0],
  addresses: ReadonlyArray<string>
): MailOfReport | undefined => {
  const sent = rowOfMessage(tables, REPORTED_PROVIDER, messageId)
  const row =
    sent?.keyTag === keyTag && sent.outcome !== null
      ? sent
      : newestRow(tables, keyTag, ({ outcome }) => outcome !== null && outcome !== "sent")
  if (row === undefined)
    return [...tables.claims.values()].some(({ tag }) => tag === keyTag)
      ? { recipients: undefined }
      : undefined
  const named = new Set([...row.to, ...row.others])
  return {
    recipients: [...new Set(addresses)].filter((one) => named.has(one) || named.has(ERASED + one))
  }
}

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
      mailOfReport: (mail, addresses) => Effect.sync(() => mailOfReport(database.tables, mail, addresses)),
      traceparent: (sendId) =>
        Effect.sync(() => database.rows().find(({ id }) => id === sendId)?.traceparent ?? undefined),
      releaseAlert: database.releaseAlert,
      confirmAlert: database.confirmAlert,
      claimDueAlert: database.claimDueAlert
    })
  )
