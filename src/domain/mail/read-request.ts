import { Result, Schema, Struct } from "effect"

import type { FieldIssue } from "../field-issues.ts"
import { strictDecoder } from "../request-body.ts"
import { ONLY_COPIES, SendRequest } from "./message.ts"

/** Most entries of a list or record of a request; MAIL-10 allows fewer recipients. */
const MAX_ENTRIES = 1_000
const LISTS = ["to", "cc", "bcc", "replyTo", "tags", "headers", "attachments"] as const

const SEND_AT = "is not known; the send queue takes sendAt"
const MISNAMED: ReadonlyArray<readonly [string, string]> = [
  ["scheduledAt", SEND_AT],
  ["scheduled_at", SEND_AT]
]

/** What belongs to the send queue, which a mail that is sent at once is not asked for. */
const IN_QUEUE = "is of the send queue: a mail that is sent at once has none. Queue it instead (enqueueEmail)"

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** Fields of more entries than any mail has: each entry takes its time to decode, and may be wrong in several ways (H1). */
const overlongFields = (body: object): ReadonlyArray<FieldIssue> => {
  const overlong: Array<FieldIssue> = []
  const look = (path: string, value: unknown) => {
    if (!isObject(value)) return
    const { length } = Array.isArray(value) ? value : Object.keys(value)
    if (length > MAX_ENTRIES) overlong.push({ path, message: `more than ${MAX_ENTRIES} entries` })
  }
  look("", body)
  for (const path of LISTS) look(path, Reflect.get(body, path))
  const attachments: unknown = Reflect.get(body, "attachments")
  if (Array.isArray(attachments)) {
    for (const [at, attachment] of attachments.slice(0, MAX_ENTRIES).entries())
      look(`attachments.${at}`, attachment)
  }
  return overlong
}

/** Whether a field of recipients has any, in a body of unknown shape. */
const hasAny = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value))

/** The issue in words that say what to write instead, where it is a known one. */
const explained =
  (body: object, words: ReadonlyMap<string, string>) =>
  ({ message, path }: FieldIssue): FieldIssue => {
    const copied = hasAny(Reflect.get(body, "cc")) || hasAny(Reflect.get(body, "bcc"))
    if (path === "to" && copied && !hasAny(Reflect.get(body, "to"))) return { path, message: ONLY_COPIES }
    return { path, message: words.get(path) ?? message }
  }

const decoderOf = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  words: ReadonlyArray<readonly [string, string]>
) => {
  const decode = strictDecoder(schema)
  const known = new Map(words)
  return (body: unknown): Result.Result<S["Type"], ReadonlyArray<FieldIssue>> => {
    const given = isObject(body) ? body : {}
    const overlong = overlongFields(given)
    if (overlong.length > 0) return Result.fail(overlong)
    return Result.mapError(decode(body), (issues) => issues.map(explained(given, known)))
  }
}

/** Decodes a body of unknown shape; every problem is reported, by field. */
export const decodeSendRequest = decoderOf(SendRequest, [
  ...MISNAMED,
  ["send_at", SEND_AT],
  ["sendAt", IN_QUEUE],
  ["queue", IN_QUEUE]
])

/** A mail, and when it is sent, where it is queued. */
export const QueueableRequest = Schema.Struct({
  ...SendRequest.fields,
  queue: Schema.optional(Schema.Boolean).annotate({
    description: "True: the mail is queued, and sent at the pace that the provider takes."
  }),
  sendAt: Schema.optional(Schema.String).annotate({
    description:
      "ISO 8601 with its time zone, at most 30 days ahead: the mail is queued, and not sent before."
  })
}).annotate({ identifier: "SendRequest" })

const decodeQueueable = decoderOf(QueueableRequest, MISNAMED)

/** A request of the send queue. */
interface QueueRequest {
  readonly mail: SendRequest
  /** ISO 8601; absent where it is sent at once. */
  readonly sendAt: string | undefined
}

/** A date with its time zone: the machine that reads it may be in another one. The database knows no year 0, and no zone of 16 hours. */
const MOMENT = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-](?:0\d|1[0-5]):?[0-5]\d)$/

const momentIssues = (path: string, value: string | undefined): ReadonlyArray<FieldIssue> =>
  value === undefined || (MOMENT.test(value) && !Number.isNaN(Date.parse(value)))
    ? []
    : [{ path, message: "is no date in ISO 8601 with its time zone" }]

/** Decodes a request of unknown shape; every problem is reported, by field. How far ahead it lies is the database's to judge. */
export const decodeQueueRequest = (body: unknown): Result.Result<QueueRequest, ReadonlyArray<FieldIssue>> =>
  Result.flatMap(decodeQueueable(body), ({ sendAt, ...request }) => {
    const mail: SendRequest = Struct.omit(request, ["queue"])
    const issues = [...momentIssues("sendAt", sendAt), ...momentIssues("expiresAt", mail.expiresAt)]
    return issues.length > 0 ? Result.fail(issues) : Result.succeed({ mail, sendAt })
  })

/** Whether a body of the relay asks for the queue. */
export const asksForQueue = (body: unknown): boolean => {
  if (!isObject(body)) return false
  const { queue, sendAt }: { readonly queue?: unknown; readonly sendAt?: unknown } = body
  return (queue ?? false) !== false || (sendAt ?? undefined) !== undefined
}
