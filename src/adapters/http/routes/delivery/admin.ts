import { Effect, Option, Record as Records, Schema, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import {
  EMAIL_LOG_CSV,
  type EmailLogRow,
  type EmailLogSearch
} from "../../../../domain/delivery/email-log-row.ts"
import { Provider } from "../../../../domain/mail/provider.ts"
import { EmailStatus } from "../../../../domain/mail/status.ts"
import {
  type EmailLogPage,
  EmailLogQuery,
  MAX_EMAIL_LOG_PAGE
} from "../../../../ports/delivery/email-log-query.ts"
import { DeferQueue, withoutContent } from "../../../../ports/mail/defer-queue.ts"
import { AdminAccess, CurrentPrincipal } from "../../server/access.ts"
import { type CsvColumns, csvResponse } from "../../server/csv.ts"
import { apiOf, cursor, DEFAULT_PAGE, filter, Moment, page } from "../../server/endpoint.ts"
import {
  invalidCursor,
  InvalidRequest,
  problem,
  problemSchema,
  Unavailable,
  unavailable
} from "../../server/problem.ts"
import { makePlaces, takePlace } from "../../server/rate-limit.ts"
import { search, searchOf } from "./log-search.ts"
import { ListedMail, logAway, mailStory, makeMailStoryHandler, NoSuchThing } from "./mail-story.ts"

const emailLog = HttpApiEndpoint.get("emailLog", "/api/admin/email-log", {
  query: {
    ...search,
    changedSince: filter(Moment),
    limit: page(DEFAULT_PAGE, MAX_EMAIL_LOG_PAGE),
    cursor
  },
  success: Schema.Struct({
    rows: Schema.Array(ListedMail),
    nextCursor: Schema.NullOr(Schema.String),
    stoppedAfter: Schema.optionalKey(Schema.Int),
    stoppedAt: Schema.optionalKey(Schema.String),
    changedUntil: Schema.optionalKey(Schema.String)
  }),
  error: [InvalidRequest, Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "The send log, newest first",
    description:
      "`recipient` matches To, Cc, Bcc and who was left out, exactly and ignoring case; `subject` matches a part; `id` (the `sendId`), `key` (the idempotency key) and `messageId` (the provider's id) match exactly; `search` is any of these or an address, exactly, and where no row has it a part of an address or of the subject; " +
      "`since` and `until` are the first and the last day, UTC. An empty filter counts as missing. " +
      "`source` and `tag` (with `tagValue`, where the value counts) match exactly. `by=mail` gives each idempotency key once: its newest row, which the filters are about, and " +
      "`rows_of_mail`. `changedSince` gives the rows that changed at that moment or later, in the order of their changes: take pages until `nextCursor` is null, and ask from `changedUntil` next time. " +
      "`retry_at` and `attempt_count`: when a deferred one is tried next, and how often it was tried in this send. " +
      "`stoppedAfter`: so many rows were read, back to `stoppedAt`, for what no index answers (a part of the subject or of an address, a source, a tag, mails, two of status, category and provider, filters of changes); `nextCursor` leads on behind them."
  })
)

/** The count of a long log stops here: it is shown, not billed. */
const MOST_COUNTED = 10_000

const emailLogCount = HttpApiEndpoint.get("emailLogCount", "/api/admin/email-log/count", {
  query: search,
  success: Schema.Struct({
    count: Schema.Int,
    more: Schema.Boolean,
    stoppedAfter: Schema.optionalKey(Schema.Int)
  }),
  error: [InvalidRequest, Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "How many rows of the send log match",
    description: `\`more\`: there may be more, since the count stops at ${MOST_COUNTED}, or where a page stops reading: after \`stoppedAfter\` rows.`
  })
)

/** The counts by status stop here: each is shown as more. */
const MOST_COUNTED_EACH = 1_000

const emailLogCounts = HttpApiEndpoint.get("emailLogCounts", "/api/admin/email-log/counts", {
  query: search,
  success: Schema.Struct({
    counts: Schema.Record(EmailStatus, Schema.Int),
    most: Schema.Int,
    stoppedAfter: Schema.optionalKey(Schema.Int)
  }),
  error: [InvalidRequest, Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "How many rows of the send log match, by status",
    description:
      "Whatever `status` is asked for. A count of `most` means that there are at least so many. `stoppedAfter`: so many of the newest rows were looked at, and no others, as for a category, a provider or a part of a subject."
  })
)

const emailLogCsv = HttpApiEndpoint.get("emailLogCsv", "/api/admin/email-log.csv", {
  query: search,
  success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/csv; charset=utf-8" })),
  error: [InvalidRequest, problemSchema("RATE_LIMITED", {}), Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "The send log as CSV, newest first, streamed",
    description:
      "Every row that matches. Cells that a spreadsheet would take for a formula begin with an apostrophe. A file that was cut short " +
      "ends with a broken connection. One at a time for each token or session, two in a process."
  })
)

const deadLetters = HttpApiEndpoint.get("deadLetters", "/api/admin/dead-letters", {
  query: { limit: page(DEFAULT_PAGE, MAX_EMAIL_LOG_PAGE) },
  success: Schema.Struct({
    deadLetters: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        diedAt: Schema.NullOr(Schema.String),
        receives: Schema.Int,
        reason: Schema.NullOr(Schema.String),
        idempotencyKey: Schema.NullOr(Schema.String),
        provider: Schema.NullOr(Provider),
        to: Schema.NullOr(Schema.Array(Schema.String)),
        subject: Schema.NullOr(Schema.String)
      })
    )
  }),
  error: [InvalidRequest, Unavailable]
}).annotate(OpenApi.Summary, "Queued retries that were received three times without an end")

const redrive = HttpApiEndpoint.post("redrive", "/api/admin/dead-letters/:id/redrive", {
  params: { id: Schema.String },
  success: Schema.Struct({ id: Schema.String, redriven: Schema.Literal(true) }),
  error: [NoSuchThing, Unavailable]
}).annotate(OpenApi.Summary, "Puts a dead letter back into the queue, due now")

/** A value in a cell. */
const cellOf = (value: EmailLogRow[(typeof EMAIL_LOG_CSV)[keyof typeof EMAIL_LOG_CSV]]): string | null => {
  if (value === null) return null
  return typeof value === "object" ? value.join("; ") : String(value)
}

const LOG_COLUMNS: CsvColumns<EmailLogRow> = Records.map(
  EMAIL_LOG_CSV,
  (column) => (row) => cellOf(row[column])
)

/** The send log (EVENT-60) and the dead letters (MAIL-54), for admins. */
export class AdminGroup extends HttpApiGroup.make("admin")
  .add(emailLog)
  .add(emailLogCount)
  .add(emailLogCounts)
  .add(emailLogCsv)
  .add(mailStory)
  .add(deadLetters)
  .add(redrive)
  .middleware(AdminAccess) {}

/** Exports of one process: each keeps a connection busy for as long as it runs. */
const EXPORTS = 2

const queueAway = unavailable("the retry queue does not answer", "The retry queue does not answer now")

/** The rows of a search as CSV: the first page is read before the answer begins, so that a log that is away is a 503. */
const csvOf = Effect.fnUntraced(function* (
  log: EmailLogQuery["Service"],
  wanted: EmailLogSearch,
  request: HttpServerRequest.HttpServerRequest
) {
  const pageAt = (place: string | undefined) =>
    log
      .page({ ...wanted, limit: MAX_EMAIL_LOG_PAGE, cursor: place })
      .pipe(Effect.catchTags({ StoreUnavailable: logAway, InvalidCursor: () => invalidCursor("log") }))
  const first = yield* pageAt(undefined)
  const pages = Stream.paginate<EmailLogPage, EmailLogPage, Effect.Error<ReturnType<typeof pageAt>>>(
    first,
    (read) =>
      read.nextCursor === null
        ? Effect.succeed([[read], Option.none()])
        : Effect.map(pageAt(read.nextCursor), (next) => [[read], Option.some(next)])
  )
  return csvResponse(
    "email-log",
    request,
    LOG_COLUMNS,
    Stream.map(pages, ({ rows }) => rows)
  )
})

/** Admin reads of the send log, and the dead letters of the retry queue. */
export const adminHandlers = HttpApiBuilder.group(
  apiOf(AdminGroup),
  "admin",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* EmailLogQuery
    const queue = yield* DeferQueue
    const storyOf = yield* makeMailStoryHandler
    const exporting = makePlaces(1, "export", EXPORTS)
    return handlers.handleAll({
      emailLog: Effect.fnUntraced(function* ({ query }) {
        const { changedSince } = query
        const wanted = {
          ...(yield* searchOf(query)),
          cursor: query.cursor,
          limit: query.limit ?? DEFAULT_PAGE
        }
        const read = changedSince ? log.changes({ ...wanted, changedSince }) : log.page(wanted)
        return yield* Effect.catchTags(read, {
          StoreUnavailable: logAway,
          InvalidCursor: () => invalidCursor("log")
        })
      }),
      emailLogCount: Effect.fnUntraced(function* ({ query }) {
        const { count, ...stopped } = yield* log
          .count(yield* searchOf(query), MOST_COUNTED + 1)
          .pipe(Effect.catchTag("StoreUnavailable", logAway))
        const more = count > MOST_COUNTED || stopped.stoppedAfter !== undefined
        return { count: Math.min(count, MOST_COUNTED), more, ...stopped }
      }),
      emailLogCounts: Effect.fnUntraced(function* ({ query }) {
        const { counts: found, ...stopped } = yield* log
          .counts(yield* searchOf(query), MOST_COUNTED_EACH)
          .pipe(Effect.catchTag("StoreUnavailable", logAway))
        const counts = Object.fromEntries(
          EmailStatus.literals.map((status) => [status, found.get(status) ?? 0])
        ) as Record<EmailStatus, number>
        return { counts, most: MOST_COUNTED_EACH, ...stopped }
      }),
      emailLogCsv: Effect.fnUntraced(function* ({ query, request }) {
        const { actor } = yield* CurrentPrincipal
        yield* takePlace(exporting, actor)
        return yield* csvOf(log, yield* searchOf(query), request)
      }),
      mailStory: ({ params: { sendId } }) => storyOf(sendId),
      deadLetters: ({ query }) =>
        queue.deadLetters({ limit: query.limit ?? DEFAULT_PAGE }).pipe(
          Effect.map((letters) => ({ deadLetters: letters.map(withoutContent) })),
          Effect.catch(queueAway)
        ),
      redrive: Effect.fnUntraced(function* ({ params: { id } }) {
        const found = yield* queue.redrive(id).pipe(Effect.catch(queueAway))
        if (!found) return yield* Effect.fail(problem("NOT_FOUND", "There is no dead letter of this id"))
        return { id, redriven: true as const }
      })
    })
  })
)
