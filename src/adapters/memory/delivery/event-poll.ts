import { Effect, Layer } from "effect"

import type { KnownMail } from "../../../domain/delivery/listed-mail.ts"
import { least } from "../../../domain/lists.ts"
import { POLLED_PROVIDER } from "../../../domain/mail/provider.ts"
import { isTerminal } from "../../../domain/mail/status.ts"
import {
  ListFailure,
  PollLog,
  type PollPosition,
  RecentEvents,
  SentMails
} from "../../../ports/delivery/event-poll.ts"
import type { MailDatabase } from "../mail/mail-store.ts"

/** A list without mails. */
export const layerEmpty: Layer.Layer<SentMails> = Layer.succeed(
  SentMails,
  SentMails.of({ page: () => Effect.succeed({ mails: [], unreadable: 0, next: undefined }) })
)

/** No list: the provider is not set up. */
export const layerNone: Layer.Layer<SentMails> = Layer.succeed(
  SentMails,
  SentMails.of({
    page: () => Effect.fail(new ListFailure({ kind: "unconfigured", message: "there is no API key" }))
  })
)

/** Lists without anything. */
export const layerNoRecent: Layer.Layer<RecentEvents> = Layer.succeed(
  RecentEvents,
  RecentEvents.of({ provider: "postmark", newest: Effect.succeed([]) })
)

/** The poll's view of a mail database in memory. */
export const layer = (database: MailDatabase): Layer.Layer<PollLog> =>
  Layer.sync(PollLog, () => {
    let saved: { readonly position: PollPosition; readonly version: number } = {
      position: { newest: undefined, gap: undefined },
      version: 0
    }
    return PollLog.of({
      known: (messageIds, polled = POLLED_PROVIDER) =>
        Effect.sync(() => {
          const rows = database.rows()
          const mails = new Map<string, KnownMail>()
          for (const { alertedAt, lastEvent, provider, providerMessageId, status } of rows) {
            if (provider !== polled || providerMessageId === null) continue
            if (!messageIds.includes(providerMessageId)) continue
            const alertDue = alertedAt === null && isTerminal(status)
            mails.set(providerMessageId, { lastEvent: lastEvent ?? undefined, alertDue })
          }
          const oldest = rows.length === 0 ? undefined : least(rows.map(({ createdAt }) => createdAt))
          return { mails, oldest }
        }),
      position: Effect.sync(() => saved),
      savePosition: (position, version) =>
        Effect.sync(() => {
          if (version !== saved.version) return false
          saved = { position, version: version + 1 }
          return true
        })
    })
  })
