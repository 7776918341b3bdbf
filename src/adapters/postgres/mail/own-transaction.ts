import type { SendRequest } from "../../../domain/mail/message.ts"
import type { QueueState } from "../../../domain/mail/queue.ts"
import { asNotBegun, refusalOf } from "./queue-refusals.ts"

/** A mail to queue: as `sendEmail` takes it, and when it is sent. */
export interface EnqueueRequest extends Omit<SendRequest, "deferAfterMs" | "expiresAt" | "requireClaim"> {
  /** Not before this time, at most 30 days ahead; a text is ISO 8601 with its time zone. */
  readonly sendAt?: string | Date | undefined
  /** From then on the mail is worthless, and is not sent. */
  readonly expiresAt?: string | Date | undefined
}

/** The caller's connection: `pg` (a client or a pool), PGlite, or what takes statements in their way. */
interface QueryClient {
  readonly query: (text: string, values: Array<string | null>) => PromiseLike<unknown>
}

/** The caller's tag or transaction of `postgres`. */
interface TagClient {
  readonly unsafe: (text: string, values: Array<string | null>) => PromiseLike<unknown>
}

export type TransactionClient = QueryClient | TagClient

/** Where a call runs. */
export interface TransactionOptions {
  /** The statement runs on it and nowhere else: in its transaction where one is open. */
  readonly client: TransactionClient
}

/** A mail that is queued as soon as the caller's transaction commits. */
export interface Enqueued {
  readonly queueId: string
}

/** Texts are sent as texts: `postgres` would make JSON of a parameter that the server calls `jsonb`. */
export const ENQUEUE = "select enqueue_email($1::text::jsonb) as answer"
export const CANCEL = "select cancel_email($1::text::uuid) as answer"

const run = (client: TransactionClient, text: string, value: string | null): PromiseLike<unknown> => {
  const given: Partial<QueryClient & TagClient> = client ?? {}
  if (typeof given.query === "function") return given.query(text, [value])
  if (typeof given.unsafe === "function") return given.unsafe(text, [value])
  throw new TypeError(
    "client must be a client or pool of pg, PGlite, or a tag or transaction of postgres. With anything else run: select enqueue_email($1::jsonb)"
  )
}

/** The one value of an answer: `pg` and PGlite have `rows`, others give the rows alone. */
const answerOf = (given: unknown): unknown => {
  const rows: unknown = typeof given === "object" && given !== null && "rows" in given ? given.rows : given
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined
  return typeof row === "object" && row !== null && "answer" in row ? row.answer : undefined
}

/** Null where it is nothing that JSON knows: the database says that it is no request. */
export const requestText = (request: EnqueueRequest): string | null => JSON.stringify(request) ?? null

/** The database's refusal as an error that names the field; undefined where the error is another one. */
export const refusedAs = (request: EnqueueRequest, error: unknown) => {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined
  const message = "message" in error ? String(error.message) : ""
  const refused = refusalOf(String(error.code), message)
  return refused && asNotBegun(refused, request)
}

/**
 * Queues a mail in the caller's own transaction (QUEUE-1): it is sent if that transaction commits, and was never there if it rolls back. The one rule
 * for requests is the database's.
 *
 * Rejects, so that the transaction rolls back, with `InvalidRequest`, `IdempotencyConflict`, `IdempotencyInProgress` (another transaction that queues the
 * key is open, and the `lock_timeout` of this one is over), else with the driver's own error.
 *
 * @example
 * await sql.begin(async (sql) => {
 *   await sql`insert into orders (id) values (${id})`
 *   await enqueueEmail({ to, subject, html, category: "transactional", source: "shop", idempotencyKey: `order/${id}` }, { client: sql })
 * })
 */
export const enqueueEmail = async (
  request: EnqueueRequest,
  { client }: TransactionOptions
): Promise<Enqueued> => {
  try {
    return { queueId: String(answerOf(await run(client, ENQUEUE, requestText(request)))) }
  } catch (error) {
    throw refusedAs(request, error) ?? error
  }
}

/**
 * Cancels a queued mail in the caller's own transaction (QUEUE-6). Resolves to its state: `cancelled` if it will not be sent, another one if it is too
 * late and nothing was changed; undefined where there is none of that id.
 */
export const cancelEmail = async (
  queueId: string,
  { client }: TransactionOptions
): Promise<QueueState | undefined> =>
  ((await run(client, CANCEL, queueId).then(answerOf)) ?? undefined) as QueueState | undefined
