import { Console, Effect, Layer, Option, Record, Schedule } from "effect"
import { Command, Flag } from "effect/cli"

import * as EmailLog from "../../adapters/postgres/delivery/email-log-query.ts"
import type { EmailLogRow } from "../../domain/delivery/email-log-row.ts"
import { isUuid } from "../../domain/ids.ts"
import { append } from "../../domain/lists.ts"
import { Provider } from "../../domain/mail/provider.ts"
import { EmailStatus } from "../../domain/mail/status.ts"
import { Category, UNKNOWN_CATEGORY } from "../../domain/mail/suppression/policy.ts"
import { isMomentWithOffset } from "../../domain/moments.ts"
import type { InvalidCursor } from "../../ports/cursor.ts"
import {
  type EmailLogFilter,
  type EmailLogPage,
  EmailLogQuery,
  type ListedMail,
  MAX_EMAIL_LOG_PAGE
} from "../../ports/delivery/email-log-query.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { onDatabase } from "./installation.ts"
import { CommandFailed, print, telling, Json, Shell } from "./shell.ts"
import { type Column, layoutTable, type TableLayout, counted } from "./table.ts"

/** How often `--follow` looks. */
const FOLLOW_EVERY = "2 seconds"
/** How many pages back a look goes where much has arrived meanwhile. */
const FOLLOW_PAGES = 20
/** How many rows `--follow` remembers the status of. */
const FOLLOW_MEMORY = 10_000

const flags = {
  status: Flag.Literals("status", EmailStatus.literals).pipe(
    Flag.withDescription("Only rows of this status"),
    Flag.optional
  ),
  category: Flag.Literals("category", [...Category.literals, UNKNOWN_CATEGORY]).pipe(
    Flag.withDescription("Only rows of this category; unknown: mail that only events mention"),
    Flag.optional
  ),
  provider: Flag.Literals("provider", Provider.literals).pipe(
    Flag.withDescription("Only rows of this provider"),
    Flag.optional
  ),
  recipient: Flag.String("recipient").pipe(
    Flag.withAlias("r"),
    Flag.withDescription("Only mail to exactly this address, in any case"),
    Flag.optional
  ),
  subject: Flag.String("subject").pipe(
    Flag.withDescription("Only mail with this in its subject, in any case"),
    Flag.optional
  ),
  source: Flag.String("source").pipe(
    Flag.withDescription("Only mail of exactly this source, such as api:receipts"),
    Flag.optional
  ),
  tag: Flag.String("tag").pipe(Flag.withDescription("Only mail with a tag of this name"), Flag.optional),
  tagValue: Flag.String("tag-value").pipe(
    Flag.withDescription("With --tag: only where the tag has exactly this value"),
    Flag.optional
  ),
  byMail: Flag.Boolean("by-mail").pipe(
    Flag.withDescription(
      "Each idempotency key once, by its newest row; the other filters are about that row"
    ),
    Flag.withDefault(false)
  ),
  changedSince: Flag.String("changed-since").pipe(
    Flag.withDescription(
      "Rows that changed at this moment or later (2026-01-31T12:00:00Z), in the order of their changes; the end says from when to ask next"
    ),
    Flag.filter(isMomentWithOffset, () => "must be a moment, such as 2026-01-31T12:00:00Z"),
    Flag.optional
  ),
  key: Flag.String("key").pipe(
    Flag.withDescription("Only rows of exactly this idempotency key"),
    Flag.optional
  ),
  id: Flag.String("id").pipe(
    Flag.withDescription("Only the row of this id, the sendId of an answer"),
    Flag.filter(isUuid, () => "must be the id of a row, as an answer's sendId is"),
    Flag.optional
  ),
  messageId: Flag.String("message-id").pipe(
    Flag.withDescription("Only the row of this id of a provider"),
    Flag.optional
  ),
  limit: Flag.Int("limit").pipe(
    Flag.withAlias("n"),
    Flag.withDescription(`Rows of a page, 1 to ${MAX_EMAIL_LOG_PAGE}`),
    Flag.filter(
      (limit) => limit >= 1 && limit <= MAX_EMAIL_LOG_PAGE,
      () => `must be from 1 to ${MAX_EMAIL_LOG_PAGE}`
    ),
    Flag.withDefault(20)
  ),
  cursor: Flag.String("cursor").pipe(
    Flag.withDescription("Go on where a page ended; it prints the cursor"),
    Flag.optional
  ),
  all: Flag.Boolean("all").pipe(Flag.withDescription("All pages"), Flag.withDefault(false)),
  follow: Flag.Boolean("follow").pipe(
    Flag.withAlias("f"),
    Flag.withDescription(
      "Go on showing rows that arrive or change their status, oldest first; with --json one document a line"
    ),
    Flag.withDefault(false)
  )
}

/** A page of rows, or of changes. */
type Found = EmailLogPage & { readonly changedUntil?: string }

const COLUMNS: ReadonlyArray<Column<ListedMail>> = [
  { title: "TIME (UTC)", cell: ({ created_at }) => created_at.slice(0, 19).replace("T", " ") },
  {
    title: "STATUS",
    cell: ({ rows_of_mail: rows = 1, status }) => (rows === 1 ? status : `${status} (${rows} rows)`)
  },
  { title: "CATEGORY", cell: ({ category }) => category },
  {
    title: "PROVIDER",
    cell: ({ failed_over, provider }) => `${provider ?? "-"}${failed_over ? " (over)" : ""}`
  },
  { title: "TO", cell: ({ to_addresses }) => to_addresses.join(", "), flexible: true },
  { title: "SUBJECT", cell: ({ subject }) => subject ?? "-", flexible: true },
  { title: "ERROR", cell: ({ error }) => error ?? "", flexible: true }
]

/** What is asked for: the newest rows, or what has changed since a moment. */
type Asked = EmailLogFilter & { readonly changedSince?: string | undefined }

const page = Effect.fnUntraced(function* ({ changedSince, ...filter }: Asked) {
  const log = yield* EmailLogQuery
  const read: Effect.Effect<Found, StoreUnavailable | InvalidCursor> =
    changedSince === undefined ? log.page(filter) : log.changes({ ...filter, changedSince })
  return yield* read.pipe(
    Effect.catchTags({
      StoreUnavailable: (error) =>
        Effect.logDebug("the log does not answer", error).pipe(
          Effect.andThen(
            Effect.fail(new CommandFailed({ message: "The log does not answer now. See: postlane doctor" }))
          )
        ),
      InvalidCursor: () =>
        Effect.fail(
          new CommandFailed({ message: "unknown --cursor; use the one printed by the previous page" })
        )
    })
  )
})

const printRows = Effect.fnUntraced(function* (
  rows: ReadonlyArray<ListedMail>,
  known: TableLayout<ListedMail> | undefined
) {
  const { columns } = yield* Shell
  const table = known ?? layoutTable(COLUMNS, rows, columns)
  if (known === undefined && table.heading !== undefined) yield* Console.log(table.heading)
  for (const row of rows) yield* Console.log(table.line(row))
  return table
})

/** Says where the next look at the changes begins. */
const sayUntil = (changedUntil: string | undefined) =>
  changedUntil === undefined ? Effect.void : Console.error(`\nNext time: --changed-since ${changedUntil}`)

const onePage = Effect.fnUntraced(function* (filter: Asked) {
  const found = yield* page(filter)
  if (yield* Json) return yield* print({ json: found, text: "" })
  if (found.rows.length > 0) yield* printRows(found.rows, undefined)
  else if (found.stoppedAfter === undefined) yield* Console.error("No mail.")
  if (found.stoppedAfter !== undefined)
    yield* Console.error(
      `\nLooked through ${counted(found.stoppedAfter, "mail")}${found.stoppedAt === undefined ? "" : `, back to ${found.stoppedAt.slice(0, 10)}`}: no index answers what was asked for.`
    )
  if (found.nextCursor !== null) return yield* Console.error(`\nMore: --cursor ${found.nextCursor}`)
  return yield* sayUntil(found.changedUntil)
})

/** Page by page: memory does not grow with the log, not under `--json` either. */
const allPages = Effect.fnUntraced(function* (filter: Asked) {
  const json = yield* Json
  let table: TableLayout<ListedMail> | undefined
  let count = 0
  let cursor = filter.cursor
  let until: string | undefined
  if (json) yield* Console.log('{"rows":[')
  do {
    const found = yield* page({ ...filter, cursor, limit: MAX_EMAIL_LOG_PAGE })
    if (json) {
      for (const [index, row] of found.rows.entries())
        yield* Console.log(`${count + index === 0 ? "" : ","}${JSON.stringify(row)}`)
    } else if (found.rows.length > 0) table = yield* printRows(found.rows, table)
    count += found.rows.length
    cursor = found.nextCursor ?? undefined
    until = found.changedUntil
  } while (cursor !== undefined)
  if (json) {
    const end = JSON.stringify({ nextCursor: null, changedUntil: until })
    return yield* Console.log(`],${end.slice(1)}`)
  }
  yield* Console.error(`\n${counted(count, "mail")}`)
  return yield* sayUntil(until)
})

/** Where `--follow` began: what is older than its first page is news only once it has changed. */
interface Beginning {
  readonly oldest: string
  readonly changed: string
}

const beginningOf = ({ nextCursor, rows }: EmailLogPage): Beginning => ({
  oldest: nextCursor === null ? "" : (rows.at(-1)?.created_at ?? ""),
  changed: rows.reduce((latest, { updated_at }) => (updated_at > latest ? updated_at : latest), "")
})

const follow = Effect.fnUntraced(function* (filter: EmailLogFilter) {
  const json = yield* Json
  const seen = new Map<string, string>()
  let begun: Beginning | undefined
  let table: TableLayout<ListedMail> | undefined
  const isNews = ({ created_at, id, status, updated_at }: EmailLogRow) =>
    seen.has(id)
      ? seen.get(id) !== status
      : begun === undefined || created_at > begun.oldest || updated_at > begun.changed
  const look = Effect.gen(function* () {
    const first = seen.size === 0
    const fresh: Array<ListedMail> = []
    let cursor: string | undefined
    for (let pages = 0; pages < (first ? 1 : FOLLOW_PAGES); pages += 1) {
      const found = yield* page({ ...filter, cursor, limit: MAX_EMAIL_LOG_PAGE })
      append(fresh, found.rows.filter(isNews))
      begun ??= beginningOf(found)
      cursor = found.nextCursor ?? undefined
      // Below a page that is known to its last row, nothing new has arrived.
      if (cursor === undefined || found.rows.some(({ id }) => seen.has(id))) break
    }
    for (const { id, status } of fresh) {
      seen.delete(id)
      seen.set(id, status)
    }
    for (const id of seen.keys()) {
      if (seen.size <= FOLLOW_MEMORY) break
      seen.delete(id)
    }
    const rows = (first ? fresh.slice(0, filter.limit) : fresh).reverse()
    if (json) for (const row of rows) yield* Console.log(JSON.stringify(row))
    else if (rows.length > 0) table = yield* printRows(rows, table)
  })
  return yield* Effect.repeat(look, Schedule.spaced(FOLLOW_EVERY))
})

/** Says which flags cannot stand together. */
const faultOf = (input: Command.Command.Config.Infer<typeof flags>): string | undefined => {
  if (input.follow && (input.all || Option.isSome(input.cursor)))
    return "--follow shows what is newest: leave --all and --cursor out"
  if (input.follow && input.byMail) return "--follow shows rows: leave --by-mail out"
  if (Option.isSome(input.changedSince) && (input.follow || input.byMail))
    return "--changed-since lists rows by their changes: leave --follow and --by-mail out"
  return Option.isSome(input.tagValue) && Option.isNone(input.tag)
    ? "--tag-value is the value of a tag: name it with --tag"
    : undefined
}

/** `postlane log`. */
export const log = Command.make("log", flags, (input) =>
  telling(
    Effect.gen(function* () {
      const fault = faultOf(input)
      if (fault !== undefined) return yield* new CommandFailed({ message: fault })
      const { all, byMail, follow: follows, limit, ...optional } = input
      const given = Record.map(optional, Option.getOrUndefined) as Omit<Asked, "by" | "limit">
      const filter: Asked = { ...given, by: byMail ? "mail" : undefined, limit }
      const run = follows ? follow(filter) : all ? allPages(filter) : onePage(filter)
      yield* onDatabase(() => Effect.provide(run, Layer.fresh(EmailLog.layer)))
    })
  )
).pipe(
  Command.withDescription("Show the send log, newest first."),
  Command.withExamples([
    { command: "postlane log --status bounced --limit 50", description: "The newest bounces" },
    {
      command: "postlane log -r you@example.com --all --json",
      description: "All mail to one address, as JSON"
    },
    { command: "postlane log --key order-17", description: "What became of one key" },
    {
      command: "postlane log --by-mail --source api:receipts",
      description: "A line a mail, however often it was tried"
    },
    {
      command: "postlane log --changed-since 2026-01-31T12:00:00Z --all --json",
      description: "What became of mail since the last look"
    },
    { command: "postlane log --follow", description: "Watch" }
  ])
)
