import { createHash } from "node:crypto"

import { Clock, Context, Duration, Effect, Stream } from "effect"
import * as Mac from "effect/crypto/Mac"

import type { Documents } from "../../../src/adapters/memory/documents/state.ts"
import { IntakeConfig } from "../../../src/application/inbound/intake-config.ts"
import { HEAD_BYTES } from "../../../src/domain/inbound/incoming-mail.ts"
import { ConvertPipeline, PipelineError } from "../../../src/ports/inbound/convert-pipeline.ts"
import type { IntakeStore } from "../../../src/ports/inbound/intake-store.ts"
import {
  MailReader,
  ReplyChannel,
  ReplyFailure,
  type ReadableMail
} from "../../../src/ports/inbound/mails.ts"
import { MailTemplates } from "../../../src/ports/mail/mail-provider.ts"
import { MailObjects, ObjectStoreError } from "../../../src/ports/object-store.ts"
import type { Chance } from "../kernel.ts"
import { alive, call, type SimProcess } from "../process.ts"
import type { Chronicle } from "../world.ts"
import type { WholeObjects } from "./objects.ts"
import { bytesOf, type Paper, paperOf } from "./papers.ts"

export const CONVERT = "convert@legacy.test"

/** A mail that somebody sends, once or several times. */
export interface SentMail {
  readonly from: string
  readonly messageId: string
  /** Undefined: nothing is attached. */
  readonly paper: Paper | undefined
}

/** How often what convert-by-email needs does what nobody wants. */
export interface MailMood {
  readonly pipelineAway: number
  readonly pipelineCrashes: number
  /** The document is a long one. */
  readonly pipelineSlow: number
  readonly replyRefused: number
  readonly replyDeferred: number
  readonly replyLost: number
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The mail as it comes in; the paper stands in place of its PDF. */
export const rawOf = (mail: SentMail): Uint8Array => encoder.encode(JSON.stringify(mail))

const read = (raw: Uint8Array): ReadableMail => {
  const { from, messageId, paper } = JSON.parse(decoder.decode(raw)) as SentMail
  return {
    headers: [
      { name: "from", value: from },
      { name: "message-id", value: messageId },
      { name: "to", value: CONVERT }
    ],
    from: [from],
    to: [CONVERT],
    cc: [],
    subject: "convert this",
    parts:
      paper === undefined
        ? []
        : [
            {
              filename: `${paper.name}.pdf`,
              mediaType: "application/pdf",
              inline: false,
              bytes: bytesOf(paper).length,
              head: bytesOf(paper).slice(0, HEAD_BYTES),
              sha256: hashOf(bytesOf(paper)),
              pdf: Stream.make(bytesOf(paper))
            }
          ]
  }
}

/** The mail as it is stored: short or missing, the store is at fault. */
const readStored = Effect.fnUntraced(function* (key: string, bytes: number) {
  const objects = yield* MailObjects
  const away = (cause: unknown) => new ObjectStoreError({ reason: "unavailable", key, cause })
  const pieces = yield* Effect.mapError(Stream.runCollect(objects.get(key)), away)
  const raw = Buffer.concat(pieces)
  if (raw.length !== bytes) return yield* away(new Error(`${raw.length} of ${bytes} bytes`))
  return { mail: read(raw), rawSha256: hashOf(raw) }
})

/** What a reply channel has taken, by its key; it sends nothing twice under one. */
interface Taken {
  readonly at: number
  /** Undefined: at once. Else its retries end then, this way. */
  readonly deferred: { readonly until: number; readonly sent: boolean } | undefined
}

/** Signs at once: nobody forges links here. */
const simMac = Mac.Mac.of({
  generateKey: () => Effect.die(new Error("not used here")),
  sign: (_, data) => Effect.succeed(data.slice(0, 32)),
  verify: () => Effect.succeed(true)
})

/** The people, programs and services around convert-by-email. */
export const makeMailSurroundings = (options: {
  readonly chance: Chance
  readonly chronicle: Chronicle
  readonly mood: () => MailMood
  /** The channel, with a bug in it if one is planted. */
  readonly broken: (channel: ReplyChannel["Service"]) => ReplyChannel["Service"]
}) => {
  const { broken, chance, chronicle, mood } = options
  const { note, saw } = chronicle
  const taken = new Map<string, Taken>()
  const refused = new Set<string>()

  const send = (key: string): Effect.Effect<"deferred" | void, ReplyFailure> =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const { replyDeferred, replyRefused } = mood()
      if (!taken.has(key)) {
        // What is refused once can never go out unchanged.
        if (refused.has(key) || chance.bool(replyRefused)) {
          refused.add(key)
          saw("a reply is refused")
          return yield* new ReplyFailure({ reason: "refused", message: "refused" })
        }
        const deferred = chance.bool(replyDeferred)
          ? { until: now + chance.int(60_000, 1_500_000), sent: chance.bool(0.7) }
          : undefined
        taken.set(key, { at: now, deferred })
        note(() => `the reply ${key} is taken${deferred === undefined ? "" : ", deferred"}`)
      }
      const deferred = taken.get(key)?.deferred
      if (deferred === undefined) return undefined
      if (now < deferred.until) return "deferred"
      if (deferred.sent) return undefined
      return yield* new ReplyFailure({ reason: "unrepeatable", message: "its retries ended without a mail" })
    })

  const channelOf = (process: SimProcess) =>
    ReplyChannel.of({
      name: "library",
      maxAttachmentBytes: 10_000,
      sendsWithin: Duration.minutes(1),
      send: ({ key }) => {
        const { replyLost } = mood()
        return call(
          process,
          chance,
          {
            requestLost: replyLost / 2,
            responseLost: replyLost,
            slow: 0.1,
            slowMs: 20_000,
            lostAfterMs: 15_000
          },
          send(key),
          () => {
            saw("a reply's answer is lost")
            return new ReplyFailure({ reason: "later", message: "connection lost" })
          }
        )
      }
    })

  const pipelineOf = (process: SimProcess, objects: WholeObjects) => {
    const away = (cause?: unknown) => new PipelineError({ reason: "unavailable", message: "away", cause })
    const paperAt = (key: string) =>
      Effect.gen(function* () {
        yield* alive(process)
        const { pipelineAway, pipelineCrashes } = mood()
        if (chance.bool(pipelineAway)) {
          saw("pipeline away")
          return yield* away()
        }
        if (chance.bool(pipelineCrashes)) {
          saw("pipeline crashed")
          return yield* new PipelineError({ reason: "crashed", message: "crashed" })
        }
        return paperOf(yield* Effect.mapError(objects.whole(key), away))
      })
    return ConvertPipeline.of({
      countPages: (key) =>
        Effect.map(paperAt(key), ({ pages }) => (chance.bool(0.3) ? undefined : pages.length)),
      convert: ({ resultKey, sourceKey }) =>
        Effect.gen(function* () {
          const { name, pages } = yield* paperAt(sourceKey)
          yield* Effect.sleep(
            chance.bool(mood().pipelineSlow) ? chance.int(40_000, 400_000) : chance.int(1_000, 40_000)
          )
          const unreadablePages = pages.flatMap((page, at) => (page === "broken" ? [at + 1] : []))
          if (unreadablePages.length === pages.length)
            return yield* new PipelineError({ reason: "document", message: "it cannot be read" })
          const bytes = yield* Effect.mapError(
            objects.put(resultKey, Stream.make(encoder.encode(name)), { contentType: "text/html" }),
            away
          )
          return {
            bytes,
            standardPages: pages.length - unreadablePages.length,
            complexPages: 0,
            unreadablePages,
            hasText: true
          }
        })
    })
  }

  return {
    /** Keys of replies that went out, each of them once. */
    delivered: () =>
      [...taken].flatMap(([key, { deferred }]) => (deferred === undefined || deferred.sent ? [key] : [])),
    servicesOf: (process: SimProcess, objects: WholeObjects, heartbeat: Duration.Duration) =>
      Context.make(ReplyChannel, broken(channelOf(process))).pipe(
        Context.add(Mac.Mac, simMac),
        Context.add(ConvertPipeline, pipelineOf(process, objects)),
        Context.add(MailReader, { readHead: read, read: readStored }),
        Context.add(MailTemplates, {
          render: () => Effect.succeed({ subject: "s", html: "h", text: "t" })
        }),
        Context.add(IntakeConfig, {
          convertAddress: CONVERT,
          convertAddresses: new Set([CONVERT]),
          ownAddresses: new Set([CONVERT]),
          authenticity: { trustedHops: [], trustsLoopback: true },
          registerUrl: "https://p.test/r",
          buyUrl: "https://p.test/b",
          baseUrl: "https://p.test",
          heartbeat
        })
      )
  }
}

type Intake = IntakeStore["Service"]

/** The store of mails; only a lease's holder changes a mail (C2), and a result is stored first (F2). */
export const watchedIntake = (
  store: Intake,
  db: Documents,
  objects: ReadonlyMap<string, Uint8Array>,
  violations: Array<string>
): Intake => ({
  ...store,
  finish: (mail, done) =>
    Effect.suspend(() => {
      const before = db.mails.get(mail.id)
      return Effect.tap(store.finish(mail, done), (answer) =>
        Effect.sync(() => {
          if (answer === "completed" && before?.step !== "ended" && !objects.has(done.resultKey))
            violations.push("F2: the result of a mail is recorded, and not stored")
          if (before?.lease !== mail.lease && db.mails.get(mail.id) !== before)
            violations.push("C2: the result of a worker that had lost its mail was taken")
        })
      )
    })
})

/** Whether each mail, however often it was delivered, was converted, charged and answered once (I1, I2, F2). */
export const wrongMails = (
  db: Documents,
  sent: ReadonlyArray<SentMail>,
  accepted: ReadonlySet<string>,
  delivered: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const id of accepted) if (db.mails.get(id) === undefined) found.push("I2: an accepted mail is nowhere")
  for (const { messageId } of sent) {
    const rows = db.mails.where((mail) => mail.messageId === messageId)
    const results = rows.filter(({ outcome }) => outcome === "success")
    const ids: ReadonlySet<string> = new Set(rows.map(({ id }) => id))
    const charges = db.charges.where(({ jobId }) => ids.has(jobId))
    const replies = delivered.filter((key) => {
      const [, id, ...kind] = key.split(":")
      return ids.has(id ?? "") && kind.at(-1) === "success"
    })
    if (results.length > 1) found.push(`I1: ${messageId} was converted ${results.length} times`)
    if (charges.length !== results.length)
      found.push(`F2: ${messageId} has ${results.length} results and ${charges.length} charges`)
    if (replies.length > 1) found.push(`I1: ${replies.length} replies with the result of ${messageId}`)
    if (replies.length > results.length)
      found.push(`F2: a reply has the result of ${messageId}, which was not charged`)
    if (rows.length > 0 && rows.every(({ outcome }) => outcome === "duplicate"))
      found.push(`I2: every delivery of ${messageId} is a duplicate`)
  }
  // No part of this world is away for that long.
  if (db.mails.find(({ reason }) => reason?.includes("23 hours") === true) !== undefined)
    found.push("I4: a mail was given up after 23 hours")
  const answered = new Set(["success", "error", "insufficient", "no_attachment"])
  for (const { id, outcome, reason, sender } of db.mails.where()) {
    const replies = db.replies.where(
      ({ content, mailId }) => mailId === id && content.kind !== "processing-started"
    )
    const isKnown =
      db.customers.find(({ deletedAt, email }) => email === sender && deletedAt === null) !== undefined
    if (
      isKnown &&
      answered.has(outcome ?? "") &&
      replies.length !== 1 &&
      reason?.includes("not answered") !== true
    )
      found.push(`I2: a mail ended ${outcome} (${reason}), and has ${replies.length} replies`)
    if (replies.length > 1) found.push(`I1: a mail has ${replies.length} replies`)
  }
  return found
}

/** Mails and replies that are not over yet (I2). */
export const unfinishedMails = (db: Documents): ReadonlyArray<string> => [
  ...db.mails.where(({ step }) => step !== "ended").map(({ step }) => `I2: a mail is ${step}`),
  ...db.replies
    .where(({ status }) => status === "queued")
    .map(({ content }) => `I2: a reply is queued: ${content.kind}`)
]
