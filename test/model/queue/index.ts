import { beginSend, moveClaim, settleClaim } from "../../../src/adapters/memory/mail/claims.ts"
import { findEvidence } from "../../../src/adapters/memory/mail/evidence.ts"
import { recordEvent } from "../../../src/adapters/memory/mail/record-event.ts"
import { recordSend } from "../../../src/adapters/memory/mail/record-send.ts"
import { isLeased, NO_LEASE } from "../../../src/domain/mail/claim.ts"
import { stickTo } from "../../../src/domain/mail/failover.ts"
import { failed, type SendResult, sent } from "../../../src/domain/mail/send-result.ts"
import { QueueRefused } from "../../../src/ports/mail/send-queue.ts"
import type { Model, Step } from "../explore.ts"
import { brokenByCopy, brokenByEnd, brokenByLeaving } from "./invariants.ts"
import type { Rules } from "./rules.ts"
import {
  type Bounds,
  type Context,
  hears,
  leave,
  type Moves,
  recordOf,
  replaceAt,
  senderMoves
} from "./sender.ts"
import {
  DIRECT,
  type Direct,
  ENTRY,
  hasEnded,
  HASH,
  ID,
  IDLE,
  nowOf,
  ROW,
  type State,
  stored,
  tablesOf,
  TAG,
  textOf
} from "./state.ts"

const withDirect = (state: State, change: Partial<Direct>): State => ({
  ...state,
  direct: { ...state.direct, ...change }
})

const directEnds = (state: State, result: SendResult, label: string): Step<State> => ({
  label: `the call ${label}: ${result.status}`,
  state: withDirect(state, { phase: "end", result })
})

const answered = (state: State, label: string): Step<State> => ({
  label: `the call ${label}`,
  state: withDirect(state, { phase: "done", result: undefined })
})

/** A call of the same key beside the queue, without a queue for retries of its own. */
const direct = ({ bounds, rules }: Context, state: State): Moves => {
  const { asked, isDoubtful, isStalled, ownKind, phase, result, route, since } = state.direct
  const now = nowOf(state)
  const tried = { provider: route.first, failedOver: route.first !== bounds.primary }
  switch (phase) {
    case "new": {
      const tables = tablesOf(state)
      const payloadHash = bounds.direct === "other" ? "another" : "mail"
      const claim = {
        payloadHash,
        provider: bounds.primary,
        owner: "direct",
        leaseMs: 50_000,
        tag: TAG,
        known: undefined
      }
      const { decision, evidence } = beginSend(tables.mail, { keyHash: HASH, addresses: [], claim }, now)
      const then = stored(state, tables)
      if (decision._tag !== "Claimed") return [answered(then, `begins: ${decision._tag}`)]
      const { sticky } = decision
      const held = withDirect(then, {
        phase: "ask",
        route: stickTo(sticky, { first: bounds.primary, fallback: bounds.fallback }),
        isDoubtful: sticky !== undefined,
        since: state.requests.length
      })
      if (evidence !== undefined)
        return [
          directEnds(
            held,
            sent(DIRECT, { provider: evidence.provider, failedOver: false }, evidence.providerMessageId),
            "finds evidence"
          )
        ]
      if (rules.continuation(decision) !== "ask")
        return [
          directEnds(
            held,
            failed(DIRECT, { provider: held.direct.route.first, failedOver: false }, "ambiguous", "no queue"),
            "cannot defer"
          )
        ]
      return [{ label: "a call of the same key begins", state: held }]
    }
    case "ask":
      return [
        {
          label: `the call asks ${route.first}`,
          broken: brokenByLeaving(state, { provider: route.first, isQueues: false }, { since, deaths: 0 }),
          state: withDirect(
            leave(state, route.first, { isQueues: false, isSame: bounds.direct === "same" }),
            { phase: "wait", asked: state.requests.length }
          )
        }
      ]
    case "wait":
      return hears(state, asked).map(({ heard, label, state: then }): Step<State> => {
        const broken = brokenByCopy(then)
        const words = `hears from ${label}`
        if (heard === "accepted")
          return { ...directEnds(then, sent(DIRECT, tried, `${route.first}-1`), words), broken }
        const kind = heard === "nothing" ? "ambiguous" : heard
        const own = withDirect(then, { ownKind: kind })
        const after = rules.afterFailure(route, isDoubtful, kind)
        if (after._tag === "FailOver")
          return { label: `the call ${words}`, broken, state: withDirect(own, { phase: "move" }) }
        const evidence =
          after._tag === "Defer"
            ? findEvidence(tablesOf(own).mail, HASH, TAG, own.claim?.firstAttemptAt)
            : undefined
        const end =
          evidence === undefined
            ? failed(DIRECT, tried, after._tag === "Defer" ? "ambiguous" : after.kind, "refused")
            : sent(DIRECT, { ...tried, provider: evidence.provider }, evidence.providerMessageId)
        return { ...directEnds(own, end, words), broken }
      })
    case "move": {
      const tables = tablesOf(state)
      const to = route.fallback!
      const isMoved = moveClaim(tables.mail, { keyHash: HASH, owner: "direct", provider: to })
      const then = stored(state, tables)
      return isMoved
        ? [
            {
              label: `the call turns to ${to}`,
              state: withDirect(then, {
                phase: "ask",
                route: { first: to, fallback: undefined },
                since: state.requests.length
              })
            }
          ]
        : [answered(then, "cannot turn")]
    }
    case "end": {
      // A refusal is certain only while it holds its key.
      if (isStalled && result!.status !== "sent" && state.claim?.owner !== "direct")
        return [answered(state, "has lost its claim")]
      const kept = rules.settledState(result!.status, ownKind, isDoubtful)
      const tables = tablesOf(state)
      const settle = {
        owner: "direct",
        state: kept,
        ambiguous: isDoubtful || kept === "ambiguous",
        result: result!
      }
      const record = recordOf(result!, settle, { asked, rowId: DIRECT.rowId })
      settleClaim(tables.mail, record, recordSend(tables.mail, record, now), now)
      return [answered(stored(state, tables), "ends")]
    }
    default:
      return []
  }
}

const crash = (_: Context, state: State): Moves =>
  state.crashes === 0
    ? []
    : state.senders.flatMap(({ asked, phase }, n): Moves =>
        phase === "idle"
          ? []
          : [
              {
                label: `P${n} is killed`,
                state: {
                  ...state,
                  crashes: state.crashes - 1,
                  senders: replaceAt(state.senders, n, IDLE),
                  // What it had not heard, nobody ever hears.
                  requests: state.requests.map((request, at) =>
                    at === asked && request.heard === "nothing"
                      ? { ...request, heard: "ambiguous" as const }
                      : request
                  )
                }
              }
            ]
      )

/** Leases pass, since their holders are dead or stand still. */
const leasesOver = (_: Context, state: State): Moves => {
  const { claim, row, senders, stalls } = state
  const now = nowOf(state)
  const holder = senders.findIndex(({ mail, phase }) => phase !== "idle" && mail?.lease === row.lease)
  const isRowLeased = row.state === "sending" && row.dueAt! > now
  const steps: Array<Step<State>> = []
  if (isRowLeased && (holder === -1 || stalls > 0)) {
    const over = { ...state, row: { ...row, dueAt: now } }
    steps.push({
      label:
        holder === -1
          ? "the request's lease is over"
          : `the request's lease is over, as P${holder} stands still`,
      state:
        holder === -1
          ? over
          : {
              ...over,
              stalls: stalls - 1,
              senders: replaceAt(senders, holder, { ...senders[holder]!, isStalled: true })
            }
    })
  }
  if (claim !== undefined && claim.leaseUntil !== NO_LEASE && isLeased(claim, now)) {
    const isDirects = claim.owner === "direct"
    const owner = senders.find(({ mail, phase }) => phase !== "idle" && mail?.lease === claim.owner)
    // The claim's lease is prolonged with the request's.
    const isOver = isDirects
      ? stalls > 0
      : owner === undefined
        ? !(isRowLeased && row.lease === claim.owner)
        : owner.isStalled
    if (isOver)
      steps.push({
        label: "the key's lease is over",
        state: {
          ...state,
          stalls: isDirects ? stalls - 1 : stalls,
          claim: { ...claim, leaseUntil: now },
          direct: isDirects ? { ...state.direct, isStalled: true } : state.direct
        }
      })
  }
  return steps
}

const cancels = ({ rules }: Context, state: State): Moves => {
  if (state.cancels === 0 || hasEnded(state)) return []
  const tables = tablesOf(state)
  const answer = rules.cancel(tables, ID, nowOf(state))
  const then = { ...stored(state, tables), cancels: state.cancels - 1 }
  return [{ label: `a cancel is answered: ${answer}`, state: then, broken: brokenByEnd(then) }]
}

/** Its age is over, while nobody works on it. */
const tick = (_: Context, state: State): Moves => {
  const now = nowOf(state)
  const isIdle =
    state.senders.every(({ phase }) => phase === "idle") &&
    (state.claim === undefined || !isLeased(state.claim, now)) &&
    (state.row.state !== "sending" || state.row.dueAt! <= now) &&
    !["ask", "wait", "move", "end"].includes(state.direct.phase)
  return state.ages === 0 || !isIdle || hasEnded(state)
    ? []
    : [{ label: "two hours pass", state: { ...state, moment: 1, ages: 0 } }]
}

const events = (_: Context, state: State): Moves =>
  state.events === 0
    ? []
    : state.requests.flatMap((request, n): Moves => {
        if (!request.copy || request.told) return []
        const tables = tablesOf(state)
        const { provider } = request
        const entry = {
          provider,
          providerMessageId: `${provider}-1`,
          event: "delivered",
          keyTag: TAG,
          recipients: ["b@x.test"]
        }
        recordEvent(tables.mail, entry, nowOf(state))
        return [
          {
            label: `an event of ${provider} is recorded`,
            state: {
              ...stored(state, tables),
              events: state.events - 1,
              requests: replaceAt(state.requests, n, { ...request, told: true })
            }
          }
        ]
      })

/** The caller asks again once its request has ended: what was never sent is a request of its own (R3). */
const asksAgain = ({ rules }: Context, state: State): Moves => {
  if (!hasEnded(state)) return []
  const tables = tablesOf(state)
  const answer = rules.enqueue(tables, [ENTRY], nowOf(state))
  if (answer instanceof QueueRefused) return []
  const isDead = answer[0]!.id === ID && (state.row.state === "cancelled" || state.row.state === "suppressed")
  const isUnsent =
    answer[0]!.id === ID &&
    state.row.state === "failed" &&
    state.row.result?.status === "failed" &&
    state.row.result.kind === "unavailable"
  return isDead || isUnsent
    ? [
        {
          label: "the caller asks again",
          state,
          broken: "R3: asked again, and answered with a request that never sends"
        }
      ]
    : []
}

const MOVES = [...senderMoves, direct, crash, leasesOver, cancels, tick, events, asksAgain]

/** The state space of one queued request. */
export const queueModel = (rules: Rules, bounds: Bounds): Model<State> => {
  const context: Context = { rules, bounds }
  const { ages, cancels: cancelled, crashes, events: told, lost, refusals, stalls } = bounds
  return {
    initial: {
      moment: 0,
      row: ROW,
      claim: undefined,
      log: [],
      senders: [IDLE, IDLE],
      direct: {
        phase: bounds.direct === "none" ? "none" : "new",
        result: undefined,
        isStalled: false,
        route: { first: bounds.primary, fallback: bounds.fallback },
        isDoubtful: false,
        since: 0,
        asked: -1,
        ownKind: undefined
      },
      requests: [],
      crashes,
      stalls,
      refusals,
      lost,
      cancels: cancelled,
      ages,
      events: told
    },
    steps: (state) => MOVES.flatMap((move) => move(context, state)),
    violated: brokenByEnd,
    ends: hasEnded,
    textOf
  }
}
