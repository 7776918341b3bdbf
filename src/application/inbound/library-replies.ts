import { Duration, Effect, Layer } from "effect"
import * as Base64 from "effect/encoding/Base64"

import type { SendRequest } from "../../domain/mail/message.ts"
import { dedupes } from "../../domain/mail/provider.ts"
import type { SendResult } from "../../domain/mail/send-result.ts"
import { type OutgoingReply, ReplyChannel, ReplyFailure } from "../../ports/inbound/mails.ts"
import { Deferrals } from "../../ports/mail/deferrals.ts"
import { Mailer } from "../mail/mailer.ts"

/** Largest result that is attached, bytes: with base64 and its line breaks, 25 MB on the wire. */
const MAX_ATTACHED_BYTES = 18 * 1024 * 1024

/**
 * Two attempts and the store's answers around them. The key covers a send that takes longer: a second call answers "in progress".
 */
const SENDS_WITHIN = Duration.minutes(1)

const requestOf = (
  reply: OutgoingReply,
  options: { readonly from: string; readonly replyTo: string }
): SendRequest => ({
  to: reply.to,
  from: options.from,
  replyTo: options.replyTo,
  subject: reply.subject,
  ...(reply.html === undefined ? {} : { html: reply.html }),
  text: reply.text,
  category: "transactional",
  source: "api:convert-email",
  idempotencyKey: reply.key,
  headers: {
    ...(reply.automatic ? { "Auto-Submitted": "auto-replied" } : {}),
    ...(reply.inReplyTo === undefined ? {} : { "In-Reply-To": reply.inReplyTo }),
    ...(reply.references === undefined ? {} : { References: reply.references })
  },
  ...(reply.attachment === undefined
    ? {}
    : {
        attachments: [
          {
            filename: reply.attachment.filename,
            contentType: reply.attachment.contentType,
            content: Base64.encode(reply.attachment.content)
          }
        ]
      })
})

/** What a failed send means. A provider that dedupes takes the same key again; asking another one again proves nothing. */
const reasonOf = ({ kind, provider }: SendResult & { readonly status: "failed" }): ReplyFailure["reason"] => {
  if (kind === "rejected") return "refused"
  return kind === "ambiguous" && (provider === null || !dedupes(provider)) ? "unrepeatable" : "later"
}

const failureOf = (result: SendResult): ReplyFailure | undefined => {
  switch (result.status) {
    case "sent":
    case "deferred":
      return undefined
    case "suppressed":
      return new ReplyFailure({ reason: "refused", message: result.error })
    case "failed":
      return new ReplyFailure({ reason: reasonOf(result), message: result.error })
  }
}

/**
 * Replies through the library (INBOUND-13): From `noreply@{SENDER_DOMAIN}`, Reply-To the convert mailbox, one idempotency key a
 * reply, so that a process that dies while it sends does not send twice. How a deferred one ended is looked up in the send log.
 */
export const layer = (options: {
  readonly from: string
  readonly replyTo: string
}): Layer.Layer<ReplyChannel, never, Mailer | Deferrals> =>
  Layer.effect(
    ReplyChannel,
    Effect.map(Effect.all([Mailer, Deferrals]), ([mailer, deferrals]) =>
      ReplyChannel.of({
        name: "library",
        maxAttachmentBytes: MAX_ATTACHED_BYTES,
        sendsWithin: SENDS_WITHIN,
        send: Effect.fnUntraced(function* (reply) {
          const open = yield* Effect.mapError(
            deferrals.openKey(reply.key),
            () => new ReplyFailure({ reason: "later", message: "the send log does not answer" })
          )
          if (open.state === "sent") return undefined
          if (open.state === "deferred") return "deferred"
          if (open.key !== reply.key) {
            return yield* new ReplyFailure({
              reason: "unrepeatable",
              message: "its retries ended without a mail"
            })
          }
          return yield* mailer.send(requestOf(reply, options)).pipe(
            Effect.mapError(
              (notBegun) =>
                new ReplyFailure({
                  reason:
                    notBegun._tag === "IdempotencyInProgress" || notBegun._tag === "ClaimUnavailable"
                      ? "later"
                      : "refused",
                  message: notBegun.message
                })
            ),
            Effect.flatMap((result) => {
              const failure = failureOf(result)
              if (failure !== undefined) return Effect.fail(failure)
              return Effect.succeed(result.status === "deferred" ? ("deferred" as const) : undefined)
            })
          )
        })
      })
    )
  )
