import { Result } from "effect"

import type { FieldIssue } from "../field-issues.ts"
import { strictDecoder } from "../request-body.ts"
import { ONLY_COPIES, SendRequest } from "./message.ts"

/** Most entries of a list or record of a request; MAIL-10 allows fewer recipients. */
const MAX_ENTRIES = 1_000
const LISTS = ["to", "cc", "bcc", "replyTo", "tags", "headers", "attachments"] as const

const decodeBody = strictDecoder(SendRequest)

/** What belongs to the send queue, which a mail that is sent at once is not asked for. */
const IN_QUEUE = "is of the send queue: a mail that is sent at once has none. Queue it instead (enqueueEmail)"
const NOT_TAKEN: ReadonlyMap<string, string> = new Map([
  ["sendAt", IN_QUEUE],
  ["send_at", "is not known; the send queue takes sendAt"],
  ["scheduledAt", "is not known; the send queue takes sendAt"],
  ["scheduled_at", "is not known; the send queue takes sendAt"],
  ["queue", IN_QUEUE]
])

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** Fields of more entries than any mail has: each entry takes its time to decode, and may be wrong in several ways (H1). */
const overlongFields = (body: object): ReadonlyArray<FieldIssue> => {
  const attachments: unknown = Reflect.get(body, "attachments")
  const fields: ReadonlyArray<readonly [string, unknown]> = [
    ["", body],
    ...LISTS.map((path) => [path, Reflect.get(body, path)] as const),
    ...(Array.isArray(attachments) ? attachments.slice(0, MAX_ENTRIES) : []).map(
      (attachment: unknown, at) => [`attachments.${at}`, attachment] as const
    )
  ]
  return fields.flatMap(([path, value]) => {
    const entries = Array.isArray(value) ? value : isObject(value) ? Object.keys(value) : []
    return entries.length > MAX_ENTRIES ? [{ path, message: `more than ${MAX_ENTRIES} entries` }] : []
  })
}

/** Whether a field of recipients has any, in a body of unknown shape. */
const hasAny = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value))

/** The issue in words that say what to write instead, where it is a known one. */
const explained =
  (body: object) =>
  ({ message, path }: FieldIssue): FieldIssue => {
    const copied = hasAny(Reflect.get(body, "cc")) || hasAny(Reflect.get(body, "bcc"))
    if (path === "to" && copied && !hasAny(Reflect.get(body, "to"))) return { path, message: ONLY_COPIES }
    return { path, message: NOT_TAKEN.get(path) ?? message }
  }

/** Decodes a body of unknown shape; every problem is reported, by field. */
export const decodeSendRequest = (body: unknown): Result.Result<SendRequest, ReadonlyArray<FieldIssue>> => {
  const given = isObject(body) ? body : {}
  const overlong = overlongFields(given)
  if (overlong.length > 0) return Result.fail(overlong)
  return Result.mapError(decodeBody(body), (issues) => issues.map(explained(given)))
}
