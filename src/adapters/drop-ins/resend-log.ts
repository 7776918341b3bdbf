import { Effect, Result } from "effect"

import type { EmailLogRow } from "../../domain/delivery/email-log-row.ts"
import { isUuid, QueueId } from "../../domain/ids.ts"
import type { QueueState } from "../../domain/mail/queue.ts"
import type { EmailStatus } from "../../domain/mail/status.ts"
import type { EmailLogQuery } from "../../ports/delivery/email-log-query.ts"
import type { QueuedMail, SendQueue } from "../../ports/mail/send-queue.ts"
import { failure, notTaken, type ResendAnswer, success } from "./resend-answers.ts"
import { renamed } from "./resend-request.ts"
import { type Env, storesAway, type UseStores } from "./resend-stores.ts"

/** A mail of the list, in the words of Resend's SDK. */
interface ListedEmail {
  readonly id: string
  readonly to: Array<string>
  /** The log keeps copies and blind copies together, under `bcc`. */
  readonly cc: null
  readonly bcc: Array<string> | null
  readonly from: string
  readonly subject: string
  readonly created_at: string
  readonly last_event: ResendEvent
  /** Not kept: empty. */
  readonly message_id: string
  readonly reply_to: null
  /** Of a mail that waits in the send queue. */
  readonly scheduled_at: string | null
}

/** One mail. Bodies are not kept. */
export interface LoggedEmail extends ListedEmail {
  readonly object: "email"
  readonly html: null
  readonly text: null
}

export interface LoggedEmails {
  readonly object: "list"
  readonly has_more: boolean
  readonly data: Array<ListedEmail>
}

/** Which page: at most one of `after` (older ones) and `before` (newer ones). */
export interface ResendListOptions {
  readonly limit?: number | undefined
  readonly after?: string | undefined
  readonly before?: string | undefined
}

const EVENTS = {
  deferred: "queued",
  sent: "sent",
  delivery_delayed: "delivery_delayed",
  delivered: "delivered",
  opened: "opened",
  clicked: "clicked",
  suppressed: "suppressed",
  failed: "failed",
  bounced: "bounced",
  complained: "complained"
} as const satisfies Record<EmailStatus, string>
/** A mail of the queue that has no row in the log yet, or never gets one since it was cancelled. */
const QUEUED = {
  queued: "queued",
  sending: "queued",
  deferred: "queued",
  sent: "sent",
  suppressed: "suppressed",
  failed: "failed",
  cancelled: "canceled"
} as const satisfies Record<QueueState, string>
type ResendEvent = (typeof EVENTS)[EmailStatus] | (typeof QUEUED)[QueueState] | "scheduled"

const listedOf = (row: EmailLogRow): ListedEmail => ({
  id: row.id,
  to: [...row.to_addresses],
  cc: null,
  bcc: row.other_addresses.length === 0 ? null : [...row.other_addresses],
  from: row.from_address ?? "",
  subject: row.subject ?? "",
  created_at: row.created_at,
  last_event: EVENTS[row.status],
  message_id: "",
  reply_to: null,
  scheduled_at: null
})

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

/** The row of an id that a send answered, else of the provider's own, which its webhooks name. */
const rowOf = Effect.fnUntraced(function* (log: EmailLogQuery["Service"], id: string) {
  const own = isUuid(id) ? (yield* log.page({ id, limit: 1 })).rows[0] : undefined
  return own ?? (yield* log.page({ messageId: id, limit: 1 })).rows[0]
})

const member = (mail: unknown, name: string): unknown =>
  typeof mail === "object" && mail !== null ? Reflect.get(mail, name) : undefined

const textsOf = (value: unknown): Array<string> => [value].flat().filter((one) => typeof one === "string")

const queuedOf = ({ createdAt, id, mail, sendAt, state }: QueuedMail): ListedEmail => {
  const isLater = state === "queued" && sendAt > createdAt
  const copies = [...textsOf(member(mail, "cc")), ...textsOf(member(mail, "bcc"))]
  return {
    id,
    to: textsOf(member(mail, "to")),
    cc: null,
    bcc: copies.length === 0 ? null : copies,
    from: textsOf(member(mail, "from")).join(""),
    subject: textsOf(member(mail, "subject")).join(""),
    created_at: new Date(createdAt).toISOString(),
    last_event: isLater ? "scheduled" : QUEUED[state],
    message_id: "",
    reply_to: null,
    scheduled_at: isLater ? new Date(sendAt).toISOString() : null
  }
}

export const notFound = () => failure("not_found", 404, "Email not found")

/** What is wrong with the page that was asked for. */
const wrongPage = ({ after, before, limit = DEFAULT_LIMIT, ...others }: ResendListOptions) => {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `${unknown} is not known here; known are limit, after, before`
  if (after !== undefined && before !== undefined) return "after and before are not taken together"
  return Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT
    ? undefined
    : `limit must be a whole number from 1 to ${MAX_LIMIT}`
}

const pageOf = Effect.fnUntraced(function* (log: EmailLogQuery["Service"], options: ResendListOptions) {
  const { after, before, limit = DEFAULT_LIMIT } = options
  const place = after ?? before
  if (place === undefined) {
    const { nextCursor, rows } = yield* log.page({ limit })
    return { rows, hasMore: nextCursor !== null }
  }
  const row = yield* rowOf(log, place)
  return row === undefined
    ? undefined
    : yield* log.beside({ id: row.id, limit, side: after === undefined ? "newer" : "older" })
})

/** Finds a mail in the send log, or else in the queue. */
export const findEmail = Effect.fnUntraced(function* (
  { log, queue }: { readonly log: EmailLogQuery["Service"]; readonly queue: SendQueue["Service"] },
  id: string
) {
  const row = yield* rowOf(log, id)
  const queued = row === undefined && isUuid(id) ? yield* queue.find(QueueId.make(id)) : undefined
  const found = row === undefined ? queued && queuedOf(queued) : listedOf(row)
  return found && ({ object: "email", ...found, html: null, text: null } satisfies LoggedEmail)
})

/** The SDK's options for a request: headers and a signal. The log is read without a request, so that they have no effect. */
export type ResendReadOptions = object

/** `emails.get` and `emails.list`, from the send log; `get` looks into the queue, too. */
export const makeSentEmails = (useStores: UseStores, env: () => Env) => ({
  get: async (id: string, given: ResendReadOptions = {}): Promise<ResendAnswer<LoggedEmail>> => {
    const asked = renamed(given, [])
    if (Result.isFailure(asked)) return notTaken(asked.failure)
    const read = await useStores(env(), (stores) => findEmail(stores, id))
    if (Result.isFailure(read)) return storesAway(read.failure)
    const email = read.success
    return email === undefined ? notFound() : success(email)
  },
  list: async (
    options: ResendListOptions = {},
    given: ResendReadOptions = {}
  ): Promise<ResendAnswer<LoggedEmails>> => {
    const asked = renamed(given, [])
    const wrong = Result.isFailure(asked) ? asked.failure : wrongPage(options)
    if (wrong !== undefined) return notTaken(wrong)
    const read = await useStores(env(), ({ log }) => pageOf(log, options))
    if (Result.isFailure(read)) return storesAway(read.failure)
    const page = read.success
    return page === undefined
      ? notFound()
      : success({ object: "list", has_more: page.hasMore, data: page.rows.map(listedOf) })
  }
})
