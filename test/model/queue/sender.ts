import { Option } from "effect"

import { moveClaim, settleClaim } from "../../../src/adapters/memory/mail/claims.ts"
import { deferralEnd } from "../../../src/adapters/memory/mail/deferral-end.ts"
import { findEvidence } from "../../../src/adapters/memory/mail/evidence.ts"
import type { Tables } from "../../../src/adapters/memory/mail/queue-take.ts"
import { recordSend } from "../../../src/adapters/memory/mail/record-send.ts"
import {
  BUSY_MS,
  DEFERRED_ELSEWHERE_MS,
  moveTo,
  type QueuedWork,
  waitForKey
} from "../../../src/application/send-queue/queued-work.ts"
import { LogRowId } from "../../../src/domain/ids.ts"
import { type ClaimEnd, settledState } from "../../../src/domain/mail/claim-end.ts"
import type { ClaimState } from "../../../src/domain/mail/claim.ts"
import {
  DEFAULT_DEFER_DELAYS_SECONDS as DELAYS,
  decodeDeferredSend,
  type DeferredSend,
  delayBefore
} from "../../../src/domain/mail/deferred-send.ts"
import { type FailureKind, type Route, stickTo } from "../../../src/domain/mail/failover.ts"
import { dedupes, type Provider } from "../../../src/domain/mail/provider.ts"
import { deferred, endedSince, failed, type SendResult, sent } from "../../../src/domain/mail/send-result.ts"
import { IdempotencyConflict, IdempotencyInProgress } from "../../../src/domain/mail/send-result.ts"
import type { RecordSend } from "../../../src/ports/mail/mail-store.ts"
import type { QueueMove } from "../../../src/ports/mail/send-queue.ts"
import type { Step } from "../explore.ts"
import { brokenByBegin, brokenByCopy, brokenByEnd, brokenByLeaving, brokenByWriting } from "./invariants.ts"
import type { Rules } from "./rules.ts"
import {
  DETAILS,
  hasEnded,
  HASH,
  ID,
  IDLE,
  KEY,
  LEASE_MS,
  MAX_AGE_MS,
  nowOf,
  type Request,
  SEND,
  type Sender,
  type State,
  stored,
  tablesOf,
  TAG,
  workOf
} from "./state.ts"

/** How much happens to a request. */
export interface Bounds {
  readonly primary: Provider
  readonly fallback: Provider | undefined
  readonly retries: number
  readonly crashes: number
  readonly stalls: number
  readonly refusals: number
  readonly lost: number
  readonly cancels: number
  readonly ages: number
  readonly events: number
  /** A call of the same key beside the queue, of the same mail or of another one. */
  readonly direct: "none" | "same" | "other"
}
export interface Context {
  readonly rules: Rules
  readonly bounds: Bounds
}
export type Moves = ReadonlyArray<Step<State>>

const ATTEMPT = {
  provider: "provider_a",
  outcome: "ambiguous",
  reason: null,
  code: null,
  startedAt: 0,
  durationMs: 0
} as const

export const replaceAt = <A>(all: ReadonlyArray<A>, at: number, one: A): ReadonlyArray<A> =>
  all.map((known, n) => (n === at ? one : known))

const withSender = (state: State, n: number, change: Partial<Sender>): State => ({
  ...state,
  senders: replaceAt(state.senders, n, { ...state.senders[n]!, ...change })
})

/** A sender that has ended its work remembers the answer that it had. */
const idle = (state: State, n: number): State =>
  withSender(state, n, { ...IDLE, knows: state.senders[n]!.knows })

const pacing = (state: State) => ({
  config: { maxAgeMs: MAX_AGE_MS, concurrency: 1, paces: [] },
  now: () => nowOf(state),
  random: () => 0.5
})

/** What a row of the log says of an attempt's result. */
export const recordOf = (
  result: SendResult,
  end: ClaimEnd | undefined,
  { asked, rowId = LogRowId.make(ID) }: { readonly asked: number; readonly rowId?: LogRowId }
): RecordSend => ({
  rowId,
  details: DETAILS,
  outcome: result.status,
  provider: result.provider,
  providerMessageId: result.providerMessageId,
  failedOver: result.failedOver,
  error: result.ok ? null : result.error,
  errorKind: result.status === "failed" ? result.kind : null,
  costUsd: null,
  attempts: asked === -1 ? [] : [ATTEMPT],
  retryAt: null,
  settle: end
})

/** The sender has a move left to write. */
const toWrite = (
  state: State,
  n: number,
  move: QueueMove,
  record: RecordSend | undefined,
  label: string
): Step<State> => ({
  label: `P${n} ${label}: ${move.state}`,
  state: withSender(state, n, { phase: "write", move, record, isAgain: false })
})

const workAt = (state: State, n: number): QueuedWork => {
  const { mail, takenAt } = state.senders[n]!
  return workOf(mail!, takenAt)
}

/** An attempt's row moves the request by production's rule. */
const byRow = (
  { rules }: Context,
  state: State,
  n: number,
  record: RecordSend,
  next: QueuedWork["next"],
  label: string
): Step<State> => {
  const work = workAt(state, n)
  work.next = next
  return toWrite(state, n, rules.moveOf(pacing(state), work, record), record, label)
}

/** How a first attempt ends: `conclude` of the mailer. */
const concludes = (
  context: Context,
  state: State,
  n: number,
  result: SendResult,
  {
    label,
    next,
    state: end
  }: { readonly label: string; readonly next?: QueuedWork["next"]; readonly state?: ClaimState }
): Step<State> => {
  const { asked, isDoubtful, mail, ownKind } = state.senders[n]!
  const kept = end ?? context.rules.settledState(result.status, ownKind, isDoubtful)
  const ambiguous = isDoubtful || result.status === "deferred" || kept === "ambiguous"
  const record = recordOf(result, { owner: mail!.lease, state: kept, ambiguous, result }, { asked })
  const known =
    result.status === "sent" ? withSender(state, n, { knows: state.senders[n]!.knows ?? result }) : state
  return byRow(context, known, n, record, next, label)
}

const tried = (provider: Provider, bounds: Bounds) => ({ provider, failedOver: provider !== bounds.primary })

/** What a retry sends. */
const sendOf = ({ rowId }: DeferredSend) => ({ ...SEND, rowId })

/** The request that a retry repeats. */
const deferralOf = (provider: Provider, attempt: number, state: State): DeferredSend => ({
  version: 1,
  rowId: LogRowId.make(`retry-${attempt}`),
  attempt,
  request: { provider, key: KEY, body: {} },
  details: DETAILS,
  firstAttemptAt: state.claim?.firstAttemptAt ?? nowOf(state),
  failedOver: false
})

const decoded = new Map<string, DeferredSend>()
const retryOf = (deferral: string): DeferredSend => {
  const known = decoded.get(deferral) ?? Option.getOrThrow(decodeDeferredSend(deferral))
  decoded.set(deferral, known)
  return known
}

/** Whether a stalled sender still holds its request; by then it has prolonged it. */
const woken = (state: State, n: number): State | undefined => {
  const sender = state.senders[n]!
  if (!sender.isStalled) return state
  const now = nowOf(state)
  if (state.row.lease !== sender.mail!.lease) return undefined
  const { claim } = state
  return withSender(
    {
      ...state,
      row: { ...state.row, dueAt: now + LEASE_MS },
      claim:
        claim?.owner === sender.mail!.lease && claim.leaseUntil > 0
          ? { ...claim, leaseUntil: now + LEASE_MS }
          : claim
    },
    n,
    { isStalled: false }
  )
}

/** A sender that finds its request with somebody else leaves it alone. */
const passed = (state: State, n: number, why: string): Step<State> =>
  toWrite(
    state,
    n,
    waitForKey(workAt(state, n)),
    undefined,
    `${why}, and finds that its request has passed on`
  )

const takes = ({ bounds, rules }: Context, state: State): Moves =>
  state.senders.flatMap((sender, n): Moves => {
    const { row } = state
    if (sender.phase !== "idle" || hasEnded(state)) return []
    const now = nowOf(state)
    if (row.dueAt === Number.POSITIVE_INFINITY || (row.state === "sending" && row.dueAt! > now)) return []
    const tables = tablesOf({ ...state, row: { ...row, dueAt: now } })
    const paces = ["provider_a", "provider_b"] as const
    const { mails } = rules.take(
      tables,
      {
        paces: paces.map((provider) => ({ provider, rate: 0, least: 0, most: 0 })),
        primary: bounds.primary,
        limit: 1,
        leaseMs: LEASE_MS
      },
      now
    )
    const mail = mails[0]!
    const after = withSender(stored(state, tables), n, {
      ...IDLE,
      knows: sender.knows,
      phase: "taken",
      mail,
      takenAt: now
    })
    if (rules.endsUnasked && mail.ageMs >= MAX_AGE_MS) {
      const result = failed(SEND, { provider: null, failedOver: false }, "unavailable", "its time is over")
      const move = moveTo(workOf(mail, now), "failed", { result, frees: true })
      return [toWrite(after, n, move, undefined, "takes the request, whose age is over")]
    }
    return [
      {
        label: `P${n} takes the request${mail.deaths > 0 ? `, with which ${mail.deaths} died` : ""}`,
        state: after
      }
    ]
  })

/** A first attempt, or one after a refusal, begins. */
const begins = (context: Context, state: State, n: number): Moves => {
  const { bounds, rules } = context
  const sender = state.senders[n]!
  const mail = sender.mail!
  const now = nowOf(state)
  const work = workAt(state, n)
  const words = `P${n} begins`
  const tables = tablesOf(state)
  const began = rules.begin(
    tables,
    {
      keyHash: HASH,
      addresses: [],
      claim: {
        payloadHash: "mail",
        provider: bounds.primary,
        owner: mail.lease,
        leaseMs: LEASE_MS,
        tag: TAG,
        known: undefined
      }
    },
    mail,
    now
  )
  const then = stored(state, tables)
  const { decision, evidence } = began
  switch (decision._tag) {
    case "InProgress":
      return [
        toWrite(
          then,
          n,
          rules.notBegun(work, new IdempotencyInProgress({ idempotencyKey: KEY })),
          undefined,
          "finds the key busy"
        )
      ]
    case "Conflict":
      return [
        toWrite(
          then,
          n,
          rules.notBegun(work, new IdempotencyConflict({ idempotencyKey: KEY })),
          undefined,
          "finds another mail"
        )
      ]
    case "Replay":
      return [replays(context, then, n, decision.result)]
    case "Claimed": {
      const { sticky } = decision
      if (sender.knows !== undefined) {
        const end = {
          owner: rules.ownerOf(mail),
          state: "accepted",
          ambiguous: false,
          result: sender.knows
        } as const
        return [
          byRow(
            context,
            then,
            n,
            recordOf(sender.knows, end, { asked: -1 }),
            undefined,
            "remembers that it was accepted"
          )
        ]
      }
      const route: Route = stickTo(sticky, { first: bounds.primary, fallback: bounds.fallback })
      const held = withSender(then, n, {
        route,
        isDoubtful: sticky !== undefined,
        since: state.requests.length,
        asked: -1,
        ownKind: undefined
      })
      if (evidence !== undefined)
        return [
          concludes(
            context,
            held,
            n,
            sent(SEND, tried(evidence.provider, bounds), evidence.providerMessageId),
            { label: "finds evidence" }
          )
        ]
      const next = rules.continuation(decision)
      if (next === "end")
        return [
          concludes(context, held, n, failed(SEND, tried(route.first, bounds), "ambiguous", "too old"), {
            label: "ends"
          })
        ]
      if (next === "defer") return [defers(context, held, n, "defers what a dead sender left")]
      return [{ label: words, broken: brokenByBegin(state, n), state: withSender(held, n, { phase: "ask" }) }]
    }
  }
}

/** The end of an earlier send of the key, also of one that was deferred. */
const replays = ({ rules }: Context, state: State, n: number, result: SendResult): Step<State> => {
  const tables = tablesOf(state)
  const end =
    result.status === "deferred" ? deferralEnd(tables.mail, HASH, result.sendId, nowOf(state)) : undefined
  const told = end === undefined ? result : endedSince(result, end)
  return toWrite(
    stored(state, tables),
    n,
    rules.replayed(workAt(state, n), told),
    undefined,
    "finds what its key says"
  )
}

/** An ambiguous attempt is settled by evidence, or waits in its request. */
const defers = (context: Context, state: State, n: number, label: string): Step<State> => {
  const { bounds } = context
  const { route } = state.senders[n]!
  const provider = route.first
  const evidence = findEvidence(tablesOf(state).mail, HASH, TAG, state.claim?.firstAttemptAt)
  if (evidence !== undefined)
    return concludes(
      context,
      state,
      n,
      sent(SEND, tried(evidence.provider, bounds), evidence.providerMessageId),
      { label: `${label}, and finds evidence` }
    )
  const awake = woken(state, n)
  if (awake === undefined) return passed(state, n, label)
  const first = state.claim?.firstAttemptAt ?? nowOf(state)
  const delaySeconds = delayBefore(1, DELAYS, nowOf(state) - first)
  if (delaySeconds === undefined || bounds.retries === 0)
    return concludes(context, awake, n, failed(SEND, tried(provider, bounds), "ambiguous", "too old"), {
      label
    })
  const next = { message: deferralOf(provider, 1, awake), delaySeconds }
  return concludes(context, awake, n, deferred(SEND, tried(provider, bounds)), { label, next })
}

/** A retry begins. */
const retries = (context: Context, state: State, n: number, deferral: string): Moves => {
  const { rules } = context
  const { knows, mail } = state.senders[n]!
  const message = retryOf(deferral)
  const now = nowOf(state)
  const work = workAt(state, n)
  if (knows !== undefined)
    return [retryEnds(context, state, n, message, knows, undefined, "remembers that it was accepted")]
  const tables = tablesOf(state)
  const { firstAttemptAt, request, rowId } = message
  const entry = {
    keyHash: HASH,
    tag: TAG,
    firstAttemptAt,
    ageMs: now - firstAttemptAt,
    provider: request.provider,
    rowId,
    addresses: [],
    owner: mail!.lease,
    leaseMs: LEASE_MS
  }
  const began = rules.beginRetry(tables, entry, mail!, now)
  const then = stored(state, tables)
  switch (began._tag) {
    case "Busy":
      return [
        toWrite(
          then,
          n,
          moveTo(work, "deferred", { dueMs: DEFERRED_ELSEWHERE_MS }),
          undefined,
          "finds the key busy"
        )
      ]
    case "Recorded":
      return [
        toWrite(
          then,
          n,
          moveTo(work, "queued", { dueMs: BUSY_MS, deferral: undefined }),
          undefined,
          "finds its retry made"
        )
      ]
    case "Settled": {
      const { provider, providerMessageId } = began.evidence
      const result = sent(sendOf(message), { provider, failedOver: false }, providerMessageId)
      return [retryEnds(context, then, n, message, result, undefined, "finds evidence")]
    }
    case "Go": {
      const held = withSender(then, n, {
        route: { first: request.provider, fallback: undefined },
        isDoubtful: true,
        since: state.requests.length,
        asked: -1,
        ownKind: undefined
      })
      if (began.torn)
        return [
          retryEnds(
            context,
            held,
            n,
            message,
            failed(sendOf(message), { provider: request.provider, failedOver: false }, "ambiguous", "torn"),
            undefined,
            "finds the key in doubt elsewhere"
          )
        ]
      return [
        {
          label: `P${n} begins retry ${message.attempt}`,
          broken: brokenByBegin(state, n),
          state: withSender(held, n, { phase: "ask" })
        }
      ]
    }
  }
}

/** How a retry ends: `retried` of its handler. */
const retryEnds = (
  context: Context,
  state: State,
  n: number,
  message: DeferredSend,
  result: SendResult,
  next: QueuedWork["next"],
  label: string
): Step<State> => {
  const { asked, mail, ownKind } = state.senders[n]!
  const end: ClaimEnd = {
    owner: mail!.lease,
    state: settledState(result.status, ownKind, true),
    ambiguous: true,
    result: result.status === "deferred" ? undefined : result,
    isRetry: true
  }
  const known =
    result.status === "sent" ? withSender(state, n, { knows: state.senders[n]!.knows ?? result }) : state
  return byRow(context, known, n, recordOf(result, end, { asked, rowId: message.rowId }), next, label)
}

const afterTaking = (context: Context, state: State): Moves =>
  state.senders.flatMap(({ mail, phase }, n): Moves => {
    if (phase !== "taken") return []
    return mail!.deferral === undefined
      ? begins(context, state, n)
      : retries(context, state, n, mail!.deferral)
  })

export const leave = (
  state: State,
  provider: Provider,
  { isQueues, isSame }: Pick<Request, "isQueues" | "isSame">
): State => ({
  ...state,
  requests: [
    ...state.requests,
    { provider, isQueues, isSame, accepted: false, copy: false, heard: "nothing", told: false }
  ]
})

const leaves = (context: Context, state: State): Moves =>
  state.senders.flatMap((sender, n): Moves => {
    const { mail, phase, route, since } = sender
    if (phase !== "ask") return []
    const refusal = context.rules.refusalOf({ now: () => nowOf(state) }, workAt(state, n))
    if (refusal !== undefined)
      return hearsKind(
        context,
        withSender(state, n, { asked: -1 }),
        n,
        refusal.kind,
        `does not ask ${route.first}`
      )
    const provider = route.first
    const asks = withSender(leave(state, provider, { isQueues: true, isSame: true }), n, {
      phase: "wait",
      asked: state.requests.length
    })
    const isLost = sender.isStalled && woken(state, n) === undefined
    return [
      ...(isLost ? [passed(state, n, "wakes")] : []),
      {
        label: `P${n} asks ${provider}`,
        broken: brokenByLeaving(state, { provider, isQueues: true }, { since, deaths: mail!.deaths }),
        state: asks
      }
    ]
  })

/** What the one who waits for a request may hear: its answer, or nothing of what happened. */
export const hears = (
  state: State,
  n: number
): ReadonlyArray<{ readonly label: string; readonly heard: Request["heard"]; readonly state: State }> => {
  const request = state.requests[n]!
  const { provider } = request
  const with_ = (change: Partial<Request>): State => ({
    ...state,
    requests: replaceAt(state.requests, n, { ...request, ...change })
  })
  const isRepeat = dedupes(provider) && state.requests.some((one) => one.provider === provider && one.copy)
  const accepted = { accepted: true, copy: !isRepeat }
  return [
    { label: `${provider}: accepted`, heard: "accepted", state: with_({ ...accepted, heard: "accepted" }) },
    {
      label: `${provider}: accepted, the answer is lost`,
      heard: "ambiguous",
      state: with_({ ...accepted, heard: "ambiguous" })
    },
    { label: `${provider}: the request is lost`, heard: "ambiguous", state: with_({ heard: "ambiguous" }) },
    ...(state.refusals > 0
      ? [
          {
            label: `${provider}: unavailable`,
            heard: "unavailable" as const,
            state: { ...with_({ heard: "unavailable" }), refusals: state.refusals - 1 }
          }
        ]
      : [])
  ]
}

const messageId = (provider: Provider) => `${provider}-1`

/** What follows a failed attempt. */
const hearsKind = (context: Context, state: State, n: number, kind: FailureKind, label: string): Moves => {
  const { bounds, rules } = context
  const { isDoubtful, mail, route } = state.senders[n]!
  const provider = route.first
  const own = withSender(state, n, { ownKind: kind })
  if (mail!.deferral !== undefined) return [hearsRetry(context, own, n, kind, label)]
  const after = rules.afterFailure(route, isDoubtful, kind)
  if (after._tag === "FailOver")
    return [{ label: `P${n} ${label}`, state: withSender(own, n, { phase: "move" }) }]
  if (after._tag === "Defer") return [defers(context, own, n, label)]
  const awake = woken(own, n)
  return [
    awake === undefined
      ? passed(own, n, label)
      : concludes(context, awake, n, failed(SEND, tried(provider, bounds), after.kind, "refused"), { label })
  ]
}

const hearsRetry = (
  context: Context,
  state: State,
  n: number,
  kind: FailureKind,
  label: string
): Step<State> => {
  const { bounds, rules } = context
  const message = retryOf(state.senders[n]!.mail!.deferral!)
  const { attempt, firstAttemptAt, request } = message
  const { provider } = request
  const gaveUp = () =>
    retryEnds(
      context,
      state,
      n,
      message,
      failed(sendOf(message), tried(provider, bounds), "ambiguous", "over"),
      undefined,
      label
    )
  if (kind === "rejected") return gaveUp()
  const evidence = findEvidence(tablesOf(state).mail, HASH, TAG, firstAttemptAt)
  if (evidence !== undefined)
    return retryEnds(
      context,
      state,
      n,
      message,
      sent(sendOf(message), tried(evidence.provider, bounds), evidence.providerMessageId),
      undefined,
      label
    )
  const put = (next: DeferredSend, delaySeconds: number) =>
    retryEnds(
      context,
      state,
      n,
      message,
      deferred(sendOf(message), tried(provider, bounds)),
      { message: next, delaySeconds },
      label
    )
  if (kind === "unavailable") return rules.putsBackRetries ? put(message, 5) : gaveUp()
  const delay = delayBefore(attempt + 1, DELAYS, nowOf(state) - firstAttemptAt)
  return delay === undefined || attempt >= bounds.retries
    ? gaveUp()
    : put(deferralOf(provider, attempt + 1, state), delay)
}

const hearsAnswer = (context: Context, state: State): Moves =>
  state.senders.flatMap(({ asked, mail, phase }, n): Moves => {
    if (phase !== "wait") return []
    const { provider } = state.requests[asked]!
    return hears(state, asked).flatMap(({ heard, label, state: then }): Moves => {
      const words = `hears from ${label}`
      if (heard !== "accepted")
        return hearsKind(context, then, n, heard === "nothing" ? "ambiguous" : heard, words).map((step) => ({
          ...step,
          broken: step.broken ?? brokenByCopy(then)
        }))
      const message = mail!.deferral === undefined ? undefined : retryOf(mail!.deferral)
      const result = sent(
        message === undefined ? SEND : sendOf(message),
        tried(provider, context.bounds),
        messageId(provider)
      )
      const step =
        message === undefined
          ? concludes(context, then, n, result, { label: words })
          : retryEnds(context, then, n, message, result, undefined, words)
      return [{ ...step, broken: brokenByCopy(then) }]
    })
  })

/** A fail-over: the claim is moved first. */
const moves = (_: Context, state: State): Moves =>
  state.senders.flatMap(({ mail, phase, route }, n): Moves => {
    if (phase !== "move" || route.fallback === undefined) return []
    const to = route.fallback
    const awake = woken(state, n)
    if (awake === undefined) return [passed(state, n, `turns to ${to}`)]
    const tables = tablesOf(awake)
    const isMoved = moveClaim(tables.mail, { keyHash: HASH, owner: mail!.lease, provider: to })
    const then = stored(awake, tables)
    if (!isMoved) return [passed(then, n, `turns to ${to}`)]
    return [
      {
        label: `P${n} turns to ${to}`,
        broken: brokenByBegin(then, n),
        state: withSender(then, n, {
          phase: "ask",
          route: { first: to, fallback: undefined },
          since: state.requests.length
        })
      }
    ]
  })

/** What a provider's acceptance is recorded as where the request has passed on. */
const asEvidence = (tables: Tables, record: RecordSend, now: number) =>
  settleClaim(tables.mail, record, recordSend(tables.mail, record, now), now)

const writes = ({ rules }: Context, state: State): Moves =>
  state.senders.flatMap((sender, n): Moves => {
    const { isAgain, move, record } = sender
    if (sender.phase !== "write" || move === undefined) return []
    const now = nowOf(state)
    const tables = tablesOf(state)
    const moved = rules.move(tables, move, now)
    if (moved === undefined && move.record?.outcome === "sent" && (!isAgain || rules.tellsAgain))
      asEvidence(tables, move.record, now)
    const then = stored(state, tables)
    const label = `P${n} writes${isAgain ? " again" : ""}: ${moved === undefined ? "the request is not its own any more" : move.state}`
    const isKnown = then.log.some(({ providerMessageId }) => providerMessageId !== null)
    const untold =
      record?.outcome === "sent" && !isKnown
        ? `S4: P${n} learned of an acceptance, and nothing of it was kept`
        : undefined
    const ended = moved === undefined ? undefined : brokenByWriting(then, sender)
    const step: Step<State> = { label, broken: untold ?? ended ?? brokenByEnd(then), state: idle(then, n) }
    if (state.lost === 0 || isAgain) return [step]
    const unheard = (from: State, why: string): Step<State> => ({
      label: `P${n} writes ${move.state}, ${why}`,
      state: withSender({ ...from, lost: state.lost - 1 }, n, { isAgain: true })
    })
    return [step, unheard(then, "and the answer is lost"), unheard(state, "which gets lost")]
  })

export const senderMoves = [takes, afterTaking, leaves, hearsAnswer, moves, writes]
