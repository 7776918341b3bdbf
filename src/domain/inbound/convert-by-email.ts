import { Cause, Context, Duration, Effect, Exit, Layer, Option, Schedule, Stream } from "effect"
import type { Digest } from "effect/crypto/Digest"
import type * as Mac from "effect/crypto/Mac"
import { SecureRandom } from "effect/crypto/SecureRandom"

import type { ConvertPipeline, PipelineError } from "../../ports/inbound/convert-pipeline.ts"
import {
  type ClaimedMail,
  type FailingPart,
  IntakeStore,
  type KeptResult
} from "../../ports/inbound/intake-store.ts"
import { type MailReader, type MailReaderUnavailable, ReplyChannel } from "../../ports/inbound/mails.ts"
import type { MailTemplates } from "../../ports/mail/mail-provider.ts"
import { MailObjects, type ObjectStoreError } from "../../ports/object-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { staleAfter, untilLost } from "../conversion/work/leased-work.ts"
import { withDeadline } from "../deadline.ts"
import { drain } from "../drain.ts"
import { abandonMail, admitMail } from "./admission.ts"
import { abandonConversion, convertMail } from "./converting.ts"
import { MAIL_HOLD_WINDOW, OUTAGE_GAP, OUTLASTED, retryAfter } from "./ending.ts"
import { IntakeConfig, mailPrefix, rawKey } from "./intake-config.ts"
import { countReceived, underWay } from "./metrics.ts"
import { sweepOrphans } from "./orphan-objects.ts"
import { replyHold, sendReply } from "./replying.ts"
import { LINK_LIVES_MS, makeResultLinks, resultUrl } from "./result-link.ts"

/** Delay before a crashed step is tried again; three times as long each further time. */
const CRASH_RETRY_FIRST = Duration.seconds(5)

/** How often releasing a mail is tried while the database does not answer. */
const UNTIL_ANSWERED = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("15 seconds")])

/** How long releasing a mail may take at shutdown. */
const LAST_WORD = Duration.seconds(5)

/** Mails that one clean-up round handles, and objects of one delete. */
const CLEANED_AT_ONCE = 50
const KEYS_AT_ONCE = 500

const PART_NAMES: Readonly<Record<FailingPart, string>> = {
  database: "database",
  objects: "object store",
  pipeline: "conversion service",
  reader: "reader of mails"
}

type StepFailure = StoreUnavailable | ObjectStoreError | PipelineError | MailReaderUnavailable

const partOf = (failure: StepFailure): FailingPart => {
  switch (failure._tag) {
    case "StoreUnavailable":
      return "database"
    case "ObjectStoreError":
      return "objects"
    case "PipelineError":
      return "pipeline"
    case "MailReaderUnavailable":
      return "reader"
  }
}

/** Whether the mail itself crashed its worker: that counts as one of its few attempts. */
const isCrash = (failure: StepFailure): boolean =>
  failure._tag === "PipelineError" && failure.reason === "crashed"

/** The work on a mail under its lease, and how the mail ends where that was not possible for too long. */
interface Step {
  readonly step: (mail: ClaimedMail) => Effect.Effect<void, StepFailure>
  readonly abandon: (mail: ClaimedMail, reason: string) => Effect.Effect<void, StepFailure>
}

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
    ) => Effect.Effect<string, E | ObjectStoreError | StoreUnavailable, R>
    /** Reads the mail that has waited longest, and answers it or queues its conversion. False: there is none. */
    readonly admitNext: Effect.Effect<boolean, StoreUnavailable>
    /** Converts the mail that has waited longest. False: there is none. */
    readonly convertNext: Effect.Effect<boolean, StoreUnavailable>
    /** Sends the reply that has waited longest. False: there is none. */
    readonly replyNext: Effect.Effect<boolean, StoreUnavailable>
    /** Removes the objects of mails that have ended, and deletes old ones (INBOUND-8). */
    readonly clean: Effect.Effect<void, StoreUnavailable | ObjectStoreError>
    /** Removes objects that belong to no mail; returns how many. */
    readonly sweep: Effect.Effect<number, StoreUnavailable | ObjectStoreError>
    /**
     * Results of a customer's mails, newest first, that were not delivered as an attachment: their links work until they expire,
     * whatever became of the replies.
     */
    readonly keptResults: (
      customerId: string
    ) => Effect.Effect<ReadonlyArray<KeptResult & { readonly url: string }>, StoreUnavailable>
    /** The result that a link leads to; undefined for a link that is not ours or has expired. */
    readonly result: (
      token: string
    ) => Effect.Effect<{ readonly key: string; readonly filename: string } | undefined, StoreUnavailable>
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
  const channel = yield* ReplyChannel
  const random = yield* SecureRandom
  const links = yield* makeResultLinks

  const handBack = (mail: ClaimedMail, after: Duration.Duration, counts: boolean) =>
    withDeadline(store.handBack(mail, { after, counts }), {
      duration: LAST_WORD,
      onTimeout: () => Effect.succeed(false)
    }).pipe(Effect.ignore({ log: true }))

  /** Releases a mail without counting an attempt, as soon as the database accepts that. False: it has waited long enough. */
  const defer = (mail: ClaimedMail, part: FailingPart) =>
    store
      .defer(mail, {
        after: retryAfter(mail.failures + 1),
        part,
        gap: OUTAGE_GAP,
        limit: OUTLASTED,
        window: MAIL_HOLD_WINDOW
      })
      .pipe(
        Effect.tapError((cause) => Effect.logWarning("a mail cannot be handed back yet", cause)),
        Effect.retry(UNTIL_ANSWERED),
        Effect.map((answer) => answer !== "over")
      )

  /** Runs a step of a mail under its lease. On failure the mail is released and tried again later, or given up. */
  const underLease = Effect.fnUntraced(function* (mail: ClaimedMail, { abandon, step }: Step) {
    const beat = store.heartbeat(mail, MAIL_HOLD_WINDOW)
    const held = (work: ReturnType<Step["step"]>) =>
      Effect.exit(
        Effect.raceFirst(
          Effect.as(work, "done" as const),
          Effect.as(untilLost(beat, config.heartbeat), "lost" as const)
        )
      ).pipe(Effect.onInterrupt(() => handBack(mail, Duration.zero, false)))
    const exit = yield* held(step(mail))
    if (Exit.isSuccess(exit) && exit.value === "done") return
    const failure = Exit.isFailure(exit)
      ? Option.getOrUndefined(Cause.findErrorOption(exit.cause))
      : undefined
    if (Exit.isFailure(exit)) {
      yield* Effect.logWarning("a step of a mail failed, and is tried again", exit.cause)
      if (failure === undefined || isCrash(failure)) {
        return yield* handBack(mail, Duration.times(CRASH_RETRY_FIRST, 3 ** (mail.attempts - 1)), true)
      }
    }
    // A lease that is lost while the step reports no failure means that the database did not answer, or that this process stood
    // still.
    const part = failure === undefined ? "database" : partOf(failure)
    if (yield* defer(mail, part)) return
    const ended = yield* held(abandon(mail, `the ${PART_NAMES[part]} did not answer for 23 hours`))
    if (Exit.isSuccess(ended)) return
    yield* Effect.logWarning("a mail could not be given up, and is tried again", ended.cause)
    yield* handBack(mail, retryAfter(mail.failures), false)
  })

  const next = Effect.fnUntraced(function* (at: "received" | "converting", steps: Step) {
    const mail = yield* store.claim(at, yield* random.uuidV7(), staleAfter(config.heartbeat))
    if (mail === undefined) return false
    yield* Effect.annotateLogs(underWay(at === "received" ? "reading" : at, underLease(mail, steps)), {
      mail: mail.id
    })
    return true
  })

  const provided = <A, E, R extends Needs>(effect: Effect.Effect<A, E, R>) =>
    Effect.provideContext(effect, context)

  return ConvertByEmail.of({
    accept: Effect.fnUntraced(
      function* ({ envelopeFrom, peerTrusted, raw }) {
        const id = yield* random.uuidV7()
        const key = rawKey(id)
        const rawBytes = yield* objects.put(key, raw, { contentType: "message/rfc822" })
        yield* store.receive({ id, rawKey: key, rawBytes, envelopeFrom, peerTrusted }).pipe(
          // No row leads to it: the sender keeps the mail and sends it again.
          Effect.onError(() => Effect.ignore(objects.remove([key])))
        )
        yield* countReceived
        return id
      },
      (work) => underWay("receiving", work)
    ),
    admitNext: next("received", {
      step: (mail) => provided(admitMail(mail)),
      abandon: (mail, reason) => provided(abandonMail(mail, reason))
    }),
    convertNext: next("converting", {
      step: (mail) => provided(convertMail(mail)),
      abandon: (mail, reason) => provided(abandonConversion(mail, reason))
    }),
    replyNext: Effect.gen(function* () {
      const reply = yield* store.claimReply(yield* random.uuidV7(), replyHold(channel))
      if (reply === undefined) return false
      yield* underWay("replying", Effect.provideContext(sendReply(reply, links), context))
      return true
    }),
    clean: Effect.gen(function* () {
      const mails = yield* store.toClean(CLEANED_AT_ONCE, Duration.millis(LINK_LIVES_MS))
      for (const { everything, id } of mails) {
        yield* objects.list(mailPrefix(id)).pipe(
          Stream.map(({ key }) => key),
          Stream.filter((key) => everything || !key.startsWith(`${mailPrefix(id)}result-`)),
          Stream.grouped(KEYS_AT_ONCE),
          Stream.runForEach((keys) => objects.remove(keys))
        )
        yield* store.cleaned(id, everything ? "all" : "source")
      }
      return mails.length
    }).pipe((round) => Effect.andThen(drain(CLEANED_AT_ONCE, round), store.purge)),
    sweep: provided(sweepOrphans),
    keptResults: Effect.fnUntraced(function* (customerId) {
      const kept = yield* store.keptResults(customerId, Duration.millis(LINK_LIVES_MS))
      return yield* Effect.forEach(kept, (result) =>
        Effect.map(links.token(result.id, result.expiresAt), (token) => ({
          ...result,
          url: resultUrl(config.baseUrl, token)
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
