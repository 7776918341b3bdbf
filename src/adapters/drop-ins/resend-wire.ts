import { Result } from "effect"

import { failure, type ResendFailure } from "./resend-answers.ts"

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const missing = (name: string) => failure("missing_required_field", 422, `Missing \`${name}\` field.`)

const invalid = (message: string) => failure("validation_error", 422, message)

/** Members without which Resend takes no mail, by the name of each. */
const REQUIRED = ["from", "to", "subject"]

const isByte = (value: unknown): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 255

const isContent = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  typeof value === "string" ||
  value instanceof ArrayBuffer ||
  ArrayBuffer.isView(value) ||
  (Array.isArray(value) && value.every(isByte))

const attachmentsFault = (attachments: unknown): ResendFailure | undefined => {
  if (attachments === undefined || attachments === null) return undefined
  if (!Array.isArray(attachments) || !attachments.every(isObject))
    return invalid("attachments must be a list of objects")
  return attachments.every((one) => isContent(Reflect.get(one, "content")))
    ? undefined
    : failure("invalid_attachment", 422, "content of an attachment must be base64, or a list of bytes")
}

const tagsFault = (tags: unknown): ResendFailure | undefined =>
  tags === undefined ||
  tags === null ||
  (Array.isArray(tags) &&
    tags.every(
      (tag) =>
        isObject(tag) &&
        typeof Reflect.get(tag, "name") === "string" &&
        typeof Reflect.get(tag, "value") === "string"
    ))
    ? undefined
    : invalid("tags must be a list of objects with name and value")

/** Why a value cannot be taken apart as an email of Resend's SDK; its other members are checked with the request. */
export const shapeFault = (email: unknown): ResendFailure | undefined =>
  isObject(email)
    ? (attachmentsFault(Reflect.get(email, "attachments")) ?? tagsFault(Reflect.get(email, "tags")))
    : invalid("the mail must be an object")

/** Reads a body as an email of Resend's SDK, which has what Resend asks for. */
export const emailOf = (body: unknown): Result.Result<object, ResendFailure> => {
  if (!isObject(body)) return Result.fail(invalid("the mail must be a JSON object"))
  const absent = REQUIRED.find((name) => {
    const value: unknown = Reflect.get(body, name)
    return (
      value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
    )
  })
  return absent === undefined ? Result.succeed(body) : Result.fail(missing(absent))
}
