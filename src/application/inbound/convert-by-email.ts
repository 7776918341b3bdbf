import { Context, Duration, Effect, Layer, type Stream } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type * as Mac from "effect/crypto/Mac"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { type CustomerId, MailId } from "../../domain/ids.ts"
import { judgeSender } from "../../domain/inbound/judge-sender.ts"
import { addressKey } from "../../domain/mail/address.ts"
import type { ConvertPipeline } from "../../ports/inbound/convert-pipeline.ts"
import { IntakeStore, type KeptResult } from "../../ports/inbound/intake-store.ts"
import { MailReader, type ReplyChannel } from "../../ports/inbound/mails.ts"
import type { MailTemplates } from "../../ports/mail/mail-provider.ts"
import { MailObjects, type ObjectStoreError } from "../../ports/object-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { ringBell } from "../work-bell.ts"
import { cleanMails, sweepOrphans } from "./clean-up.ts"
import { noteEnd } from "./ending.ts"
import { IntakeConfig, rawKey } from "./intake-config.ts"
import { withHead } from "./mail-head.ts"
import { MailHome } from "./mail-home.ts"
import { admitNext, convertNext, convertNextOfIdle, convertNextShort, replyNext } from "./mail-steps.ts"
import { countReceived, underWay } from "./metrics.ts"
import { LINK_LIVES_MS, makeResultLinks, resultUrl } from "./result-link.ts"

/** A mail as it arrives. */
interface Delivery<E, R> {
  readonly envelopeFrom: string
  readonly peerTrusted: boolean
  readonly raw: Stream.Stream<Uint8Array, E, R>
}

/** Convert-by-email (INBOUND-8), step by step; each step resumes where a crash left it. */
export class ConvertByEmail extends Context.Service<
  ConvertByEmail,
  {
    /** Takes a mail in: on return its raw form and its row are durable. Returns its id. */
    readonly accept: <E, R>(
      delivery: Delivery<E, R>
    ) => Effect.Effect<MailId, E | ObjectStoreError | StoreUnavailable, R>
    /** Reads the mail that has waited longest, and answers it or queues its conversion. False when no mail waits. */
    readonly admitNext: Effect.Effect<boolean, StoreUnavailable>
    /** Converts the longest-waiting mail of the customer that is next in turn. False when no mail waits. */
    readonly convertNext: Effect.Effect<boolean, StoreUnavailable>
    /** The same of short mails: a worker for these alone has none of them wait behind long ones (H3). */
    readonly convertNextShort: Effect.Effect<boolean, StoreUnavailable>
    /** The same of customers of whom no mail is being converted: none of them waits for the end of others' long ones (H3). */
    readonly convertNextOfIdle: Effect.Effect<boolean, StoreUnavailable>
    /** Sends the reply that has waited longest. False when no reply waits. */
    readonly replyNext: Effect.Effect<boolean, StoreUnavailable>
    /** Removes the objects of mails that have ended, and deletes old ones (INBOUND-8). */
    readonly clean: Effect.Effect<void, StoreUnavailable | ObjectStoreError>
    /** Removes objects that belong to no mail; returns how many. */
    readonly sweep: Effect.Effect<number, StoreUnavailable | ObjectStoreError>
    /** Mails that have been due for longer than that, and that no process works on. */
    readonly waitingSince: (age: Duration.Duration) => Effect.Effect<number, StoreUnavailable>
    /**
     * Results of a customer's mails, newest first, that were not delivered as an attachment: their links work until they expire,
     * whatever became of the replies.
     */
    readonly keptResults: (
      customerId: CustomerId
    ) => Effect.Effect<ReadonlyArray<KeptResult & { readonly url: string }>, StoreUnavailable>
    /** The result that a link leads to; undefined for a link that is not ours or has expired. */
    readonly result: (
      token: string
    ) => Effect.Effect<{ readonly key: string; readonly filename: string } | undefined, StoreUnavailable>
  }
>()("postlane/application/ConvertByEmail") {}

type Needs =
  | IntakeConfig
  | IntakeStore
  | MailObjects
  | MailReader
  | MailTemplates
  | ConvertPipeline
  | ReplyChannel
  | Digest
  | SecureRandom
  | Mac.Mac

const make = Effect.gen(function* () {
  const context = yield* Effect.context<Needs>()
  const { authenticity, baseUrl } = yield* IntakeConfig
  const reader = yield* MailReader
  const home = yield* MailHome
  const store = yield* IntakeStore
  const objects = yield* MailObjects
  const random = yield* SecureRandom
  const links = yield* makeResultLinks

  const provided = <A, E, R extends Needs>(effect: Effect.Effect<A, E, R>) =>
    Effect.provideContext(effect, context)

  return ConvertByEmail.of({
    accept: Effect.fnUntraced(
      function* ({ envelopeFrom, peerTrusted, raw }) {
        const id = MailId.make(yield* random.uuidV7())
        const key = rawKey(id)
        const passing = withHead(raw)
        const rawBytes = yield* objects.put(key, passing.raw, { contentType: "message/rfc822" })
        // A mail that proves nothing costs only this check: thousands of them do not delay the others (H3).
        const judged = judgeSender(
          reader.readHead(passing.head()),
          { envelopeFrom, peerTrusted },
          authenticity
        )
        const ended = judged.sender === undefined ? judged : undefined
        // Without an answer the row may be there, and need the object; of a mail without a row, the sweep removes it.
        yield* store.receive({
          id,
          rawKey: key,
          rawBytes,
          envelopeFrom,
          peerTrusted,
          home: yield* home,
          verifiedSender: judged.sender === undefined ? undefined : addressKey(judged.sender),
          ended
        })
        yield* countReceived
        if (ended === undefined) yield* ringBell("mails")
        else yield* noteEnd(id, ended)
        return id
      },
      (work) => underWay("receiving", work)
    ),
    admitNext: provided(admitNext),
    convertNext: provided(convertNext),
    convertNextOfIdle: provided(convertNextOfIdle),
    convertNextShort: provided(convertNextShort),
    replyNext: provided(replyNext(links)),
    clean: provided(cleanMails),
    sweep: provided(sweepOrphans),
    waitingSince: store.waitingSince,
    keptResults: Effect.fnUntraced(function* (customerId) {
      const kept = yield* store.keptResults(customerId, Duration.millis(LINK_LIVES_MS))
      return yield* Effect.forEach(kept, (result) =>
        Effect.map(links.token(result.id, result.expiresAt), (token) => ({
          ...result,
          url: resultUrl(baseUrl, token)
        }))
      )
    }),
    result: Effect.fnUntraced(function* (token) {
      const id = yield* links.verify(token)
      return id === undefined ? undefined : yield* store.result(id)
    })
  })
})

/** The service, built on the ports in context. */
export const layer: Layer.Layer<ConvertByEmail, never, Needs> = Layer.effect(ConvertByEmail, make)
