import { Clock, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"
import * as Base64Url from "effect/encoding/Base64Url"

import { type FailureKind, failureText } from "../../domain/mail/failover.ts"
import { kindOfStatus } from "../../domain/mail/http-answer.ts"
import { type OutgoingReply, ReplyChannel, ReplyFailure } from "../../ports/inbound/mails.ts"
import { makeAccessTokens, call, DEADLINE_MS } from "./access-token.ts"
import { composeReply } from "./mime.ts"
import { readServiceAccount } from "./service-account.ts"

/** How the workspace mail API is reached. */
interface GmailOptions {
  /** `MAILAPI_SERVICE_ACCOUNT_KEY`, the whole JSON. */
  readonly serviceAccountKey: Redacted.Redacted
  /** The mailbox that is sent as: `MAIL_SENDER`, else `convert@{LEGACY_DOMAIN}`. */
  readonly mailbox: string
  readonly name: string | undefined
  readonly replyTo: string
  /** `MAILAPI_BASE_URL` and `AUTH_URL`; the vendor's where absent. */
  readonly baseUrl: string | undefined
  readonly authUrl: string | undefined
}

const VENDOR_URL = "https://gmail.googleapis.com"

/** From this size on a message goes by the upload path: the JSON one takes about 5 MB. */
const UPLOAD_FROM = 3 * 1024 * 1024

/** A mailbox sends 25 MB at most, base64 and all: this much of a result. */
const MAX_ATTACHED_BYTES = 18 * 1024 * 1024

/** A send asks for a token and posts the message, both once more where the token was refused. */
const MAX_CALLS = 4

const Sent = Schema.fromJsonString(Schema.Struct({ id: Schema.NonEmptyString }))
const Problem = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.Struct({
      message: Schema.optionalKey(Schema.String),
      errors: Schema.optionalKey(Schema.Array(Schema.Struct({ reason: Schema.optionalKey(Schema.String) })))
    })
  })
)
const decodeSent = Schema.decodeUnknownOption(Sent)
const decodeProblem = Schema.decodeUnknownOption(Problem)

const encoder = new TextEncoder()

const REASONS = {
  /** Never retry this message. */
  rejected: "refused",
  /** Not accepted for now: limits, rights being fixed. */
  unavailable: "later",
  /** A failure that may have come after acceptance. */
  ambiguous: "unknown"
} as const satisfies Readonly<Record<FailureKind, ReplyFailure["reason"]>>

/** Refusals of the message itself; any other may be mended. */
const OF_MESSAGE: ReadonlySet<number> = new Set([400, 413, 422])
/** Unless the mailbox cannot send: it has no licence, is suspended, or the key is not allowed to act for it. */
const NOT_READY = "failedPrecondition"

/** What an error answer means. `isOwn`: it is the vendor's, not a gateway's page; `why`: its word. */
const classify = (status: number, isOwn: boolean, why: string): ReplyFailure["reason"] =>
  REASONS[
    kindOfStatus(status, {
      isOwn503: isOwn,
      refusal: () => (OF_MESSAGE.has(status) && why !== NOT_READY ? "rejected" : "unavailable")
    })
  ]

const make = (options: GmailOptions) =>
  Effect.gen(function* () {
    const digest = yield* Digest
    const account = readServiceAccount(options.serviceAccountKey)
    const tokens = makeAccessTokens({ account, mailbox: options.mailbox, authUrl: options.authUrl })
    const base = options.baseUrl ?? VENDOR_URL
    const domain = options.mailbox.slice(options.mailbox.lastIndexOf("@") + 1)

    const failure = (reason: ReplyFailure["reason"], text: string, secrets: ReadonlyArray<string> = []) =>
      new ReplyFailure({ reason, message: failureText(`workspace: ${text}`, secrets) })

    const post = (message: string, token: string) => {
      const authorization = `Bearer ${token}`
      return message.length >= UPLOAD_FROM
        ? call(`${base}/upload/gmail/v1/users/me/messages/send?uploadType=media`, {
            method: "POST",
            headers: { authorization, "content-type": "message/rfc822" },
            body: message
          })
        : call(`${base}/gmail/v1/users/me/messages/send`, {
            method: "POST",
            headers: { authorization, "content-type": "application/json" },
            body: JSON.stringify({ raw: Base64Url.encode(encoder.encode(message)) })
          })
    }

    const attempt = Effect.fnUntraced(function* (
      message: string,
      again: boolean
    ): Effect.fn.Return<void, ReplyFailure> {
      const token = Redacted.value(yield* tokens.get)
      const { body, status } = yield* Effect.mapError(post(message, token), (error) =>
        failure(error.sent ? "unknown" : "later", error.message)
      )
      if (status === 200 && Option.isSome(decodeSent(body))) return
      if (status === 401 && again) {
        yield* tokens.forget
        return yield* attempt(message, false)
      }
      const problem = Option.getOrUndefined(decodeProblem(body))?.error
      const reason = problem?.errors?.[0]?.reason ?? ""
      // A 2xx without a message id may still be an acceptance.
      return yield* failure(
        classify(status, problem !== undefined, reason),
        `${status} ${reason} ${problem?.message ?? ""}`,
        [token]
      )
    })

    return ReplyChannel.of({
      name: "workspace",
      maxAttachmentBytes: MAX_ATTACHED_BYTES,
      sendsWithin: Duration.millis(MAX_CALLS * DEADLINE_MS),
      send: Effect.fnUntraced(function* (reply: OutgoingReply) {
        const hash = yield* digest.digestHex(sha256, encoder.encode(reply.key))
        const message = composeReply(reply, {
          from: { name: options.name, address: options.mailbox },
          replyTo: options.replyTo,
          // Derived from the key, so that a mailbox can recognise a duplicate.
          messageId: `<${hash.slice(0, 32)}@${domain}>`,
          date: new Date(yield* Clock.currentTimeMillis)
        })
        yield* attempt(message, true)
      })
    })
  })

/** Replies through the Gmail API, by a service account with domain-wide delegation (INBOUND-13). */
export const layer = (options: GmailOptions): Layer.Layer<ReplyChannel, never, Digest> =>
  Layer.effect(ReplyChannel, make(options))
