import { Result } from "effect"

import type { FieldIssue } from "../field-issues.ts"
import type { SendRequest } from "./message.ts"
import { decodeSendRequest } from "./read-request.ts"

/** A request of the send queue: a mail, and when it is sent. */
interface QueueRequest {
  readonly mail: SendRequest
  /** ISO 8601; absent where it is sent at once. */
  readonly sendAt: string | undefined
}

/** A date with its time zone: the machine that reads it may be in another one. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether a body of the relay asks for the queue. */
export const asksForQueue = (body: unknown): boolean =>
  isObject(body) &&
  (Reflect.get(body, "sendAt") !== undefined ||
    ("queue" in body && body.queue !== undefined && body.queue !== false))

const momentIssues = (path: string, value: unknown): ReadonlyArray<FieldIssue> =>
  value === undefined || (typeof value === "string" && MOMENT.test(value) && !Number.isNaN(Date.parse(value)))
    ? []
    : [{ path, message: "is no date in ISO 8601 with its time zone" }]

/** Decodes a request of unknown shape; every problem is reported, by field. How far ahead it lies is the database's to judge. */
export const decodeQueueRequest = (body: unknown): Result.Result<QueueRequest, ReadonlyArray<FieldIssue>> => {
  if (!isObject(body)) return Result.map(decodeSendRequest(body), (mail) => ({ mail, sendAt: undefined }))
  const { queue, sendAt, ...rest }: { readonly queue?: unknown; readonly sendAt?: unknown } = { ...body }
  const issues: ReadonlyArray<FieldIssue> = [
    ...(queue === undefined || typeof queue === "boolean"
      ? []
      : [{ path: "queue", message: "must be true or false" }]),
    ...momentIssues("sendAt", sendAt),
    ...momentIssues("expiresAt", Reflect.get(rest, "expiresAt"))
  ]
  const decoded = decodeSendRequest(rest)
  if (Result.isFailure(decoded)) return Result.fail([...issues, ...decoded.failure])
  return issues.length > 0
    ? Result.fail(issues)
    : Result.succeed({ mail: decoded.success, sendAt: typeof sendAt === "string" ? sendAt : undefined })
}
