import { beginRetry, beginSend } from "../../../src/adapters/memory/mail/claims.ts"
import { take, type Tables } from "../../../src/adapters/memory/mail/queue-take.ts"
import { cancel, enqueue, holds, move } from "../../../src/adapters/memory/mail/send-queue.ts"
import { moveOf, waitForKey } from "../../../src/application/send-queue/queued-work.ts"
import { notBegun, refusalOf, replayed } from "../../../src/application/send-queue/send-queued.ts"
import { settledState } from "../../../src/domain/mail/claim-end.ts"
import { type Claim, continuation } from "../../../src/domain/mail/claim.ts"
import { afterFailure } from "../../../src/domain/mail/failover.ts"
import type { BeganRetry, BeganSend, BeginRetry, BeginSend } from "../../../src/ports/mail/mail-store.ts"
import type { QueueLease, TakenMail } from "../../../src/ports/mail/send-queue.ts"
import { HASH, ID } from "./state.ts"

/** What the model of a queued request decides by: production's own store in memory, and its own decisions in the application. */
export interface Rules {
  readonly take: typeof take
  readonly begin: (tables: Tables, entry: BeginSend, held: QueueLease, now: number) => BeganSend
  readonly beginRetry: (tables: Tables, entry: BeginRetry, held: QueueLease, now: number) => BeganRetry
  readonly move: typeof move
  readonly cancel: typeof cancel
  readonly enqueue: typeof enqueue
  readonly moveOf: typeof moveOf
  readonly replayed: typeof replayed
  readonly notBegun: typeof notBegun
  readonly refusalOf: typeof refusalOf
  readonly continuation: typeof continuation
  readonly settledState: typeof settledState
  readonly afterFailure: typeof afterFailure
  /** Whether a refused retry is put back as a refusal is. */
  readonly putsBackRetries: boolean
  /** Whether an acceptance is evidence where its request has passed on, also when it is written again. */
  readonly tellsAgain: boolean
  /** Who settles the claim with what the process remembers. */
  readonly ownerOf: (mail: TakenMail) => string
  /** Whether a request that is too old ends where it is taken, before its key is asked. */
  readonly endsUnasked: boolean
}

/** The rules that production follows. */
export const PRODUCTION: Rules = {
  take,
  begin: (tables, entry, held, now) =>
    holds(tables, held)
      ? beginSend(tables.mail, entry, now)
      : { at: now, suppressions: [], decision: { _tag: "InProgress" }, evidence: undefined, leaving: false },
  beginRetry: (tables, entry, held, now) =>
    holds(tables, held) ? beginRetry(tables.mail, entry, now) : { _tag: "Busy" },
  move,
  cancel,
  enqueue,
  moveOf,
  replayed,
  notBegun,
  refusalOf,
  continuation,
  settledState,
  afterFailure,
  putsBackRetries: true,
  tellsAgain: true,
  ownerOf: ({ lease }) => lease,
  endsUnasked: false
}

const forgetting = (claim: Claim): Claim => ({ ...claim, state: "refused", ambiguous: false })

/** A cancel that looks at the request alone. */
const cancelUnasked: typeof cancel = (tables, id, now) => {
  const claims = new Map(tables.mail.claims)
  tables.mail.claims.clear()
  const state = cancel(tables, id, now)
  for (const [hash, claim] of claims) tables.mail.claims.set(hash, claim)
  return state
}

/** Rules as they were worded at first, each in production's place. */
export const LITERAL = {
  /** "A result `failed` of kind `unavailable` is proof that nothing was accepted: the request goes back" (1d). */
  "a refusal of a request that was taken again is proof": {
    settledState: (status, kind) => settledState(status, kind, false),
    afterFailure: (route, _, kind) => afterFailure(route, false, kind),
    move: (tables, asked, now) => {
      const moved = move(tables, asked, now)
      const claim = tables.mail.claims.get(HASH)
      if (asked.record?.settle?.state === "refused" && claim !== undefined)
        tables.mail.claims.set(HASH, forgetting(claim))
      return moved
    }
  },
  /** "The same key within 24 hours returns the first id", which is dead (3). */
  "an ended request keeps its key": {
    cancel: (tables, id, now) => {
      const state = cancel(tables, id, now)
      tables.queue.rows.get(ID)!.isKeyHeld = true
      return state
    },
    move: (tables, asked, now) => move(tables, { ...asked, frees: false }, now)
  },
  /** The row's lease and the key's pass apart, and a cancel looks at the row alone (6). */
  "two leases": {
    begin: (tables, entry, _, now) => beginSend(tables.mail, entry, now),
    cancel: cancelUnasked
  },
  /** The age ends a request before anybody asks its key (6). */
  "the age asks no key": { endsUnasked: true },
  /** "An ambiguous outcome ends it as it ends a send": the deferral is kept elsewhere, and nobody follows it (6, 7). */
  "a deferral is an end": {
    moveOf: (queue, work, row) => ({
      ...moveOf(queue, work, row),
      ...(row.outcome === "deferred" ? { dueMs: Number.POSITIVE_INFINITY } : {})
    })
  },
  /** A refused retry is final, as a deferred send's was (7). */
  "a refused retry is final": { putsBackRetries: false },
  /** The age counts from when it was queued (9). */
  "born expired": {
    take: (tables, entry, now) => {
      const { mails, nextMs } = take(tables, entry, now)
      return { mails: mails.map((mail) => ({ ...mail, ageMs: now })), nextMs }
    }
  },
  /** A dead claim on a provider that does not dedupe: "the first result again", where there is none (10). */
  "the first result again": {
    continuation: (claimed) => (continuation(claimed) === "defer" ? "end" : continuation(claimed))
  },
  /** "409 `IDEMPOTENCY_CONFLICT`": it names no end (14). */
  "a conflict has no end": {
    notBegun: (work, why) => (why._tag === "IdempotencyConflict" ? waitForKey(work) : notBegun(work, why))
  },
  /** The request, its row in the log and its claim are three transactions. */
  "row, log and claim apart": {
    move: (tables, asked, now) => move(tables, { ...asked, record: undefined }, now)
  },
  /** The claim was begun under the request's lease, and what the process remembers is written under its id. */
  "what is remembered settles no claim": { ownerOf: ({ id }) => id },
  /** A request that two senders died with is refused as a provider refuses it: it goes back. */
  "set aside as a refusal": {
    refusalOf: (queue, work) => {
      const refusal = refusalOf(queue, work)
      return refusal === undefined ? undefined : { ...refusal, kind: "unavailable" }
    }
  },
  /** An acceptance that could not be written at once is forgotten where its request has passed on meanwhile. */
  "what is written again is no evidence": { tellsAgain: false }
} as const satisfies Readonly<Record<string, Partial<Rules>>>
export type Literal = keyof typeof LITERAL

/** Production's rules, with one as it was worded at first. */
export const rulesWith = (literal: Literal): Rules => ({ ...PRODUCTION, ...LITERAL[literal] })
