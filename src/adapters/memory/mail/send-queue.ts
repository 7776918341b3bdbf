import { Clock, Effect } from "effect"

import { LogRowId, QueueId } from "../../../domain/ids.ts"
import { NO_LEASE } from "../../../domain/mail/claim.ts"
import { withinWindow } from "../../../domain/mail/failover.ts"
import type { QueueState } from "../../../domain/mail/queue.ts"
import { rateOf } from "../../../domain/mail/rate.ts"
import type { RecordSend } from "../../../ports/mail/mail-store.ts"
import {
  type PaceLimit,
  type QueueBatch,
  type Queued,
  type QueueEntry,
  type QueueLease,
  type QueueMove,
  QueueRefused,
  SendQueue
} from "../../../ports/mail/send-queue.ts"
import { beginRetry, beginSend, settleClaim } from "./claims.ts"
import {
  hashOfKey,
  holderOf,
  makeQueueTables,
  type QueueRow,
  rowOfRequest,
  SILENT_MS,
  timesFault
} from "./queue-tables.ts"
import { take, type Tables, tokens } from "./queue-take.ts"
import { overviewOf, upcomingOf } from "./queue-views.ts"
import { recordSend } from "./record-send.ts"
import type { MailTables } from "./tables.ts"

const shown = ({ id, key, sendAt, state }: QueueRow): Queued => ({
  id,
  idempotencyKey: key,
  state,
  sendAt
})

const withoutContent = (request: object | undefined): unknown => {
  if (request === undefined) return null
  const {
    attachments: _attachments,
    html: _html,
    text: _text,
    ...mail
  } = request as Readonly<Record<string, unknown>>
  return mail
}

const nextAttemptOf = ({ dueAt, state }: QueueRow): number | null =>
  state === "queued" || state === "deferred" ? (dueAt ?? null) : null

/** A live claim of another mail under the key. */
const isAnotherMails = (
  { mail }: Tables,
  row: QueueRow,
  { payloadHash }: QueueEntry,
  now: number
): boolean => {
  const claim = mail.claims.get(row.keyHash)
  return (
    row.isKeyHeld &&
    claim !== undefined &&
    claim.state !== "refused" &&
    claim.payloadHash !== "" &&
    claim.payloadHash !== payloadHash &&
    withinWindow(now - claim.lastAttemptAt)
  )
}

const conflict = new QueueRefused({
  why: "conflict",
  message: "IDEMPOTENCY_CONFLICT: the key was used with another request in the last 24 hours"
})

const isOfAnotherBatch = ({ queue }: Tables, key: string, hash: string, now: number): boolean => {
  const held = holderOf(queue, hashOfKey(key), now)
  return held !== undefined && held.batchHash !== hash
}

/** All or none. */
export const enqueue = (
  tables: Tables,
  entries: ReadonlyArray<QueueEntry>,
  now: number,
  batch?: QueueBatch
): ReadonlyArray<Queued> | QueueRefused => {
  const added: Array<QueueRow> = []
  const answers: Array<Queued> = []
  const undo = (why: QueueRefused) => {
    for (const { id } of added) tables.queue.rows.delete(id)
    return why
  }
  for (const [place, entry] of entries.entries()) {
    const row = rowOfRequest(entry, QueueId.make(tables.newId()), place, now, batch?.hash)
    if (row instanceof QueueRefused) return undo(row)
    if (isAnotherMails(tables, row, entry, now)) return undo(conflict)
    const held = row.isKeyHeld ? holderOf(tables.queue, row.keyHash, now) : undefined
    if (held === undefined) {
      tables.queue.rows.set(row.id, row)
      added.push(row)
      answers.push(shown(row))
    } else if (held.requestHash === row.requestHash && held.batchHash === row.batchHash)
      answers.push(shown(held))
    else return undo(conflict)
  }
  if (batch?.keys.some((key) => isOfAnotherBatch(tables, key, batch.hash, now))) return undo(conflict)
  return answers
}

const end = (row: QueueRow, state: QueueState, now: number) => {
  row.state = state
  row.dueAt = undefined
  row.endedAt = now
  row.lease = undefined
  row.request = undefined
  row.deferral = undefined
  row.tried = []
}

export const cancel = ({ mail, queue }: Tables, id: QueueId, now: number): QueueState | undefined => {
  const row = queue.rows.get(id)
  if (row?.state !== "queued") return row?.state
  const claim = mail.claims.get(row.keyHash)
  const isInHand =
    claim !== undefined &&
    withinWindow(now - claim.lastAttemptAt) &&
    (claim.state === "accepted" ||
      claim.state === "deferred" ||
      claim.ambiguous ||
      (claim.state === "held" && (claim.leaving || claim.leaseUntil > now)))
  if (isInHand) {
    row.dueAt = Math.min(row.dueAt ?? now, now)
    return row.state
  }
  row.isKeyHeld = false
  end(row, "cancelled", now)
  return row.state
}

const reschedule = Effect.fnUntraced(function* ({ queue }: Tables, id: QueueId, sendAt: string) {
  const now = yield* Clock.currentTimeMillis
  const row = queue.rows.get(id)
  if (row?.state !== "queued") return row?.state
  const at = Date.parse(sendAt)
  const fault = Number.isNaN(at)
    ? "sendAt: is no date in ISO 8601 with its time zone"
    : timesFault({ sendAt: at, expiresAt: row.expiresAt }, now)
  if (fault !== undefined) return yield* new QueueRefused({ why: "invalid", message: fault })
  const dueAt = Math.max(now, at)
  queue.rows.set(id, { ...row, sendAt: dueAt, dueAt })
  return row.state
})

/** Whether the request is still this sender's. One that asks lives: the loss of its lease was no death (`lock_queued_emails`). */
export const holds = ({ queue }: Tables, { id, lease }: QueueLease): boolean => {
  const row = queue.rows.get(id)
  if (row?.passedLease === lease) {
    row.deaths -= 1
    row.passedLease = undefined
  }
  return row?.lease === lease
}

const renew = (tables: Tables, held: ReadonlyArray<QueueLease>, leaseMs: number, now: number) => {
  const until = now + leaseMs
  const kept = held.filter((one) => holds(tables, one))
  for (const { id, lease } of kept) {
    const row = tables.queue.rows.get(id)
    const claim = row === undefined ? undefined : tables.mail.claims.get(row.keyHash)
    if (row !== undefined) row.dueAt = Math.max(row.dueAt ?? until, until)
    if (row === undefined || claim?.owner !== lease || claim.leaseUntil === NO_LEASE) continue
    const lastAttemptAt = claim.lastAttemptAt === claim.leaseUntil ? until : claim.lastAttemptAt
    tables.mail.claims.set(row.keyHash, { ...claim, leaseUntil: until, lastAttemptAt })
  }
  // What a dead sender left is as old as it is, and not behind all that waits.
  for (const row of tables.queue.rows.values())
    if (row.state === "sending" && row.dueAt !== undefined && row.dueAt <= now) row.dueAt = row.sendAt
  return new Set(kept.map(({ id }) => id))
}

const asAsked = ({ outcome, providerMessageId, rowId }: RecordSend) => ({
  sendId: rowId,
  status: outcome,
  providerMessageId
})

const written = (tables: Tables, { record, writesRow }: QueueMove, now: number) => {
  if (record === undefined) return undefined
  const recorded = writesRow ? recordSend(tables.mail, record, now) : asAsked(record)
  settleClaim(tables.mail, record, recorded, now)
  return recorded
}

export const move = (tables: Tables, asked: QueueMove, now: number) => {
  const row = tables.queue.rows.get(asked.id)
  if (row === undefined || !holds(tables, asked)) return undefined
  const recorded = written(tables, asked, now)
  row.attempts = asked.tried.length
  row.refusals = asked.refusals
  row.deaths = 0
  row.error = asked.error
  if (asked.frees) row.isKeyHeld = false
  if (asked.provider !== undefined) row.provider = asked.provider
  row.result =
    asked.result === null || recorded === undefined || !asked.writesRow
      ? asked.result
      : { ...asked.result, sendId: recorded.sendId }
  if (asked.state === "queued" || asked.state === "deferred") {
    row.state = asked.state
    row.lease = undefined
    row.dueAt = now + (asked.dueMs ?? 0)
    row.deferral = asked.deferral
    row.tried = asked.tried
  } else end(row, asked.state, now)
  return recorded ?? { sendId: LogRowId.make(asked.id), status: "sent" as const, providerMessageId: null }
}

export const heard = (
  { queue }: Tables,
  limit: PaceLimit,
  asked: number,
  said: { readonly ratePerSecond?: number | undefined; readonly holdMs?: number | undefined },
  now: number
) => {
  const pace = queue.paces.get(limit.provider)
  if (pace === undefined) {
    queue.paces.set(limit.provider, {
      freeAt: now + SILENT_MS,
      reservedAt: now + SILENT_MS,
      heldUntil: said.holdMs === undefined ? undefined : now + said.holdMs,
      rate: said.ratePerSecond,
      taken: 0
    })
    return
  }
  const rate = Math.max(rateOf(limit, said.ratePerSecond ?? pace.rate), 0.1)
  pace.freeAt = Math.min(
    Math.max(pace.freeAt, now) + (asked * 1000) / rate,
    Math.max(pace.freeAt, now + SILENT_MS)
  )
  pace.rate = said.ratePerSecond ?? pace.rate
  // What direct sends get while the provider is held prolongs nothing: without an end the queue would never get its own token.
  const isProlonged = asked > 0 && pace.heldUntil !== undefined && pace.heldUntil > now
  if (said.holdMs !== undefined && !isProlonged)
    pace.heldUntil = Math.max(pace.heldUntil ?? now, now + said.holdMs)
}

const atNow = <A>(decide: (now: number) => A) => Effect.map(Clock.currentTimeMillis, decide)

interface MemoryQueue {
  readonly queue: SendQueue["Service"]
  readonly queued: () => ReadonlyArray<QueueRow>
}

/** The send queue in memory, on the tables of the mail store: the model that the SQL is tested against. */
export const makeSendQueue = ({ tables: mail }: { readonly tables: MailTables }): MemoryQueue => {
  const queue = makeQueueTables()
  let made = 0
  const newId = () => `00000000-0000-4001-8000-${(made += 1).toString(16).padStart(12, "0")}`
  const tables: Tables = { mail, queue, newId }
  const service = SendQueue.of({
    enqueue: (entries, batch) =>
      Effect.flatMap(
        atNow((now) => enqueue(tables, entries, now, batch)),
        (answer) => (answer instanceof QueueRefused ? Effect.fail(answer) : Effect.succeed(answer))
      ),
    find: (id) =>
      Effect.sync(() => {
        const row = queue.rows.get(id)
        return row === undefined
          ? undefined
          : {
              ...shown(row),
              attempts: row.attempts,
              nextAttemptAt: nextAttemptOf(row),
              result: row.result,
              error: row.error,
              createdAt: row.createdAt,
              mail: withoutContent(row.request),
              sender: row.sender
            }
      }),
    cancel: (id) => atNow((now) => cancel(tables, id, now)),
    reschedule: (id, sendAt) => reschedule(tables, id, sendAt),
    take: (entry) => atNow((now) => take(tables, entry, now)),
    renew: (held, leaseMs) => atNow((now) => renew(tables, held, leaseMs, now)),
    begin: ({ held, ...entry }) =>
      atNow((now) =>
        holds(tables, held)
          ? beginSend(mail, entry, now)
          : {
              at: now,
              suppressions: [],
              decision: { _tag: "InProgress" },
              evidence: undefined,
              leaving: false
            }
      ),
    beginRetry: ({ held, ...entry }) =>
      atNow((now) => (holds(tables, held) ? beginRetry(mail, entry, now) : { _tag: "Busy" })),
    move: (asked) => atNow((now) => move(tables, asked, now)),
    token: (limit) =>
      atNow((now) => {
        if (limit.rate <= 0) return true
        const { count, firstAt, pace, spacing } = tokens(tables, limit, now)
        if (count === 0) return false
        pace.freeAt = Math.max(pace.freeAt, firstAt) + spacing
        pace.reservedAt = firstAt + 4 * spacing
        pace.taken += 1
        return true
      }),
    heard: (limit, asked, said) => atNow((now) => heard(tables, limit, asked, said, now)),
    overview: atNow((now) => overviewOf(queue, now)),
    upcoming: ({ category, limit }) => Effect.sync(() => upcomingOf(queue, category, limit)),
    pause: ({ actor, category, isPaused }) =>
      atNow((now) => {
        const scope = category ?? "*"
        if (queue.pauses.has(scope) === isPaused) return false
        if (isPaused) queue.pauses.set(scope, { actor, pausedAt: now })
        else queue.pauses.delete(scope)
        return true
      })
  })
  return { queue: service, queued: () => [...queue.rows.values()] }
}
