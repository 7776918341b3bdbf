import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Layer } from "effect"
import * as Mac from "effect/crypto/Mac"

import * as MailTemplates from "../../adapters/mail-templates/mail-templates.ts"
import * as BulkOrders from "../../adapters/postgres/conversion/bulk-orders.ts"
import * as SharedFiles from "../../adapters/postgres/conversion/shared-files.ts"
import {
  BULK_MESSAGE_INTERVAL,
  BulkMessages,
  BulkMessageSender,
  layer as bulkMessages
} from "../../domain/conversion/bulk-messages.ts"
import * as Bulk from "../../domain/conversion/bulk.ts"
import * as Sharing from "../../domain/conversion/sharing.ts"
import { formatMailbox } from "../../domain/mail/address.ts"
import { leaderTicking } from "../process/leadership.ts"
import type { SharingSettings } from "../settings/settings.ts"

/** Mailboxes of convert-by-email (INBOUND-13). */
const SENDER_MAILBOX = "noreply"
const CONVERT_MAILBOX = "convert"

/** Shared results and bulk orders, on a database and a mailer. */
export const sharing = (settings: SharingSettings) => {
  const sender = Layer.succeed(BulkMessageSender, {
    from: formatMailbox({
      name: settings.sending.from.name,
      local: SENDER_MAILBOX,
      domain: settings.domains.sender
    }),
    replyTo: `${CONVERT_MAILBOX}@${settings.domains.legacy}`
  })
  return Layer.mergeAll(Sharing.layer, Bulk.layer, bulkMessages).pipe(
    Layer.provideMerge(SharedFiles.layer({ baseUrl: settings.http.baseUrl })),
    Layer.provide([BulkOrders.layer, MailTemplates.layer, Mac.layerWebCrypto, sender]),
    Layer.provide(NodeCrypto.layer)
  )
}

/** The leader tells owners that their bulk orders have ended. */
export const bulkMessageTicks = leaderTicking(
  "bulk-messages",
  BULK_MESSAGE_INTERVAL,
  BulkMessages.use(({ sendDue }) => sendDue)
)
