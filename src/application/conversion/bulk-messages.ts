import { Context, Duration, Effect, Layer } from "effect"

import { type BulkMessage, BulkOrders } from "../../ports/conversion/bulk-orders.ts"
import { SharedFiles } from "../../ports/conversion/shared-files.ts"
import { Deferrals } from "../../ports/mail/deferrals.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import type { Mailer } from "../mail/mailer.ts"
import { makeSendNowOrLater, SendLater } from "../mail/send-later.ts"

/** How often orders are checked, in one process at a time. */
export const BULK_MESSAGE_INTERVAL = "3 seconds"

/** Longer than a send takes; doubled at each further attempt, up to two hours. */
const LEASE = Duration.minutes(2)

/** More than a day of trying. */
const MAX_ATTEMPTS = 20

/** Sender of completion messages (MAIL-13). */
export class BulkMessageSender extends Context.Service<
  BulkMessageSender,
  {
    /** `<display name> <noreply@{sender_domain}>`. */
    readonly from: string
    /** The convert mailbox on the legacy domain: a reply with another PDF starts a conversion. */
    readonly replyTo: string
  }
>()("postlane/application/BulkMessageSender") {}

/** Informs owners that their bulk orders have ended. */
export class BulkMessages extends Context.Service<
  BulkMessages,
  {
    /** Sends every message that is due; returns how many are finished. */
    readonly sendDue: Effect.Effect<number, StoreUnavailable>
  }
>()("postlane/application/BulkMessages") {}

/** The message is identical at every attempt, so that its key settles whether it has gone out. */
const write = Effect.fnUntraced(function* ({ bulkId, endedAt, items }: BulkMessage) {
  const shared = yield* SharedFiles
  const templates = yield* MailTemplates
  return yield* templates.render({
    kind: "bulk-completed",
    bulkId,
    items: yield* Effect.forEach(items, ({ deleted, fileId, fileName, noModelPages, outcome }) =>
      Effect.map(
        outcome === "completed" && !deleted ? shared.urlFrom(fileId, endedAt) : Effect.succeed(undefined),
        (url) => ({ fileName: deleted ? "a deleted file" : fileName, noModelPages, outcome, url })
      )
    )
  })
})

/**
 * Sends a message; returns true when it is finished. It is unfinished while it waits in the send queue, is deferred, or is `unavailable`
 * (certainly not accepted): a deferral that ends without a mail is sent again half an hour later, unless an event has named it. A mail
 * that may have arrived in any other way is never sent again.
 */
const send = Effect.fnUntraced(function* (message: BulkMessage, to: string) {
  const deferrals = yield* Deferrals
  const sendNowOrLater = yield* makeSendNowOrLater
  const later = yield* SendLater
  const firstKey = `bulk-completed:${message.bulkId}`
  const { key, state } = yield* deferrals.openKey(firstKey)
  if (state !== "new") return state === "sent"
  const request = {
    ...(yield* write(message)),
    ...(yield* BulkMessageSender),
    to,
    category: "transactional",
    source: "api:bulk",
    idempotencyKey: key
  } as const
  // An earlier attempt may have queued it: then the provider is not asked again.
  if (message.attempts > 1 && key === firstKey && (yield* later(request))) return false
  const logged = (error: string) =>
    Effect.logError("a bulk order's completion message did not go out").pipe(
      Effect.annotateLogs({ bulkId: message.bulkId, error, attempts: message.attempts })
    )
  return yield* sendNowOrLater(request).pipe(
    Effect.flatMap((result) => {
      if (result === undefined) return Effect.succeed(false)
      if (result.ok) return Effect.succeed(result.status === "sent")
      const again = result.status === "failed" && result.kind === "unavailable"
      return Effect.as(logged(result.error), !again)
    }),
    Effect.catchTags({
      IdempotencyInProgress: () => Effect.succeed(false),
      ClaimUnavailable: () => Effect.succeed(false),
      // It went out before a crash, and a file of it was deleted since.
      IdempotencyConflict: () => Effect.succeed(true),
      InvalidRequest: (error) => Effect.as(logged(error.message), true)
    })
  )
})

const sendDue = Effect.gen(function* () {
  const orders = yield* BulkOrders
  let done = 0
  while (true) {
    const message = yield* orders.claimMessage({ lease: LEASE, maxAttempts: MAX_ATTEMPTS })
    if (message === undefined) return done
    // An interruption waits until the send under way is recorded.
    const ended = yield* Effect.uninterruptible(
      Effect.gen(function* () {
        const isDone = message.email === undefined || (yield* send(message, message.email))
        return isDone && (yield* orders.confirmMessage(message.bulkId))
      })
    )
    if (ended) done += 1
  }
})

type Needs = BulkOrders | Deferrals | SharedFiles | MailTemplates | Mailer | BulkMessageSender

export const layer: Layer.Layer<BulkMessages, never, Needs> = Layer.effect(
  BulkMessages,
  Effect.map(Effect.context<Needs>(), (context) =>
    BulkMessages.of({ sendDue: Effect.provideContext(sendDue, context) })
  )
)
