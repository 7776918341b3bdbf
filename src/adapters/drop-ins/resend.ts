import { Result } from "effect"

import type { SendRequest } from "../../domain/mail/message.ts"
import type { QueueState } from "../../domain/mail/queue.ts"
import { IdempotencyConflict, IdempotencyInProgress, type SendResult } from "../../domain/mail/send-result.ts"
import type { Queued } from "../../ports/mail/send-queue.ts"
import { failure, notTaken, type ResendAnswer, type ResendError, success } from "./resend-answers.ts"
import { MAX_BATCH, readBatch } from "./resend-batch.ts"
import {
  type LoggedEmail,
  type LoggedEmails,
  makeSentEmails,
  notFound,
  type ResendListOptions,
  type ResendReadOptions
} from "./resend-log.ts"
import {
  cancelQueued,
  enqueueAll,
  noQueue,
  type QueuedEmail,
  type ResendUpdate,
  updateQueued
} from "./resend-queue.ts"
import { type GivenEmail, type Read, renamed, requestOf, type Scheduled } from "./resend-request.ts"
import type { ResendSettings } from "./resend-settings.ts"
import type { UseStores } from "./resend-stores.ts"
import type { DropInOptions, Send } from "./send.ts"

export interface ResendRequestOptions {
  readonly idempotencyKey?: string | undefined
}

export interface ResendBatchOptions extends ResendRequestOptions {
  readonly batchValidation?: "strict" | "permissive" | undefined
}

/** The id of a mail in the send log, and its end or its state in the queue. */
interface ResendSent {
  readonly id: string
  readonly status: SendResult["status"] | QueueState
}

interface ResendBatchSent {
  readonly data: Array<{ readonly id: string }>
  /** With `batchValidation: "permissive"`. */
  readonly errors?: Array<{ readonly index: number; readonly message: string }>
}

/** How many mails of a batch are sent at once. */
const AT_ONCE = 10

const OPTIONS = ["idempotencyKey"]
const BATCH_OPTIONS = [...OPTIONS, "batchValidation"]

/** The messages of a send that was not begun, kept apart from others here: a result has no other mark of them. */
const CONFLICT = new IdempotencyConflict({ idempotencyKey: "" }).message
const IN_PROGRESS = new IdempotencyInProgress({ idempotencyKey: "" }).message

const errorOf = (result: SendResult & { readonly ok: false }) => {
  if (result.error === CONFLICT) return failure("invalid_idempotent_request", 409, result.error)
  if (result.error === IN_PROGRESS) return failure("concurrent_idempotent_requests", 409, result.error)
  if (result.status === "suppressed" || result.kind === "rejected")
    return failure("validation_error", 422, result.error)
  return failure("application_error", result.kind === "unavailable" ? 503 : 500, result.error)
}

const answerOf = (result: SendResult): ResendAnswer<ResendSent> =>
  result.ok ? success({ id: result.sendId, status: result.status }) : errorOf(result)

/** The one mail of a call that is sent later. */
const scheduledAs = (answer: Awaited<ReturnType<typeof enqueueAll>>): ResendAnswer<ResendSent> => {
  if (answer === undefined) return noQueue
  if (answer.error !== null) return answer
  const [queued] = answer.data
  return queued === undefined ? notFound() : success({ id: queued.id, status: queued.state })
}

/** The part of Resend's SDK that sends, with its names, options and answers, on Postlane. */
export interface ResendDropIn {
  readonly emails: {
    readonly send: (email: GivenEmail, options?: ResendRequestOptions) => Promise<ResendAnswer<ResendSent>>
    readonly create: ResendDropIn["emails"]["send"]
    /** From the send log or the queue: by the id that the send answered, or by Resend's own. */
    readonly get: (id: string, options?: ResendReadOptions) => Promise<ResendAnswer<LoggedEmail>>
    readonly list: (
      options?: ResendListOptions,
      requestOptions?: ResendReadOptions
    ) => Promise<ResendAnswer<LoggedEmails>>
    /** Of a mail that waits in the queue: one of a batch, or with `scheduledAt`. */
    readonly cancel: (id: string) => Promise<ResendAnswer<QueuedEmail>>
    /** Moves such a mail to another time. */
    readonly update: (update: ResendUpdate) => Promise<ResendAnswer<QueuedEmail>>
  }
  readonly batch: {
    readonly send: (
      emails: Array<GivenEmail>,
      options?: ResendBatchOptions
    ) => Promise<ResendAnswer<ResendBatchSent>>
    readonly create: ResendDropIn["batch"]["send"]
  }
}

type SendOne = (request: SendRequest) => Promise<SendResult>

/** Sends in order, with a limit on concurrent sends; answers keep the order of the requests. */
const sendAll = async (requests: ReadonlyArray<SendRequest | undefined>, send: SendOne) => {
  const answers = new Map<number, ResendAnswer<ResendSent>>()
  let next = 0
  const work = async () => {
    while (next < requests.length) {
      const at = next
      next += 1
      const request = requests[at]
      if (request !== undefined) answers.set(at, answerOf(await send(request)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return answers
}

/** The answer to a batch that was queued. */
export const batchAnswer = (
  reads: ReadonlyArray<Read>,
  queued: ReadonlyArray<Pick<Queued, "id">>,
  permissive: boolean
): ResendBatchSent => {
  const data = queued.map(({ id }) => ({ id }))
  const errors = reads.flatMap((read, index) =>
    "refused" in read ? [{ index, message: read.refused.error.message }] : []
  )
  return permissive ? { data, errors } : { data }
}

/** A batch in the send queue: all of it or nothing, but for what is left out of a permissive one. */
const queueBatch = async (
  reads: ReadonlyArray<Read>,
  enqueue: (mails: ReadonlyArray<Scheduled>) => ReturnType<typeof enqueueAll>,
  permissive: boolean
): Promise<ResendAnswer<ResendBatchSent> | undefined> => {
  const answer = await enqueue(reads.flatMap((read) => ("refused" in read ? [] : [read])))
  return answer === undefined || answer.error !== null
    ? answer
    : success(batchAnswer(reads, answer.data, permissive))
}

/** A batch where there is no queue: each mail is a send of its own. */
const sendBatch = async (
  reads: ReadonlyArray<Read>,
  send: SendOne,
  permissive: boolean
): Promise<ResendAnswer<ResendBatchSent>> => {
  const answers = await sendAll(
    reads.map((read) => ("request" in read ? read.request : undefined)),
    send
  )
  const data: Array<{ readonly id: string }> = []
  const errors: Array<{ readonly index: number; readonly message: string }> = []
  let first: ResendError | undefined
  for (const [index, read] of reads.entries()) {
    const answer = "refused" in read ? read.refused : answers.get(index)
    if (answer?.data) data.push({ id: answer.data.id })
    else if (answer?.error) {
      errors.push({ index, message: answer.error.message })
      first ??= answer.error
    }
  }
  if (permissive) return success({ data, errors })
  if (first === undefined) return success({ data })
  const message = `${data.length} of ${reads.length} were accepted, mail ${errors[0]?.index ?? 0} was not: ${first.message}`
  return failure(first.name, first.statusCode, message)
}

/** Services that the drop-in uses. */
interface ResendParts {
  readonly send: Send
  readonly useStores: UseStores
  readonly settings: ResendSettings
}

const isLater = (read: Read): boolean => "sendAt" in read && read.sendAt !== undefined

/** Makes the drop-in on a function that sends, and on the send log and the queue. */
export const makeResend = (
  { send, settings, useStores }: ResendParts,
  options: DropInOptions
): ResendDropIn => {
  const one: SendOne = (request) => send(request, { env: settings.env(), retry: options.retry })
  // What the caller sends by their own function stays there.
  const enqueue = async (mails: ReadonlyArray<Scheduled>, batchKeys?: ReadonlyArray<string>) =>
    options.send === undefined ? enqueueAll(useStores, settings.env(), mails, batchKeys) : undefined
  const sendEmail = async (email: GivenEmail, given: ResendRequestOptions = {}) => {
    const asked = renamed(given, OPTIONS)
    if (Result.isFailure(asked)) return notTaken(asked.failure)
    const read = requestOf(email, options, asked.success.idempotencyKey)
    if ("refused" in read) return read.refused
    return read.sendAt === undefined ? answerOf(await one(read.request)) : scheduledAs(await enqueue([read]))
  }
  const batch = async (emails: Array<GivenEmail>, given: ResendBatchOptions = {}) => {
    if (!Array.isArray(emails) || emails.length > MAX_BATCH)
      return failure("validation_error", 422, `a batch is a list of ${MAX_BATCH} mails at most`)
    const asked = renamed(given, BATCH_OPTIONS)
    if (Result.isFailure(asked)) return notTaken(asked.failure)
    const { batchValidation, idempotencyKey: key } = asked.success
    const { keys, reads } = readBatch(emails, key, (email, own) => requestOf(email, options, own))
    const permissive = batchValidation === "permissive"
    const refused = reads.find((read) => "refused" in read)
    // Strict, as with Resend: one that is not valid, and none goes out.
    if (refused !== undefined && !permissive) return refused.refused
    return (
      (await queueBatch(reads, (mails) => enqueue(mails, keys), permissive)) ??
      (reads.some(isLater) ? noQueue : sendBatch(reads, one, permissive))
    )
  }
  const emails = {
    send: sendEmail,
    create: sendEmail,
    cancel: (id: string) => cancelQueued(useStores, settings.env(), id),
    update: (update: ResendUpdate) => updateQueued(useStores, settings.env(), update),
    ...makeSentEmails(useStores, settings.env)
  }
  return { emails, batch: { send: batch, create: batch } }
}
