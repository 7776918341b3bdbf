import { Effect, type Exit, Layer, Result, Schema } from "effect"

import { LogRowId, QueueId } from "../../../domain/ids.ts"
import { QueueState } from "../../../domain/mail/queue.ts"
import type { Category } from "../../../domain/mail/suppression/policy.ts"
import type { ProviderPace } from "../../../ports/mail/mail-provider.ts"
import type { BeganSend } from "../../../ports/mail/mail-store.ts"
import {
  type Moved,
  type PaceLimit,
  type QueueBatch,
  type QueueEntry,
  type QueueLease,
  type QueueMove,
  type QueueRefused,
  SendQueue,
  type TakeQueued
} from "../../../ports/mail/send-queue.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { decoder, inOrder } from "../batch-answers.ts"
import { makeBatcher } from "../batcher.ts"
import { SendSql, WriteSql } from "../client.ts"
import { isAboutData, sqlStateOf, statements, storeUnavailable } from "../statement.ts"
import { toJsonText } from "../values.ts"
import {
  AT,
  claimEntryOf,
  type ClaimedBegin,
  decodeBegan,
  RetryRow,
  retryEntryOf,
  toRetry
} from "./claim-rows.ts"
import { refusalOf } from "./queue-refusals.ts"
import { toEntry } from "./send-entry.ts"
import { MailRow, MovedRow, Overview, QueuedRow, TakenRow, toTaken, UpcomingRow } from "./send-queue-rows.ts"

/** Repeating one of these changes nothing more. */
const ask = statements({ repeatable: true })
const writes = statements()
/** Counts all that waits. */
const slow = statements({ repeatable: true, within: "10 seconds" })

const refused = (error: StoreUnavailable): QueueRefused | StoreUnavailable =>
  refusalOf(sqlStateOf(error), error.reason) ?? error

const leaseOf = ({ id, lease }: QueueLease) => ({ queue_id: id, lease })

/** Begun sends of the queue, as one statement. */
const begins = (send: SendSql["Service"]) =>
  makeBatcher<ClaimedBegin & { readonly held: QueueLease }, BeganSend, StoreUnavailable>({
    isAboutItem: isAboutData,
    onOverflow: () => storeUnavailable("begin")("too many claims wait"),
    run: (items) => {
      const entries = toJsonText(items.map((item) => ({ ...claimEntryOf(item), ...leaseOf(item.held) })))
      return Effect.map(
        ask.unread(
          "begin",
          send`select b.*, ${send.literal(AT)} from begin_queued_emails(${entries}::jsonb) as b`
        ),
        (rows) => inOrder(rows, items.length, "begin", decodeBegan)
      )
    }
  })

const goesOn = ({ state }: QueueMove) => state === "queued" || state === "deferred"

const moveEntry = (move: QueueMove) => {
  const settles = move.writesRow || move.record?.settle === undefined ? undefined : toEntry(move.record)
  return {
    ...leaseOf(move),
    state: move.state,
    due_ms: move.dueMs,
    provider: move.provider,
    deferral: move.deferral,
    defers: move.record?.outcome === "deferred",
    tried: goesOn(move) ? move.tried : undefined,
    attempts: move.tried.length,
    refusals: move.refusals,
    error: move.error,
    result: move.result,
    frees: move.frees,
    unasked: move.isUnasked,
    settle: settles && {
      id: settles.id,
      key_hash: settles.key_hash,
      key_tag: settles.key_tag,
      settle: settles.settle
    }
  }
}

/** The row that a move writes, if any, with the place of the move. */
const rowEntries = ({ record, writesRow }: QueueMove, index: number) =>
  writesRow && record !== undefined ? [{ ...toEntry(record), place: index + 1 }] : []

const decodeMoved = decoder(MovedRow, "move")

const toMoved =
  (items: ReadonlyArray<QueueMove>) =>
  (row: unknown, index: number): Result.Result<Moved, StoreUnavailable> =>
    Result.map(decodeMoved(row), ({ held, providerMessageId, sendId, status }): Moved => {
      const record = items[index]?.record
      if (!held) return undefined
      return {
        sendId: sendId ?? record?.rowId ?? LogRowId.make(items[index]?.id ?? ""),
        status: status ?? record?.outcome ?? "sent",
        providerMessageId: providerMessageId ?? record?.providerMessageId ?? null
      }
    })

/** Moves of requests, as one statement. */
const moves = (write: WriteSql["Service"]) =>
  makeBatcher<QueueMove, Moved, StoreUnavailable>({
    isAboutItem: isAboutData,
    onOverflow: () => storeUnavailable("move")("too many requests wait to be written"),
    run: (items) => {
      const entries = toJsonText(items.map(moveEntry))
      const rows = toJsonText(items.flatMap(rowEntries))
      return Effect.map(
        ask.unread("move", write`select * from end_queued_emails(${entries}::jsonb, ${rows}::jsonb)`),
        (answers): ReadonlyArray<Exit.Exit<Moved, StoreUnavailable>> =>
          inOrder(answers, items.length, "move", toMoved(items))
      )
    }
  })

const COLUMNS = `id, idempotency_key, state, send_at, attempts,
  case when state in ('queued', 'deferred') then due_at end as next_attempt_at, error`

/** What callers do. */
const forCallers = (send: SendSql["Service"], write: WriteSql["Service"]) => ({
  enqueue: (entries: ReadonlyArray<QueueEntry>, batch?: QueueBatch) => {
    const asked = toJsonText(
      entries.map(({ payloadHash, request, sender }) => ({ request, payload_hash: payloadHash, sender }))
    )
    return writes
      .rows(
        "enqueue",
        QueuedRow,
        write`select id, idempotency_key, state, send_at from enqueue_emails(${asked}::jsonb, ${batch?.hash ?? null}::text, ${batch?.keys ?? null}::text[]) order by ordinal`
      )
      .pipe(Effect.mapError(refused))
  },
  find: (id: QueueId) =>
    ask.first(
      "find",
      MailRow,
      send`select ${send.literal(COLUMNS)}, result, created_at, sender,
        request - array['html', 'text', 'attachments'] as mail from email_send_queue where id = ${id}::uuid`
    ),
  cancel: (id: QueueId, actor?: string) =>
    Effect.map(
      ask.answer(
        "cancel",
        Schema.NullOr(QueueState),
        write`select cancel_queued_email(${id}::uuid, ${actor ?? null}::text) as answer`
      ),
      (state) => state ?? undefined
    ),
  reschedule: (id: QueueId, sendAt: string) =>
    ask
      .answer(
        "reschedule",
        Schema.NullOr(QueueState),
        write`select reschedule_queued_email(${id}::uuid, ${sendAt}) as answer`
      )
      .pipe(
        Effect.map((state) => state ?? undefined),
        Effect.mapError(refused)
      )
})

/** What senders do, one request at a time aside. */
const forSenders = (write: WriteSql["Service"]) => ({
  take: ({ leaseMs, limit, paces, primary }: TakeQueued) => {
    const asked = toJsonText(paces.map((pace) => ({ ...pace, primary: pace.provider === primary })))
    return Effect.map(
      writes.rows(
        "take",
        TakenRow,
        write`select * from take_queued_emails(${asked}::jsonb, ${limit}::integer, make_interval(secs => ${leaseMs / 1000}::float8))`
      ),
      toTaken
    )
  },
  renew: (held: ReadonlyArray<QueueLease>, leaseMs: number) => {
    const asked = toJsonText(held.map(leaseOf))
    return Effect.map(
      ask.rows(
        "renew",
        Schema.Struct({ id: QueueId }),
        write`select id from renew_queued_emails(${asked}::jsonb, make_interval(secs => ${leaseMs / 1000}::float8)) as x(id)`
      ),
      (rows) => new Set(rows.map(({ id }) => id))
    )
  },
  token: ({ least, most, provider, rate }: PaceLimit) =>
    writes.answer(
      "token",
      Schema.Boolean,
      write`select take_email_token(${provider}, ${rate}::float8, ${least}::float8, ${most}::float8) as answer`
    ),
  heard: (
    { least, most, provider, rate }: PaceLimit,
    asked: number,
    { holdMs, ratePerSecond }: ProviderPace
  ) =>
    writes.done(
      "heard",
      write`select hear_email_provider(${provider}, ${asked}::integer, ${rate}::float8, ${least}::float8, ${most}::float8, ${ratePerSecond ?? null}::float8, ${holdMs ?? null}::float8)`
    )
})

/** What people see and do. */
const forPeople = (send: SendSql["Service"], write: WriteSql["Service"]) => ({
  overview: slow.answer("overview", Overview, send`select email_queue_overview() as answer`),
  upcoming: ({ category, limit }: { readonly category: Category | undefined; readonly limit: number }) =>
    slow.rows(
      "upcoming",
      UpcomingRow,
      send`select ${send.literal(COLUMNS)}, category, request ->> 'subject' as subject,
        case jsonb_typeof(request -> 'to') when 'array' then request -> 'to' else jsonb_build_array(request -> 'to') end as to
        from email_send_queue where due_at is not null and (${category ?? null}::text is null or category = ${category ?? null}::text)
        order by due_at, id limit ${limit}::integer`
    ),
  pause: ({
    actor,
    category,
    isPaused
  }: {
    readonly category: Category | undefined
    readonly actor: string
    readonly isPaused: boolean
  }) =>
    writes.answer(
      "pause",
      Schema.Boolean,
      write`select pause_email_queue(${category ?? null}::text, ${actor}, ${isPaused}) as answer`
    )
})

const make = Effect.gen(function* () {
  const send = yield* SendSql
  const write = yield* WriteSql
  return SendQueue.of({
    ...forCallers(send, write),
    ...forSenders(write),
    ...forPeople(send, write),
    begin: yield* begins(send),
    beginRetry: ({ held, ...entry }) => {
      const asked = toJsonText({ ...retryEntryOf(entry), ...leaseOf(held) })
      return Effect.flatMap(
        ask.one(
          "beginRetry",
          RetryRow,
          send`select r.*, ${send.literal(AT)} from begin_queued_retry(${asked}::jsonb) as r`
        ),
        (row) => Effect.fromResult(toRetry(row))
      )
    },
    move: yield* moves(write)
  })
})

/** The send queue on PostgreSQL. Begins and moves are batched. */
export const layer: Layer.Layer<SendQueue, never, SendSql | WriteSql> = Layer.effect(SendQueue, make)
