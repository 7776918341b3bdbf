import { Effect, Result } from "effect"

import { creditsFor } from "../../domain/inbound/page-class.ts"
import { ConvertPipeline } from "../../ports/inbound/convert-pipeline.ts"
import { type ClaimedMail, IntakeStore } from "../../ports/inbound/intake-store.ts"
import { ReplyChannel } from "../../ports/inbound/mails.ts"
import {
  type About,
  endIfUnreachable,
  endInError,
  endInsufficient,
  endMail,
  isFinal,
  MAX_ATTEMPTS
} from "./ending.ts"
import { resultKey } from "./intake-config.ts"
import { countEnded } from "./metrics.ts"

/** Ends a mail after its conversion failed for too long or crashed too often. */
export const abandonConversion = Effect.fnUntraced(function* (mail: ClaimedMail, reason: string) {
  const store = yield* IntakeStore
  const { job } = mail
  const recipient = job && (yield* store.customerEmail(job.customerId))
  yield* job === undefined || recipient === undefined
    ? endMail(mail, { outcome: "error", reason, jobError: reason })
    : endInError(mail, { ...job, recipient }, `The document could not be converted: ${reason}.`)
})

/**
 * The second half of INBOUND-8: converts, and then, in one transaction, charges the pages that the pipeline counted, queues the
 * reply with the result and logs the job. A failure charges nothing and says so.
 */
export const convertMail = Effect.fnUntraced(function* (mail: ClaimedMail) {
  const store = yield* IntakeStore
  const pipeline = yield* ConvertPipeline
  const channel = yield* ReplyChannel
  const { job } = mail
  if (job === undefined) return yield* Effect.die(new Error(`mail ${mail.id} is converted without a job`))
  const recipient = yield* store.customerEmail(job.customerId)
  if (recipient === undefined) {
    return yield* endMail(mail, {
      outcome: "error",
      reason: "the account was closed",
      jobError: "The account was closed"
    })
  }
  const about: About = { ...job, recipient }
  if (mail.attempts > MAX_ATTEMPTS) return yield* abandonConversion(mail, "it was tried several times")
  if (yield* endIfUnreachable(mail, about, { begun: true })) return
  const key = resultKey(mail.id, mail.lease)
  const converted = yield* Effect.result(
    pipeline.convert({ sourceKey: job.sourceKey, resultKey: key, name: job.filename })
  )
  if (Result.isFailure(converted)) {
    const { message, reason } = converted.failure
    if (isFinal(mail, reason)) return yield* endInError(mail, about, message)
    return yield* converted.failure
  }
  const { bytes, complexPages, doubtfulPages, hasText, leftOut, ...read } = converted.success
  const { poorlyReadPages, standardPages, unreadablePages } = read
  const pages = creditsFor({ standard: standardPages, complex: complexPages })
  const answer = yield* store.finish(mail, {
    standardPages,
    complexPages,
    resultKey: key,
    resultBytes: bytes,
    recipient,
    reply: {
      kind: "success",
      fileName: job.filename,
      pages: standardPages + complexPages + unreadablePages.length,
      creditsCharged: 0,
      balance: 0,
      ignored: job.ignored,
      unreadablePages,
      ...(poorlyReadPages === undefined ? {} : { poorlyReadPages }),
      ...(doubtfulPages === undefined ? {} : { doubtfulPages }),
      ...(leftOut === undefined ? {} : { leftOut }),
      hasText
    },
    asLink: bytes > channel.maxAttachmentBytes
  })
  if (typeof answer === "object") return yield* endInsufficient(mail, about, pages, answer)
  if (answer === "completed") {
    yield* countEnded("success")
    yield* Effect.logInfo(`a mail ended: success (${standardPages + complexPages} pages)`).pipe(
      Effect.annotateLogs({ mail: mail.id, outcome: "success" })
    )
  }
})
