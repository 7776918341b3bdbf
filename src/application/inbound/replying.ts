import { Clock, Duration, Effect, Result, Stream } from "effect"

import { replySubject } from "../../domain/inbound/mail-headers.ts"
import { templateOf } from "../../domain/inbound/reply-content.ts"
import { type ClaimedReply, IntakeStore } from "../../ports/inbound/intake-store.ts"
import { type OutgoingReply, ReplyChannel, ReplyFailure } from "../../ports/inbound/mails.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import { MailObjects } from "../../ports/object-store.ts"
import { withDeadline } from "../deadline.ts"
import { uptime } from "../uptime.ts"
import { OUTLASTED, retryAfter } from "./ending.ts"
import { IntakeConfig } from "./intake-config.ts"
import { countReply, timeReply } from "./metrics.ts"
import { LINK_LIVES_MS, type ResultLinks, resultUrl } from "./result-link.ts"

/** Limit on attempts with an unknown outcome: one repeat, since a lost result is worse than one that arrives twice. */
const MAX_UNKNOWN = 2

/** How long a delivery event may take that proves the outcome of an ambiguous attempt. */
const EVIDENCE_COMES = Duration.minutes(2)

/** When the retries of a deferred send have ended, by the usual delays; its result is kept until then. */
const RETRIES_END = Duration.minutes(30)

/** How long composing a reply may take, and how long recording its outcome. */
const COMPOSE_LIMIT = Duration.minutes(1)
const RECORD_LIMIT = Duration.seconds(30)

/** How long a claimed reply is reserved: longer than sending it takes, or a channel without keys would send it twice. */
export const replyHold = ({ sendsWithin }: Pick<ReplyChannel["Service"], "sendsWithin">): Duration.Duration =>
  Duration.sum(Duration.sum(COMPOSE_LIMIT, sendsWithin), RECORD_LIMIT)

/** `Report 2024.pdf` → `Report 2024.html`. */
const resultName = (filename: string | undefined): string =>
  `${(filename ?? "document").replace(/\.pdf$/i, "")}.html`

const attachmentOf = Effect.fnUntraced(function* (reply: ClaimedReply) {
  if (reply.result === undefined || reply.asLink || reply.content.kind !== "success") return undefined
  const objects = yield* MailObjects
  const parts = yield* Stream.runCollect(objects.get(reply.result.key))
  const content = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    content.set(part, at)
    at += part.length
  }
  return { filename: resultName(reply.filename), contentType: "text/html; charset=utf-8", content }
})

const TOO_SLOW = "it took too long to put together"

/** The reply as it goes out: the same each time, so that its key identifies one mail. */
const compose = Effect.fnUntraced(function* (reply: ClaimedReply, links: ResultLinks) {
  const { baseUrl } = yield* IntakeConfig
  const templates = yield* MailTemplates
  const expiresAt = reply.createdAt + LINK_LIVES_MS
  const url = reply.asLink ? resultUrl(baseUrl, yield* links.token(reply.mailId, expiresAt)) : undefined
  const rendered = yield* templates.render(templateOf(reply.content, url))
  const outgoing: OutgoingReply = {
    // A mail with a link is not the same mail as one with the result attached.
    key: `convert-email:${reply.mailId}:${reply.asLink ? "link:" : ""}${reply.content.kind}`,
    to: reply.recipient,
    subject: replySubject(reply.subject) ?? rendered.subject,
    html: rendered.html,
    text: rendered.text,
    inReplyTo: reply.messageId,
    references: reply.references,
    automatic: true,
    attachment: yield* attachmentOf(reply)
  }
  return outgoing
})

const giveUp = Effect.fnUntraced(function* (reply: ClaimedReply, error: string) {
  const store = yield* IntakeStore
  yield* Effect.logError(`a reply did not go out: ${error}`)
  yield* store.replyFailed(reply, error)
  yield* countReply(reply.content.kind, "failed")
})

/** Handles a reply that did not go out. An acknowledgement is tried once: nothing waits for it. */
const afterFailure = Effect.fnUntraced(function* (
  reply: ClaimedReply,
  { message, reason }: ReplyFailure,
  attached: boolean
) {
  const store = yield* IntakeStore
  const unknown = reason === "unknown" || reason === "unrepeatable"
  const again = (after: Duration.Duration, asLink: boolean) =>
    Effect.andThen(
      Effect.logWarning(`a reply is tried again: ${message}`),
      store.retryReply(reply, { after, error: message, asLink, unknown })
    ).pipe(Effect.andThen(countReply(reply.content.kind, "retried")))
  // The attachment may have been too large, or can never be sent: a link may work.
  const otherwise = attached ? again(Duration.zero, true) : giveUp(reply, message)
  if (reply.content.kind === "processing-started") return yield* giveUp(reply, message)
  switch (reason) {
    case "refused":
      return yield* otherwise
    case "unknown":
      return yield* reply.unknowns + 1 >= MAX_UNKNOWN
        ? giveUp(reply, message)
        : again(retryAfter(reply.attempts), false)
    case "unrepeatable":
      return yield* reply.unknowns + 1 >= MAX_UNKNOWN ? otherwise : again(EVIDENCE_COMES, false)
    case "later": {
      const age = (yield* Clock.currentTimeMillis) - reply.createdAt
      return yield* age > Duration.toMillis(OUTLASTED)
        ? giveUp(reply, message)
        : again(retryAfter(reply.attempts), false)
    }
  }
})

/** Sends a claimed reply. A failure is logged separately and leaves the conversion unchanged (INBOUND-13). */
export const sendReply = (reply: ClaimedReply, links: ResultLinks) =>
  Effect.gen(function* () {
    const store = yield* IntakeStore
    const channel = yield* ReplyChannel
    const begun = yield* uptime
    const composed = yield* Effect.result(
      withDeadline(compose(reply, links), {
        duration: COMPOSE_LIMIT,
        onTimeout: () => Effect.fail(new ReplyFailure({ reason: "later", message: TOO_SLOW }))
      })
    )
    if (Result.isFailure(composed)) {
      const { failure } = composed
      if (failure._tag === "StoreUnavailable") return yield* failure
      return yield* afterFailure(
        reply,
        failure._tag === "ReplyFailure"
          ? failure
          : new ReplyFailure({ reason: "later", message: `the result cannot be read: ${failure.reason}` }),
        false
      )
    }
    // After a long pause another process may hold the reply.
    if ((yield* uptime) - begun > Duration.toMillis(COMPOSE_LIMIT)) {
      return yield* afterFailure(reply, new ReplyFailure({ reason: "later", message: TOO_SLOW }), false)
    }
    const sent = yield* Effect.result(channel.send(composed.success))
    if (Result.isFailure(sent)) {
      return yield* afterFailure(reply, sent.failure, composed.success.attachment !== undefined)
    }
    if (sent.success === "deferred" && reply.content.kind !== "processing-started") {
      yield* store.retryReply(reply, { after: RETRIES_END, error: "deferred", asLink: false, unknown: false })
      return yield* countReply(reply.content.kind, "retried")
    }
    yield* store.replySent(reply)
    yield* countReply(reply.content.kind, "sent")
    if (reply.content.kind !== "processing-started") yield* timeReply(reply.mailId)
  }).pipe(Effect.annotateLogs({ mail: reply.mailId, reply: reply.content.kind }))
