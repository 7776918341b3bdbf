import {
  makeQueueTables,
  type QueueRow,
  rowOfRequest
} from "../../../src/adapters/memory/mail/queue-tables.ts"
import type { Tables } from "../../../src/adapters/memory/mail/queue-take.ts"
import { type LogRow, makeMailTables } from "../../../src/adapters/memory/mail/tables.ts"
import type { QueuedWork } from "../../../src/application/send-queue/queued-work.ts"
import {
  IdempotencyKey,
  type KeyHash,
  KeyTag,
  type LeaseId,
  LogRowId,
  QueueId
} from "../../../src/domain/ids.ts"
import { type Claim, isLeased } from "../../../src/domain/mail/claim.ts"
import type { SendDetails } from "../../../src/domain/mail/deferred-send.ts"
import type { FailureKind, Route } from "../../../src/domain/mail/failover.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import type { RecordSend } from "../../../src/ports/mail/mail-store.ts"
import { type QueueMove, QueueRefused, type TakenMail } from "../../../src/ports/mail/send-queue.ts"

const HOUR_MS = 3_600_000

/** The moments of a request: it was queued long before its time; its time; its age is over. */
const QUEUED_AT = 0
export const MOMENTS = [40 * HOUR_MS, 42 * HOUR_MS] as const
/** Less than a day, so that its key outlives it. */
export const MAX_AGE_MS = HOUR_MS
export const LEASE_MS = 12_000

export const ID = QueueId.make("00000000-0000-4000-8000-000000000001")
export const KEY = IdempotencyKey.make("key")
const REQUEST = { category: "transactional", idempotencyKey: KEY, sendAt: new Date(MOMENTS[0]).toISOString() }
/** What the caller asks for, once and again. */
export const ENTRY = { request: REQUEST, payloadHash: "mail" }
const FIRST = rowOfRequest(ENTRY, ID, 0, QUEUED_AT)
if (FIRST instanceof QueueRefused) throw FIRST
export const ROW: QueueRow = FIRST
export const HASH: KeyHash = ROW.keyHash
export const TAG = KeyTag.make("0".repeat(64))
export const DETAILS: SendDetails = {
  category: "transactional",
  source: "model",
  from: "a@x.test",
  to: ["b@x.test"],
  others: [],
  subject: "model",
  idempotencyKey: KEY,
  keyHash: HASH,
  keyTag: TAG
}
export const SEND = { rowId: LogRowId.make(ID), details: DETAILS }
export const DIRECT = { rowId: LogRowId.make("direct"), details: DETAILS }

/** A request that left for a provider. */
export interface Request {
  readonly provider: Provider
  readonly isQueues: boolean
  /** Of the mail that is queued, and not of another one under its key. */
  readonly isSame: boolean
  readonly accepted: boolean
  /** A copy left because of it. */
  readonly copy: boolean
  readonly heard: "accepted" | FailureKind | "nothing"
  /** A delivery event of it was recorded. */
  readonly told: boolean
}

/** What a sender, or a direct call, does with the key. */
interface Attempting {
  /** Its lease is over, as its clock tells. */
  readonly isStalled: boolean
  readonly route: Route
  /** An earlier attempt on the key was ambiguous. */
  readonly isDoubtful: boolean
  /** How many requests there were when its claim committed. */
  readonly since: number
  /** The request that it waits for; -1 where it asked for none. */
  readonly asked: number
  /** The last attempt's own answer, where it was none that accepts. */
  readonly ownKind: FailureKind | undefined
}

/** One of the two processes that send. */
export interface Sender extends Attempting {
  readonly phase: "idle" | "taken" | "ask" | "wait" | "move" | "write"
  readonly mail: TakenMail | undefined
  readonly takenAt: number
  /** What is left to write. */
  readonly move: QueueMove | undefined
  readonly record: RecordSend | undefined
  /** It writes again what it got no answer for. */
  readonly isAgain: boolean
  /** The acceptance that its process remembers. */
  readonly knows: SendResult | undefined
}

/** A call of the same key beside the queue. */
export interface Direct extends Attempting {
  readonly phase: "none" | "new" | "ask" | "wait" | "move" | "end" | "done"
  readonly result: SendResult | undefined
}

/** Everything there is. Nothing of it is ever changed in place. */
export interface State {
  readonly moment: number
  readonly row: QueueRow
  readonly claim: Claim | undefined
  readonly log: ReadonlyArray<LogRow>
  readonly senders: ReadonlyArray<Sender>
  readonly direct: Direct
  readonly requests: ReadonlyArray<Request>
  /** What may still happen. */
  readonly crashes: number
  readonly stalls: number
  readonly refusals: number
  readonly lost: number
  readonly cancels: number
  readonly ages: number
  readonly events: number
}

export const nowOf = ({ moment }: State): number => MOMENTS[moment]!

export const ENDED: ReadonlyArray<string> = ["sent", "suppressed", "failed", "cancelled"]
export const hasEnded = ({ row }: State): boolean => ENDED.includes(row.state)

export const IDLE: Sender = {
  phase: "idle",
  mail: undefined,
  takenAt: 0,
  move: undefined,
  record: undefined,
  isAgain: false,
  knows: undefined,
  isStalled: false,
  route: { first: "provider_a", fallback: undefined },
  isDoubtful: false,
  since: 0,
  asked: -1,
  ownKind: undefined
}

/** The store's tables in this state; leases are named anew, by what no one holds. */
export const tablesOf = (state: State): Tables => {
  const { claim, log, row, senders } = state
  const held = new Set([row.lease, row.passedLease, claim?.owner, ...senders.map(({ mail }) => mail?.lease)])
  const free = ["l0", "l1", "l2", "l3", "l4", "l5"].find((name) => !held.has(name as LeaseId)) ?? "l6"
  const mail = { ...makeMailTables(), rows: [...log] }
  if (claim !== undefined) mail.claims.set(HASH, claim)
  const queue = makeQueueTables()
  queue.rows.set(ID, { ...row })
  return { mail, queue, newId: () => free }
}

/** The state once the store has changed its tables. */
export const stored = (state: State, { mail, queue }: Tables): State => ({
  ...state,
  row: queue.rows.get(ID)!,
  claim: mail.claims.get(HASH),
  log: mail.rows
})

/** What the sender's program knows of the request that it took. */
export const workOf = (mail: TakenMail, takenAt: number): QueuedWork => ({
  mail: { ...mail, tried: [] },
  takenAt,
  goodUntil: 0,
  renewedAt: 0,
  next: undefined,
  retryAfterMs: undefined,
  refusals: mail.refusals,
  isHeard: true,
  unwritten: undefined,
  isMoved: false,
  isUnasked: false,
  isAsked: true
})

const deferralTexts = new Map<string, string>()

/** What tells a deferral from another one. */
const deferralText = (deferral: string | undefined): string => {
  if (deferral === undefined) return ""
  const text = deferralTexts.get(deferral) ?? deferral.match(/"attempt":\d|"provider":"\w+"/g)!.join("")
  deferralTexts.set(deferral, text)
  return text
}

const resultText = (result: SendResult | null | undefined): string =>
  result === null || result === undefined
    ? ""
    : `${result.status}${result.status === "failed" ? result.kind : ""}${result.provider}`

const requestText = ({ accepted, copy, heard, isQueues, provider, told }: Request): string =>
  `${provider}${isQueues ? "q" : "d"}${accepted ? "a" : ""}${copy ? "1" : ""}${told ? "t" : ""}${heard}`

/** A request that was refused, and heard to be, says nothing any more. */
const speaks = ({ accepted, heard }: Request): boolean =>
  accepted || heard === "ambiguous" || heard === "nothing"

const textBy = (state: State, order: readonly [number, number]): string => {
  const { claim, direct, log, requests, row, senders } = state
  const now = nowOf(state)
  const names = new Map<string, string>(
    order.flatMap((n, at) => (senders[n]!.mail === undefined ? [] : [[senders[n]!.mail.lease, `${at}`]]))
  )
  const nameOf = (owner: string | undefined) =>
    owner === undefined ? "-" : owner === "direct" ? "d" : (names.get(owner) ?? "x")
  const asked = (n: number) => (requests[n] === undefined ? "" : requestText(requests[n]))
  const spoken = (all: ReadonlyArray<Request>) => all.filter(speaks).map(requestText).sort().join()
  const attempt = ({ asked: n, isDoubtful, isStalled, ownKind, phase, route, since }: Sender | Direct) =>
    `${phase}${isStalled ? "s" : ""}${isDoubtful ? "?" : ""}${route.first}${route.fallback}${ownKind}${
      phase === "ask" ? spoken(requests.slice(0, since)) : ""
    }${asked(n)}`
  const senderText = (one: Sender) =>
    `${one.phase === "idle" ? "idle" : `${attempt(one)}${one.takenAt}${deferralText(one.mail?.deferral)}${one.mail?.deaths}.${one.mail?.refusals}`}${
      one.move === undefined
        ? ""
        : `${one.move.state}${one.move.frees}${resultText(one.move.result)}${deferralText(one.move.deferral)}`
    }${one.record?.outcome ?? ""}${one.isAgain}${resultText(one.knows)}`
  const isEnd = hasEnded(state)
  return [
    `${state.moment}.${state.crashes}.${state.stalls}.${state.refusals}.${state.lost}.${state.cancels}.${state.ages}.${state.events}`,
    `${row.state}${isEnd ? "" : `${nameOf(row.lease)}${row.dueAt !== undefined && row.dueAt <= now}${nameOf(row.passedLease)}${row.deaths}.${Math.min(row.refusals, 3)}${row.firstTakenAt}${deferralText(row.deferral)}${row.provider}`}${row.isKeyHeld}${resultText(row.result)}`,
    claim === undefined
      ? "-"
      : `${claim.state}${claim.provider}${claim.ambiguous}${claim.leaving}${nameOf(claim.owner)}${isLeased(claim, now)}${claim.leaseUntil > 0}${resultText(claim.result)}`,
    log
      .map(
        (one) =>
          `${one.id}${one.outcome}${one.status}${one.provider}${one.errorKind}${one.attempts.length > 0}`
      )
      .join(),
    ...order.map((n) => senderText(senders[n]!)),
    `${attempt(direct)}${resultText(direct.result)}`,
    spoken(requests)
  ].join("|")
}

/** The two senders are alike. */
export const textOf = (state: State): string => {
  const one = textBy(state, [0, 1])
  const other = textBy(state, [1, 0])
  return one < other ? one : other
}
