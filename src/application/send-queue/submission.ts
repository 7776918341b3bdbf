import { Context, Data, Effect, Layer, Result, Semaphore } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"

import type { FieldIssue } from "../../domain/field-issues.ts"
import { KeyHash, type QueueId } from "../../domain/ids.ts"
import { addressKey, type Mailbox } from "../../domain/mail/address.ts"
import type { InvalidRequest } from "../../domain/mail/send-result.ts"
import type { SenderToken } from "../../domain/mail/sender-token.ts"
import {
  categoryOf,
  type Envelope,
  forTheRest,
  listOf,
  recipientsOf,
  type Recipients,
  type SubmittedMail,
  submittedBody
} from "../../domain/mail/submitted-mail.ts"
import {
  type BlockReason,
  blockedAddresses,
  type Kind,
  suppressedError
} from "../../domain/mail/suppression/policy.ts"
import { MailStore } from "../../ports/mail/mail-store.ts"
import type { QueueRefused } from "../../ports/mail/send-queue.ts"
import { SubmissionReader } from "../../ports/mail/submission-reader.ts"
import { noAnswer } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import { MailerConfig } from "../mail/sending.ts"
import { Enqueue } from "./enqueue.ts"
import { SenderAccess } from "./sender-access.ts"

/** A mail that a program handed over is not taken. `later`, `too fast`: the same mail may be taken later. */
export class SubmissionRefused extends Data.TaggedError("SubmissionRefused")<{
  readonly why:
    | "unreadable"
    | "invalid"
    | "not allowed"
    | "suppressed"
    | "too large"
    | "conflict"
    | "later"
    | "too fast"
  readonly message: string
}> {}

/** A mail as a program hands it over. */
interface Submitted {
  readonly token: SenderToken
  readonly envelope: Envelope
  readonly raw: Uint8Array
}

/** Takes mail that comes as bytes into the send queue (FRONT-4 to FRONT-7). */
export class Submission extends Context.Service<
  Submission,
  {
    /** The id of the request, or of the first of several, once all of them are in the queue. */
    readonly accept: (mail: Submitted) => Effect.Effect<QueueId, SubmissionRefused>
  }
>()("postlane/application/Submission") {}

/** Limit on mails that are read at the same time, each in a separate process. */
const READ_AT_ONCE = 4

/** Requests go to the database together up to this size, characters. */
const MAX_TOGETHER = 4 * 1024 * 1024

/** Longest Message-ID that a key contains unhashed, characters. */
const MAX_MESSAGE_ID = 150

const encoder = new TextEncoder()

const refused = (why: SubmissionRefused["why"], message: string) => new SubmissionRefused({ why, message })

const inWords = (issues: ReadonlyArray<FieldIssue>): string =>
  issues.map(({ message, path }) => (path === "" ? message : `${path}: ${message}`)).join("; ")

/** A header says of a program's mail what a field says of a request. */
const inItsWords = (text: string): string =>
  text.replaceAll(/\bemails\.\d+\./g, "").replaceAll(/\bsendAt\b/g, "X-Postlane-Send-At")

const ofQueue = ({ message, why }: QueueRefused): SubmissionRefused => {
  switch (why) {
    case "invalid":
      return refused("invalid", inItsWords(message))
    case "too large":
      return refused("too large", inItsWords(message))
    case "conflict":
      return refused(
        "conflict",
        "IDEMPOTENCY_CONFLICT: this Message-ID was used with other content in the last 24 hours"
      )
    case "in progress":
      return refused("later", "IDEMPOTENCY_IN_PROGRESS: this mail is being queued by another connection")
  }
}

const ofRequest = ({ issues }: InvalidRequest) => refused("invalid", inItsWords(inWords(issues)))
const away = refused("later", "the send queue does not answer now")

/** Bodies in groups that go to the database together. */
const together = (bodies: ReadonlyArray<object>): ReadonlyArray<ReadonlyArray<object>> => {
  const groups: Array<Array<object>> = []
  let left = 0
  for (const body of bodies) {
    const size = JSON.stringify(body).length
    const last = groups.at(-1)
    if (last === undefined || size > left) {
      groups.push([body])
      left = MAX_TOGETHER - size
    } else {
      last.push(body)
      left -= size
    }
  }
  return groups
}

/** The keys of a mail's requests: of its token, its Message-ID and its recipients. */
const makeKeys = Effect.map(Digest, (digest) => {
  const hashOf = (text: string) => digest.digestHex(sha256, encoder.encode(text))
  return {
    /** For a look-up that holds no key. */
    none: Effect.map(hashOf(""), (hash) => KeyHash.make(hash)),
    of: Effect.fnUntraced(function* (
      token: SenderToken,
      messageId: string | undefined,
      to: ReadonlyArray<Mailbox>
    ) {
      const id = messageId?.replaceAll(/[\s\p{Cc}]+/gu, "") ?? ""
      if (id === "") return undefined
      const named = id.length > MAX_MESSAGE_ID ? yield* hashOf(id) : id
      const recipients = yield* hashOf(to.map(addressKey).toSorted().join("\n"))
      return `${token.id}:${named}:${recipients.slice(0, 16)}`
    })
  }
})

/** Looks up suppressed recipients. Without an answer in time none counts as suppressed: the queue's sender looks again before it sends. */
const makeLookUp = Effect.gen(function* () {
  const store = yield* MailStore
  const { dbTimeoutMs } = yield* MailerConfig
  const keyHash = yield* (yield* makeKeys).none
  const duration = `${dbTimeoutMs} millis` as const
  return (addresses: ReadonlyArray<string>, mail: Kind): Effect.Effect<ReadonlyMap<string, BlockReason>> =>
    withDeadline(store.begin({ keyHash, addresses, claim: undefined }), {
      duration,
      onTimeout: () => Effect.fail(noAnswer("suppressions", duration))
    }).pipe(
      Effect.map(({ suppressions }) => blockedAddresses(mail, suppressions)),
      Effect.catch(() => Effect.succeed(new Map<string, BlockReason>()))
    )
})

/** What goes into the queue for a mail, or why nothing does. */
const makePlan = Effect.gen(function* () {
  const keys = yield* makeKeys
  const blockedOf = yield* makeLookUp
  return Effect.fnUntraced(function* (mail: SubmittedMail, { envelope, token }: Submitted) {
    const category = categoryOf(mail, token)
    if (Result.isFailure(category)) return yield* refused("invalid", inWords(category.failure))
    const addresses = envelope.to.map(addressKey)
    const blocked = yield* blockedOf(addresses, { category: category.success, list: listOf(mail) })
    if (addresses.every((one) => blocked.has(one)))
      return yield* refused("suppressed", suppressedError(blocked.values()))
    const asked = recipientsOf(mail, envelope)
    const requests = forTheRest(asked, (one) => blocked.has(addressKey(one)))
    const bodyOf = Effect.fnUntraced(function* (recipients: Recipients, at: number) {
      const body = submittedBody(mail, recipients, { category: category.success, envelope, token })
      // A mail with blind recipients alone has one key for each recipient. A mail that was split because of suppressions keeps its own key:
      // if its client lost an earlier answer and repeats it, it conflicts with what is queued, and no recipient gets it twice.
      const isOneOfMany = asked.length > 1
      const key = yield* keys.of(token, mail.messageId, isOneOfMany ? recipients.to : envelope.to)
      if (key === undefined) return body
      return { ...body, idempotencyKey: isOneOfMany || at === 0 ? key : `${key}:${at}` }
    })
    return yield* Effect.forEach(requests, bodyOf)
  })
})

export const layer: Layer.Layer<
  Submission,
  never,
  Digest | Enqueue | MailerConfig | MailStore | SenderAccess | SubmissionReader
> = Layer.effect(
  Submission,
  Effect.gen(function* () {
    const reader = yield* SubmissionReader
    const enqueue = yield* Enqueue
    const access = yield* SenderAccess
    const plan = yield* makePlan
    const places = yield* Semaphore.make(READ_AT_ONCE)

    const put = (token: SenderToken, bodies: ReadonlyArray<object>) =>
      enqueue
        .all(bodies, {
          allow: (mails) => Effect.andThen(access.allow(token, mails), access.take(token, mails.length)),
          sender: token.id
        })
        .pipe(
          Effect.catchTags({
            InvalidRequest: (error) => Effect.fail(ofRequest(error)),
            QueueRefused: (error) => Effect.fail(ofQueue(error)),
            SenderNotAllowed: ({ issues }) =>
              Effect.fail(refused("not allowed", inItsWords(inWords(issues)))),
            SenderTooFast: ({ message }) => Effect.fail(refused("too fast", message)),
            StoreUnavailable: (error) =>
              Effect.andThen(
                Effect.logWarning("a submitted mail could not be queued", error),
                Effect.fail(away)
              )
          })
        )

    return Submission.of({
      accept: Effect.fnUntraced(function* (submitted) {
        const mail = yield* reader.read(submitted.raw).pipe(
          (reading) => places.withPermit(reading),
          Effect.mapError(({ message, reason }) =>
            refused(reason === "unavailable" ? "later" : "unreadable", message)
          )
        )
        const queued = yield* Effect.forEach(together(yield* plan(mail, submitted)), (bodies) =>
          put(submitted.token, bodies)
        )
        const [first] = queued.flat()
        return first === undefined ? yield* Effect.die("a mail without recipients was submitted") : first.id
      })
    })
  })
)
