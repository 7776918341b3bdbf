import { Context, Duration, Effect, Exit, Layer, Stream } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type * as Mac from "effect/crypto/Mac"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { ConversionStoreError } from "../../ports/conversion-store.ts"
import type { ConvertPipeline, PipelineError } from "../../ports/convert-pipeline.ts"
import { type ClaimedMail, IntakeStore, type IntakeUnavailable } from "../../ports/intake-store.ts"
import type { MailReader } from "../../ports/mail-reader.ts"
import type { MailTemplates } from "../../ports/mail-templates.ts"
import { MailObjects, type ObjectStoreError } from "../../ports/object-store.ts"
import type { ReplyChannel } from "../../ports/reply-channel.ts"
import { HOLD_WINDOW } from "../conversion/job.ts"
import { staleAfter, untilLost } from "../conversion/lease.ts"
import { withDeadline } from "../deadline.ts"
import { admitMail } from "./admission.ts"
import { convertMail } from "./converting.ts"
import { IntakeConfig, mailPrefix, rawKey } from "./intake-config.ts"
import { countReceived, underWay } from "./metrics.ts"
import { sweepOrphans } from "./orphan-objects.ts"
import { sendReply } from "./replying.ts"
import { LINK_LIVES_MS, makeResultLinks } from "./result-link.ts"

/** A step that failed is tried again after this, and the next time after three times that. */
const RETRY_FIRST = Duration.seconds(5)

/** How long handing a mail back may take when the program stops. */
const LAST_WORD = Duration.seconds(5)

/** Mails that one round of cleaning looks at, and objects of one delete. */
const CLEANED_AT_ONCE = 50
const KEYS_AT_ONCE = 500

/** A mail as it comes in. */
export interface Delivery<E, R> {
  readonly envelopeFrom: string
  readonly peerTrusted: boolean
  readonly raw: Stream.Stream<Uint8Array, E, R>
}

/** Convert-by-email (document 2), step by step; each step takes up where a crash left it. */
export class ConvertByEmail extends Context.Service<
  ConvertByEmail,
  {
    /** Takes a mail in: durable when it ends, its raw form and its row. Answers its id. */
    readonly accept: <E, R>(
      delivery: Delivery<E, R>
    ) => Effect.Effect<string, E | ObjectStoreError | IntakeUnavailable, R>
    /** Reads the mail that waits longest, and answers it or lets its conversion begin. False: there is none. */
    readonly admitNext: Effect.Effect<boolean, IntakeUnavailable>
    /** Converts the mail that waits longest. False: there is none. */
    readonly convertNext: Effect.Effect<boolean, IntakeUnavailable>
    /** Sends the reply that waits longest. False: there is none. */
    readonly replyNext: Effect.Effect<boolean, IntakeUnavailable>
    /** Removes the objects of mails that have ended, and forgets old ones (document 2, step 12). */
    readonly clean: Effect.Effect<void, IntakeUnavailable | ObjectStoreError>
    /** Removes objects that belong to no mail; answers how many. */
    readonly sweep: Effect.Effect<number, IntakeUnavailable | ObjectStoreError>
    /** The result that a link leads to; undefined for what is no link of ours, or not any more. */
    readonly result: (
      token: string
    ) => Effect.Effect<{ readonly key: string; readonly filename: string } | undefined, IntakeUnavailable>
  }
>()("postlane/domain/ConvertByEmail") {}

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
  const config = yield* IntakeConfig
  const store = yield* IntakeStore
  const objects = yield* MailObjects
  const random = yield* SecureRandom
  const links = yield* makeResultLinks

  const handBack = (mail: ClaimedMail, after: Duration.Duration, counts: boolean) =>
    withDeadline(store.handBack(mail, { after, counts }), {
      duration: LAST_WORD,
      onTimeout: () => Effect.succeed(false)
    }).pipe(Effect.ignore({ log: true }))

  /** Runs a step of a mail under its lease. What fails is handed back, and tried again later. */
  const underLease = Effect.fnUntraced(function* (
    mail: ClaimedMail,
    step: Effect.Effect<void, IntakeUnavailable | ObjectStoreError | PipelineError>
  ) {
    const beat = Effect.mapError(
      store.heartbeat(mail, HOLD_WINDOW),
      (cause) => new ConversionStoreError({ cause })
    )
    const exit = yield* Effect.exit(Effect.raceFirst(step, untilLost(beat, config.heartbeat))).pipe(
      Effect.onInterrupt(() => handBack(mail, Duration.zero, false))
    )
    if (Exit.isSuccess(exit)) return
    yield* Effect.logWarning("a step of a mail failed, and is tried again", exit.cause)
    yield* handBack(mail, Duration.times(RETRY_FIRST, 3 ** (mail.attempts - 1)), true)
  })

  const next = Effect.fnUntraced(function* (
    at: "received" | "converting",
    step: (mail: ClaimedMail) => Effect.Effect<void, IntakeUnavailable | ObjectStoreError | PipelineError>
  ) {
    const mail = yield* store.claim(at, yield* random.uuidV7(), staleAfter(config.heartbeat))
    if (mail === undefined) return false
    yield* Effect.annotateLogs(underWay(at === "received" ? "reading" : at, underLease(mail, step(mail))), {
      mail: mail.id
    })
    return true
  })

  return ConvertByEmail.of({
    accept: Effect.fnUntraced(
      function* ({ envelopeFrom, peerTrusted, raw }) {
        const id = yield* random.uuidV7()
        const key = rawKey(id)
        const rawBytes = yield* objects.put(key, raw, { contentType: "message/rfc822" })
        yield* store.receive({ id, rawKey: key, rawBytes, envelopeFrom, peerTrusted }).pipe(
          // Nobody will look for it: the sender keeps the mail and sends it again.
          Effect.onError(() => Effect.ignore(objects.remove([key])))
        )
        yield* countReceived
        return id
      },
      (work) => underWay("receiving", work)
    ),
    admitNext: next("received", (mail) => Effect.provideContext(admitMail(mail), context)),
    convertNext: next("converting", (mail) => Effect.provideContext(convertMail(mail), context)),
    replyNext: Effect.gen(function* () {
      const reply = yield* store.claimReply(yield* random.uuidV7(), config.replyHold)
      if (reply === undefined) return false
      yield* underWay("replying", Effect.provideContext(sendReply(reply, links), context))
      return true
    }),
    clean: Effect.gen(function* () {
      for (const { everything, id } of yield* store.toClean(
        CLEANED_AT_ONCE,
        Duration.millis(LINK_LIVES_MS)
      )) {
        yield* objects.list(mailPrefix(id)).pipe(
          Stream.map(({ key }) => key),
          Stream.filter((key) => everything || !key.startsWith(`${mailPrefix(id)}result-`)),
          Stream.grouped(KEYS_AT_ONCE),
          Stream.runForEach((keys) => objects.remove(keys))
        )
        yield* store.cleaned(id, everything ? "all" : "source")
      }
      yield* store.purge
    }),
    sweep: Effect.provideContext(sweepOrphans, context),
    result: Effect.fnUntraced(function* (token) {
      const id = yield* links.verify(token)
      return id === undefined ? undefined : yield* store.result(id)
    })
  })
})

/** The service on the ports of the surroundings. */
export const layer: Layer.Layer<ConvertByEmail, never, Needs> = Layer.effect(ConvertByEmail, make)
