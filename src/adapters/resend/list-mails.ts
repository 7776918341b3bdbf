import { Effect, Layer, Option, Redacted, Schema } from "effect"
import type { PaginationOptions } from "resend"

import type { ListedMail } from "../../domain/delivery/listed-mail.ts"
import {
  bareAddressesOf,
  bareAddressOf,
  fieldsOf,
  idOf,
  isDeeperThan,
  listOf,
  textOf,
  timeOf
} from "../../domain/delivery/untrusted.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { retryAfterMs } from "../../domain/mail/retry-after.ts"
import { ListFailure, type MailPage, SentMails } from "../../ports/delivery/event-poll.ts"
import { makeClient, type ResendOptions, VENDOR_URL } from "./resend-provider.ts"

/** The vendor's largest page. */
const PAGE_SIZE = 100
/** How deep an item may nest; the vendor's stay below five. */
const MAX_DEPTH = 20
const ID = /^[\x21-\x7e]{1,255}$/
const EVENT_NAME = /^[a-z0-9_.-]{1,100}$/i

const decodePage = Schema.decodeUnknownOption(
  Schema.Struct({
    data: Schema.Array(Schema.Unknown),
    has_more: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
  })
)

const cursorOf = (item: unknown): string | undefined => {
  const id = idOf(fieldsOf(item)["id"])
  return id !== undefined && ID.test(id) ? id : undefined
}

/** One item of `GET /emails`; undefined when it cannot be recorded. Total. */
export const decodeListItem = (item: unknown): ListedMail | undefined => {
  const fields = fieldsOf(item)
  const id = cursorOf(item)
  const lastEvent = textOf(fields["last_event"])
  if (id === undefined || lastEvent === undefined || !EVENT_NAME.test(lastEvent)) return undefined
  if (isDeeperThan(item, MAX_DEPTH)) return undefined
  return {
    id,
    lastEvent,
    sentAt: timeOf(fields["created_at"]),
    recipients: bareAddressesOf(["to", "cc", "bcc"].flatMap((field) => listOf(fields[field]))),
    from: bareAddressOf(fields["from"]),
    subject: textOf(fields["subject"]),
    raw: item
  }
}

const kindOf = (status: unknown, name: string, hasCursor: boolean): ListFailure["kind"] => {
  if (status === 429 || name.endsWith("_exceeded")) return "throttled"
  if (status === 401 || status === 403 || name.endsWith("_api_key")) return "refused"
  if (status === 400 || status === 404 || status === 422) return hasCursor ? "cursor" : "refused"
  return "unavailable"
}

const failureOf = (error: unknown, headers: unknown, hasCursor: boolean, secret: string): ListFailure => {
  const fields = fieldsOf(error)
  const name = textOf(fields["name"]) ?? ""
  return new ListFailure({
    kind: kindOf(fields["statusCode"], name, hasCursor),
    message: failureText(textOf(fields["message"]) ?? "the provider gave no reason", [secret]),
    retryAfterMs: retryAfterMs(fieldsOf(headers)["retry-after"], fieldsOf(headers)["date"])
  })
}

const pageOf = (data: unknown): MailPage | undefined => {
  const page = Option.getOrUndefined(decodePage(data))
  if (page === undefined) return undefined
  const mails = page.data.flatMap((item) => decodeListItem(item) ?? [])
  return {
    mails,
    unreadable: page.data.length - mails.length,
    next: page.has_more === true ? page.data.map(cursorOf).findLast((id) => id !== undefined) : undefined
  }
}

/** `GET /emails` through the SDK. The SDK returns its errors and neither retries nor times out; an interruption aborts. */
export const makeSentMails = (options: ResendOptions): SentMails["Service"] => {
  const apiKey = Redacted.value(options.apiKey)
  const client = makeClient(apiKey, options.baseUrl ?? VENDOR_URL, undefined, options.userAgent)
  return SentMails.of({
    page: (after) => {
      if (client === undefined) {
        return Effect.fail(new ListFailure({ kind: "unconfigured", message: "the API key is malformed" }))
      }
      const hasCursor = after !== undefined
      const cursor: PaginationOptions = hasCursor ? { after } : {}
      return Effect.tryPromise({
        try: (signal): Promise<unknown> => client.emails.list({ limit: PAGE_SIZE, ...cursor }, { signal }),
        catch: (cause) => failureOf(cause, undefined, hasCursor, apiKey)
      }).pipe(
        Effect.flatMap((answer) => {
          const { data, error, headers } = fieldsOf(answer)
          if (error !== null && error !== undefined) {
            return Effect.fail(failureOf(error, headers, hasCursor, apiKey))
          }
          const page = pageOf(data)
          return page === undefined
            ? Effect.fail(new ListFailure({ kind: "unavailable", message: "the answer is no list of mails" }))
            : Effect.succeed(page)
        })
      )
    }
  })
}

/** The list of the account that the key is of. */
export const layer = (options: ResendOptions): Layer.Layer<SentMails> =>
  Layer.succeed(SentMails, makeSentMails(options))
