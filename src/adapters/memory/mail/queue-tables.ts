import { createHash } from "node:crypto"

import { IdempotencyKey, KeyHash, type LeaseId, type QueueId } from "../../../domain/ids.ts"
import type { Attempt } from "../../../domain/mail/logged-attempt.ts"
import type { Provider } from "../../../domain/mail/provider.ts"
import { QUEUE_ORDER, type QueueState } from "../../../domain/mail/queue.ts"
import type { SendResult } from "../../../domain/mail/send-result.ts"
import { Category } from "../../../domain/mail/suppression/policy.ts"
import { type QueueEntry, QueueRefused } from "../../../ports/mail/send-queue.ts"

const DAY_MS = 24 * 3_600_000
const MOST_AHEAD_MS = 30 * DAY_MS
const MAX_REQUEST = 1_048_576
/** A token is given out as long before its time, and direct sends hold the queue back for as long, milliseconds. */
export const AHEAD_MS = 250
export const SILENT_MS = 1_000

/** A row of `email_send_queue`; times are milliseconds of the store's clock. */
export interface QueueRow {
  readonly id: QueueId
  readonly key: IdempotencyKey
  readonly keyHash: KeyHash
  isKeyHeld: boolean
  readonly requestHash: string
  /** Of the batch that it is part of. */
  readonly batchHash: string | undefined
  readonly category: Category
  provider: string
  readonly sendAt: number
  readonly expiresAt: number | undefined
  state: QueueState
  dueAt: number | undefined
  lease: LeaseId | undefined
  attempts: number
  refusals: number
  deaths: number
  passedLease: LeaseId | undefined
  firstTakenAt: number | undefined
  request: object | undefined
  deferral: string | undefined
  tried: ReadonlyArray<Attempt>
  error: string | null
  result: SendResult | null
  endedAt: number | undefined
  readonly createdAt: number
  readonly sender: string | null
}

/** The pace of a provider (`email_pace`). */
export interface Pace {
  freeAt: number
  reservedAt: number
  heldUntil: number | undefined
  rate: number | undefined
  taken: number
}

/** The tables of the queue. */
export interface QueueTables {
  readonly rows: Map<QueueId, QueueRow>
  readonly pauses: Map<string, { readonly actor: string; readonly pausedAt: number }>
  readonly paces: Map<Provider, Pace>
}

export const makeQueueTables = (): QueueTables => ({ rows: new Map(), pauses: new Map(), paces: new Map() })

const TIMES = new Set(["queue", "sendAt", "expiresAt", "requireClaim", "deferAfterMs", "idempotencyKey"])
const LISTS = new Set(["to", "cc", "bcc", "replyTo"])

const canonical = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(canonical)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, part]) => [name, canonical(part)])
        )
      : value

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

export const hashOfKey = (key: string): KeyHash => KeyHash.make(sha256(key))

/** What two requests for the same mail have in common (`queued_request_hash`). */
const requestHash = (request: object): string => {
  const parts = Object.entries(request).flatMap(
    ([name, value]): ReadonlyArray<readonly [string, unknown]> => {
      if (TIMES.has(name) || value === undefined) return []
      if (!LISTS.has(name)) return [[name, value]]
      if (Array.isArray(value) && value.length === 0) return []
      return [[name, Array.isArray(value) ? value : [value]]]
    }
  )
  return sha256(JSON.stringify(canonical(Object.fromEntries(parts))))
}

const textOf = (request: object, name: string): string | undefined => {
  const value: unknown = Reflect.get(request, name)
  return typeof value === "string" ? value : undefined
}

const refused = (why: QueueRefused["why"], message: string) => new QueueRefused({ why, message })

const isCategory = (value: unknown): value is Category => Category.literals.some((one) => one === value)

/** Drops absent members, which other languages write as null, or as [] for an empty object. */
const present = (request: object): object =>
  Object.fromEntries(
    Object.entries(request).filter(
      ([name, value]) =>
        value !== null && !(["tags", "headers"].includes(name) && Array.isArray(value) && value.length === 0)
    )
  )

/** What is wrong with the times of a request; undefined where nothing is. */
export const timesFault = (
  { expiresAt, sendAt }: { readonly expiresAt: number | undefined; readonly sendAt: number | undefined },
  now: number
): string | undefined => {
  if (sendAt !== undefined && sendAt > now + MOST_AHEAD_MS) return "sendAt: is more than 30 days ahead"
  return expiresAt !== undefined && expiresAt <= (sendAt ?? now)
    ? "expiresAt: must be after sendAt"
    : undefined
}

const momentOf = (request: object, name: string): number | undefined => {
  const at = Date.parse(textOf(request, name) ?? "")
  return Number.isNaN(at) ? undefined : at
}

/** The row of a request, or why it is refused; `place` counts from 0. */
export const rowOfRequest = (
  entry: QueueEntry,
  id: QueueId,
  place: number,
  now: number,
  batchHash?: string
): QueueRow | QueueRefused => {
  const request = present(entry.request)
  const at = (message: string) => refused("invalid", `emails.${place}.${message}`)
  const sendAt = momentOf(request, "sendAt")
  const expiresAt = momentOf(request, "expiresAt")
  const category: unknown = Reflect.get(request, "category")
  const fault = timesFault({ sendAt, expiresAt }, now)
  if (fault !== undefined) return at(fault)
  if (!isCategory(category)) return at("category: is needed")
  if (JSON.stringify(request).length > MAX_REQUEST)
    return refused("too large", `emails.${place}.the request has more than 1 MB, attachments included`)
  const chosen = textOf(request, "idempotencyKey")
  const key = IdempotencyKey.make(chosen ?? id)
  const dueAt = Math.max(now, sendAt ?? now)
  return {
    id,
    key,
    keyHash: hashOfKey(key),
    isKeyHeld: chosen !== undefined,
    requestHash: requestHash(request),
    batchHash,
    category,
    provider: textOf(request, "provider") ?? "",
    sendAt: dueAt,
    expiresAt,
    state: "queued",
    dueAt,
    lease: undefined,
    attempts: 0,
    refusals: 0,
    deaths: 0,
    passedLease: undefined,
    firstTakenAt: undefined,
    request,
    sender: entry.sender ?? null,
    deferral: undefined,
    tried: [],
    error: null,
    result: null,
    endedAt: undefined,
    createdAt: now
  }
}

/** The request that holds a key; one that ended a day ago holds it no longer. */
export const holderOf = ({ rows }: QueueTables, keyHash: KeyHash, now: number): QueueRow | undefined => {
  for (const row of rows.values()) {
    if (row.keyHash !== keyHash || !row.isKeyHeld) continue
    if (row.endedAt === undefined || row.endedAt >= now - DAY_MS) return row
    row.isKeyHeld = false
  }
  return undefined
}

/** The requests that are due at these providers, in the order in which they are taken: some of them the oldest, the rest by category. */
export const dueRows = (
  { pauses, rows }: QueueTables,
  providers: ReadonlyArray<string>,
  now: number
): ReadonlyArray<QueueRow & { readonly dueAt: number }> =>
  [...rows.values()]
    .filter(
      (row): row is QueueRow & { readonly dueAt: number } =>
        row.dueAt !== undefined &&
        row.dueAt <= now &&
        providers.includes(row.provider) &&
        !pauses.has("*") &&
        !pauses.has(row.category)
    )
    .sort((a, b) => a.dueAt - b.dueAt)

/** A request's place by its category. */
export const laneOf = ({ category }: QueueRow): number => QUEUE_ORDER.indexOf(category)
