import type { Remembered } from "../../src/application/mail/key-memory.ts"
import { IdempotencyKey, KeyHash, KeyTag, LogRowId } from "../../src/domain/ids.ts"
import type { ClaimEnd } from "../../src/domain/mail/claim-end.ts"
import {
  boundClaim,
  type Claim,
  type ClaimDecision,
  type Claimed,
  type ClaimState,
  type Evidence,
  isFree,
  newUse,
  NO_LEASE,
  type Trail
} from "../../src/domain/mail/claim.ts"
import { delayBefore, type SendDetails } from "../../src/domain/mail/deferred-send.ts"
import {
  IDEMPOTENCY_WINDOW_MS,
  type FailureKind,
  type Route,
  stickTo
} from "../../src/domain/mail/failover.ts"
import type { Provider } from "../../src/domain/mail/provider.ts"
import { deferred, failed, type SendResult, sent } from "../../src/domain/mail/send-result.ts"
import type { Step } from "./explore.ts"
import {
  type Actor,
  brokenByAnswer,
  brokenByBegin,
  brokenByCopy,
  brokenByDeferring,
  brokenByLeaving,
  heldNow,
  useNow
} from "./invariants.ts"
import type { Rules } from "./rules.ts"
import { type Call, type Heard, LEASE_MS, nowOf, type Request, type Retry, type State } from "./state.ts"

/** How many retries a deferral has in the model, and how often a message is received. */
export interface Bounds {
  readonly primary: Provider
  readonly calls: number
  readonly retries: number
  readonly crashes: number
  readonly outages: number
  readonly losses: number
  /** The last moment that is reached: see `MOMENTS`. */
  readonly moments: number
  /** Whether a request that its caller gave up may still arrive. */
  readonly flies: boolean
  /** Whether a retry may find its recipients suppressed. */
  readonly suppresses: boolean
}

export interface Context {
  readonly rules: Rules
  readonly bounds: Bounds
}

type Moves = ReadonlyArray<Step<State>>

const DETAILS: SendDetails = {
  category: "transactional",
  source: "model",
  from: "a@x.test",
  to: ["b@x.test"],
  others: [],
  subject: "model",
  idempotencyKey: IdempotencyKey.make("key"),
  keyHash: KeyHash.make("hash")
}
const SEND = { rowId: LogRowId.make("row"), details: DETAILS }
/** A result that is written is known by its row. */
const sendOf = (row: string) => ({ rowId: LogRowId.make(row), details: DETAILS })

const other = (provider: Provider): Provider => (provider === "provider_a" ? "provider_b" : "provider_a")

const replaceAt = <A>(all: ReadonlyArray<A>, at: number, one: A): ReadonlyArray<A> =>
  all.map((known, n) => (n === at ? one : known))

const withCall = (state: State, n: number, change: Partial<Call>): State => ({
  ...state,
  calls: replaceAt(state.calls, n, { ...state.calls[n]!, ...change })
})

const withRequest = (state: State, n: number, change: Partial<Request>): State => ({
  ...state,
  requests: replaceAt(state.requests, n, { ...state.requests[n]!, ...change })
})

const lifeOf = (state: State, process: number): string => `P${process}.${state.lives[process]}`

const actorOf = (
  state: State,
  { claimed, process }: { readonly claimed: boolean; readonly process: number }
): Actor => ({
  by: lifeOf(state, process),
  claimed
})

const tagText = (tag: KeyTag | undefined): string => tag ?? "none"

/**
 * Proof that an attempt of this use was accepted: an event that names the use, by its own tag or that of the claim on the key, or a row of
 * the library in its time. `since`: when the use began, as the one who asks knows.
 */
const evidenceOf = (state: State, tag: string, since: number): Evidence | undefined => {
  const { claim, requests, rows } = state
  const isOfClaim = claim !== undefined && since >= claim.firstAttemptAt && !isFree(claim, nowOf(state))
  const from = isOfClaim ? claim.firstAttemptAt : since
  const to = isOfClaim ? Infinity : since + IDEMPOTENCY_WINDOW_MS
  const isOfUse = (one: string) => one === tag || (isOfClaim && one === tagText(claim.tag))
  // An event settles the row of its use.
  const isProof = ({ says, tag: own }: State["rows"][number]) =>
    says === "accepted" ||
    (says === "open" && requests.some((request) => request.told && request.tag === own))
  const row = rows.find((one) => isProof(one) && (isOfUse(one.tag) || (one.at >= from && one.at < to)))
  const told = requests.find((request) => request.told && isOfUse(request.tag))
  const provider = row?.provider ?? told?.provider
  return provider === undefined ? undefined : { provider, providerMessageId: `${provider}-${tag}` }
}

/** What the rows say of a key without a claim, else what the process remembers. */
const trailOf = (state: State, process: number): Trail | undefined => {
  const now = nowOf(state)
  const rows = state.rows.filter(({ at, says }) => at > now - IDEMPOTENCY_WINDOW_MS && says !== "ended")
  const newest = rows.findLast(({ says }) => says === "accepted") ?? rows.at(-1)
  if (newest !== undefined)
    return {
      provider: newest.provider,
      since: rows[0]!.at,
      last: rows.at(-1)!.at,
      tag: KeyTag.make(newest.tag)
    }
  const known = state.memory[process]
  return known === undefined || isFree(known, now)
    ? undefined
    : {
        provider: known.provider,
        since: known.firstAttemptAt,
        last: known.lastAttemptAt,
        tag: known.tag
      }
}

/** The tag of a key that no claim binds: that of its rows of the last day, else one of its own where the key was used before. */
const tagWithoutClaim = ({ rules }: Context, state: State, owner: string, first: KeyTag): KeyTag => {
  const recent = state.rows.findLast(({ at }) => at > nowOf(state) - IDEMPOTENCY_WINDOW_MS)
  if (recent !== undefined) return KeyTag.make(recent.tag)
  return state.rows.length === 0 ? first : KeyTag.make(rules.tagOf(owner))
}

/** What the process itself says, by the rules of the store. */
const remembered = (
  { rules }: Context,
  state: State,
  process: number,
  request: Parameters<Rules["decideClaim"]>[1]
) => {
  const claim = state.memory[process]
  // A key that is free for all that the process knows is the store's to judge.
  return claim === undefined || isFree(claim, nowOf(state))
    ? undefined
    : rules.decideClaim(claim, request, { evidence: undefined, trail: undefined }, nowOf(state))
}

/** What the store said of a key is remembered for as long as the store holds it. */
const learnt = (
  { rules }: Context,
  state: State,
  process: number,
  { firstAttemptAt, lastAttemptAt, result }: Extract<ClaimDecision, { readonly _tag: "Replay" }>
): State => {
  const claim: Claim = {
    payloadHash: "",
    owner: "learnt",
    tag: undefined,
    provider: result.provider ?? "provider_a",
    state: rules.settledState(result.status, undefined, false),
    ambiguous: result.status !== "sent",
    leaving: true,
    leaseUntil: NO_LEASE,
    firstAttemptAt,
    lastAttemptAt: rules.lastOfLearnt(lastAttemptAt, nowOf(state)),
    result
  }
  const known = { ...keepingDoubt(state, process, claim), isStored: true }
  return { ...state, memory: replaceAt(state.memory, process, known) }
}

/** What a process remembers of a key from now on: it still knows where it has left this use in doubt. */
const keepingDoubt = (state: State, process: number, claim: Claim): Remembered => ({
  ...claim,
  doubtAt: doubtIn(state, process)
})

/** Where a process itself has left the key's present use in doubt. */
const doubtIn = (state: State, process: number): Provider | undefined => {
  const known = state.memory[process]
  return known === undefined || isFree(known, nowOf(state)) ? undefined : known.doubtAt
}

const answered = (state: State, n: number, result: SendResult, actor: Actor, label: string): Step<State> => {
  return {
    label: `${label}: ${result.status}${result.status === "failed" ? ` (${result.kind})` : ""}`,
    broken: brokenByAnswer(state, result, actor, state.calls[n]!),
    state: withCall(state, n, { phase: "done", result: undefined })
  }
}

/** What follows a look-up: an answer, or the first step of a send. */
const afterBegin = (
  context: Context,
  state: State,
  n: number,
  decision: ClaimDecision,
  given: {
    readonly process: number
    readonly claimed: boolean
    readonly label: string
    readonly evidence: Evidence | undefined
  }
): Step<State> => {
  const { bounds, rules } = context
  const { evidence, label, process, claimed } = given
  const since = { requests: state.requests.length, rows: state.rows.length }
  const began = withCall(state, n, { process, claimed, since, owner: `c${n}` })
  const actor = actorOf(state, given)
  if (decision._tag === "InProgress" || decision._tag === "Conflict")
    return { label: `${label}: under way`, state: withCall(began, n, { phase: "done" }) }
  if (decision._tag === "Replay") return answered(began, n, decision.result, actor, `${label} again`)
  const { firstAttemptAt, sticky, tag } = decision
  const route: Route = stickTo(sticky, { first: bounds.primary, fallback: other(bounds.primary) })
  const next = rules.continuation(decision)
  const hold = rules.claimOf(
    undefined,
    decision,
    {
      payloadHash: "",
      provider: bounds.primary,
      owner: `c${n}`,
      tag,
      leaseMs: LEASE_MS,
      leaving: true,
      isSettled: evidence !== undefined
    },
    nowOf(state)
  )
  const sending = {
    ...withCall(began, n, {
      hasLost: false,
      phase: evidence !== undefined ? "end" : next === "ask" ? "ask" : next === "defer" ? "defer" : "end",
      owner: `c${n}`,
      sticky,
      firstAttemptAt,
      tag: tagText(tag),
      after: decision.after,
      chain: rules.sharesRetries(decision, claimed) ? tagText(tag) : `c${n}`,
      route,
      request: -1,
      torn: decision.torn === true,
      ownKind: undefined,
      result:
        evidence !== undefined
          ? sent(SEND, { provider: evidence.provider, failedOver: false }, evidence.providerMessageId)
          : next === "end"
            ? failed(SEND, { provider: route.first, failedOver: false }, "ambiguous", "too old")
            : undefined
    }),
    memory: replaceAt(state.memory, process, keepingDoubt(state, process, hold))
  }
  const begins = evidence === undefined && next === "ask"
  return { label, state: sending, broken: begins ? brokenByBegin(sending, actor) : undefined }
}

/** A call begins: the process's memory, and the store, which answers, is late, or does not. */
const begins = (context: Context, state: State): Moves => {
  const { bounds, rules } = context
  const n = state.calls.findIndex(({ phase }) => phase === "new")
  if (n === -1) return []
  const now = nowOf(state)
  const owner = `c${n}`
  const request = { payloadHash: "", provider: bounds.primary, owner, tag: KeyTag.make(rules.tagOf("first")) }
  // The first call is anybody's.
  const processes = n === 0 ? [0] : [0, 1]
  return processes.flatMap((process): Moves => {
    const label = `call ${n} at P${process}`
    const own = remembered(context, state, process, request)
    if (own?._tag === "InProgress" || own?._tag === "Conflict")
      return [underWay(state, n, `at P${process}, remembered`)]
    const unasked = { process, claimed: false, evidence: undefined }
    const without = (from: State, why: string) => {
      if (own?._tag === "Replay")
        return answered(from, n, own.result, actorOf(from, unasked), `${label}, remembered, ${why}`)
      const alone = rules.tornAt(own ?? newUse(request.tag, now), doubtIn(state, process))
      return afterBegin(context, from, n, alone, {
        ...unasked,
        label: `${label}, ${why}`
      })
    }
    if (!state.storeIsUp) return [without(state, "the store is away")]
    // A single operation gets lost while others work.
    const lost =
      state.losses === 0
        ? []
        : [without({ ...state, losses: state.losses - 1 }, "which the store does not hear")]
    const { claim } = state
    // A later use of the key is its claim's.
    const asked = {
      ...request,
      tag:
        claim === undefined
          ? tagWithoutClaim(context, state, owner, request.tag)
          : KeyTag.make(rules.tagOf(owner))
    }
    const untorn = rules.decideClaim(
      claim,
      asked,
      {
        evidence:
          claim === undefined ? undefined : evidenceOf(state, tagText(claim.tag), claim.firstAttemptAt),
        trail: rules.trailLooks ? trailOf(state, process) : undefined
      },
      now
    )
    const decision =
      untorn._tag === "Claimed" ? rules.tornAt(untorn, leftOpen(state, untorn, untorn.sticky)) : untorn
    if (decision._tag !== "Claimed")
      return [
        afterBegin(
          context,
          decision._tag === "Replay" && own?._tag !== "Replay"
            ? learnt(context, state, process, decision)
            : state,
          n,
          decision,
          { process, claimed: true, evidence: undefined, label }
        ),
        ...lost
      ]
    // What the store has said, or heard, of a deferral is no more than it knows.
    const isStored = state.memory[process]?.isStored === true
    const isRepeated = own?._tag === "Replay" && own.result.status !== "deferred"
    const grant = (isSettled: boolean): State => ({
      ...state,
      claim: rules.claimOf(claim, decision, { ...asked, leaseMs: LEASE_MS, leaving: true, isSettled }, now)
    })
    const evidence =
      decision.sticky === undefined
        ? undefined
        : evidenceOf(grant(isRepeated), tagText(decision.tag), decision.firstAttemptAt)
    const asksNobody = isRepeated || evidence !== undefined || rules.continuation(decision) !== "ask"
    const granted: State = {
      ...grant(isRepeated || evidence !== undefined),
      held: asksNobody ? state.held : heldNow(state)
    }
    const final = rules.tornAt(
      rules.agreed(decision, own, { isProven: evidence !== undefined, isStored }),
      doubtIn(state, process)
    )
    const moves = [
      final._tag === "Claimed"
        ? afterBegin(context, granted, n, final, { process, claimed: true, evidence, label })
        : repeated(context, granted, n, final, { process, label })
    ]
    return state.losses === 0
      ? moves
      : [
          ...moves,
          ...lost,
          without(
            { ...granted, losses: state.losses - 1 },
            "the store takes the claim, and its answer is late"
          )
        ]
  })
}

const isEndOfRetry = (says: State["rows"][number]["says"]): boolean => says === "over" || says === "ended"

/** What the process repeats though the store took the key for an earlier attempt's: the store gets to know it. */
const repeated = (
  { rules }: Context,
  state: State,
  n: number,
  final: Exclude<ClaimDecision, Claimed>,
  { label, process }: { readonly process: number; readonly label: string }
): Step<State> => {
  if (final._tag !== "Replay") return underWay(state, n, `at P${process}`)
  // A deferral that is not written has ended where a row of the last day says so.
  const isOver =
    rules.asksBeforeTelling &&
    final.result.status === "deferred" &&
    !state.deferrals.some(({ id }) => id === final.result.sendId) &&
    state.rows.some(({ at, says }) => isEndOfRetry(says) && nowOf(state) - at < IDEMPOTENCY_WINDOW_MS)
  const result: SendResult = isOver
    ? failed(
        sendOf(final.result.sendId),
        { provider: final.result.provider ?? "provider_a", failedOver: false },
        "ambiguous",
        "its retries are over"
      )
    : final.result
  const told = rules.settledState(result.status, undefined, false)
  const end = { owner: `c${n}`, state: told, ambiguous: result.status !== "sent", result }
  const claim = rules.settledClaim(state.claim, end, nowOf(state)) ?? state.claim
  const began = withCall(state, n, {
    since: { requests: state.requests.length, rows: state.rows.length }
  })
  return answered(
    withDeferralRow({ ...began, claim }, result),
    n,
    result,
    actorOf(state, { process, claimed: true }),
    `${label}, remembered`
  )
}

const leave = (
  state: State,
  from: {
    readonly process: number
    readonly claimed: boolean
    readonly provider: Provider
    readonly tag: string
  }
): State => ({
  ...state,
  // What a send without a claim does, the store cannot count: it prolongs no use.
  held: from.claimed || useNow(state) !== state.held.use ? heldNow(state) : state.held,
  requests: [
    ...state.requests,
    {
      provider: from.provider,
      tag: from.tag,
      by: lifeOf(state, from.process),
      claimed: from.claimed,
      at: nowOf(state),
      use: useNow(state),
      flying: true,
      accepted: false,
      copy: false,
      heard: "nothing",
      told: false
    }
  ]
})

/** A caller that lost its claim answers what the claim says: the key is under way, or settled by somebody else. */
const underWay = (state: State, n: number, why: string): Step<State> => ({
  label: `call ${n} ${why}: under way`,
  state: withCall(state, n, { phase: "done", result: undefined })
})

/** A call's request leaves. */
const leaves = (_: Context, state: State): Moves =>
  state.calls.flatMap((call, n): Moves => {
    if (call.phase !== "ask") return []
    const provider = call.route.first
    const failsOver = call.ownKind !== undefined
    // It looks at its clock before, and may stand still after that.
    return [
      ...(call.hasLost ? [underWay(state, n, "has lost its claim")] : []),
      {
        label: `call ${n} asks ${provider}`,
        broken: brokenByLeaving(state, provider, actorOf(state, call), { ...call, failsOver }),
        state: withCall(leave(state, { ...call, provider }), n, {
          phase: "wait",
          request: state.requests.length
        })
      }
    ]
  })

/** What the provider does with a request that arrives: what it answers, and the state after it. */
const arrive = (state: State, n: number): ReadonlyArray<readonly [Heard, State]> => {
  const request = state.requests[n]!
  const now = nowOf(state)
  const { provider, tag } = request
  const done = { flying: false }
  const refused = ["unavailable", withRequest(state, n, done)] as const
  const { window } = state
  if (provider === "provider_a" && window !== undefined && now - window.at < IDEMPOTENCY_WINDOW_MS)
    return window.tag === tag
      ? [["accepted", withRequest(state, n, { ...done, accepted: true })], refused]
      : [["ambiguous", withRequest(state, n, done)], refused]
  const accepted = withRequest(state, n, { ...done, accepted: true, copy: true })
  return [
    ["accepted", provider === "provider_a" ? { ...accepted, window: { tag, at: now } } : accepted],
    refused,
    ["rejected", withRequest(state, n, done)]
  ]
}

/** What the waiting caller of a request may hear: the answer, nothing of what happened, or nothing while it is still on its way. */
const hears = (
  { bounds }: Context,
  state: State,
  n: number
): ReadonlyArray<{ readonly label: string; readonly heard: Heard; readonly state: State }> => {
  const { provider } = state.requests[n]!
  const give = (label: string, heard: Heard, from: State) => ({
    label,
    heard,
    state: withRequest(from, n, { heard })
  })
  const arrivals = arrive(state, n)
  return [
    ...arrivals.map(([heard, then]) => give(`${provider}: ${heard}`, heard, then)),
    ...arrivals
      .filter(([heard]) => heard === "accepted")
      .map(([, then]) => give(`${provider}: accepted, the answer is lost`, "ambiguous", then)),
    give(`${provider}: the request is lost`, "ambiguous", withRequest(state, n, { flying: false })),
    ...(bounds.flies
      ? [give(`${provider}: no answer in time, the request is on its way`, "ambiguous", state)]
      : [])
  ]
}

/** The answer of a call's attempt, and what follows it. */
const hearsAnswer = (context: Context, state: State): Moves =>
  state.calls.flatMap((call, n): Moves => {
    if (call.phase !== "wait") return []
    const provider = call.route.first
    const tried = { provider, failedOver: call.ownKind !== undefined }
    return hears(context, state, call.request).map(({ heard, label, state: then }) => {
      const words = `call ${n} hears from ${label}`
      const broken = brokenByCopy(then)
      if (heard === "accepted")
        return {
          label: words,
          broken,
          state: withCall(then, n, {
            phase: "end",
            ownKind: undefined,
            result: sent(SEND, tried, `${provider}-${call.tag}`)
          })
        }
      const kind: FailureKind = heard === "nothing" ? "ambiguous" : heard
      const after = context.rules.afterFailure(call.route, call.sticky !== undefined, kind)
      if (after._tag === "FailOver")
        return { label: words, broken, state: withCall(then, n, { phase: "move", ownKind: kind }) }
      if (after._tag === "Defer")
        return { label: words, broken, state: withCall(then, n, { phase: "defer", ownKind: kind }) }
      return {
        label: words,
        broken,
        state: withCall(then, n, {
          phase: "end",
          ownKind: kind,
          result: failed(SEND, tried, after.kind, "refused")
        })
      }
    })
  })

/** Where a row has left a use of the key open, other than at a provider: `email_doubt_at`. */
const leftOpen = (
  state: State,
  { firstAttemptAt }: Pick<Claim, "firstAttemptAt">,
  provider: Provider | undefined
): Provider | undefined =>
  state.rows.findLast(
    (row) =>
      row.at >= firstAttemptAt && (row.says === "open" || row.says === "over") && row.provider !== provider
  )?.provider

/** The row of a call's end ends the deferrals before it, unless it is one. */
const withDeferralRow = (state: State, { sendId, status }: SendResult): State =>
  status === "failed" || status === "suppressed"
    ? endingDeferrals(state)
    : status === "deferred" && !state.deferrals.some(({ id }) => id === sendId)
      ? { ...state, deferrals: [...state.deferrals, { id: sendId, hasEnd: false }] }
      : state

const endingDeferrals = (state: State): State => ({
  ...state,
  deferrals: state.deferrals.map(({ id }) => ({ id, hasEnd: true }))
})

/** A call that learns that its key was accepted. */
const proven = (state: State, n: number, evidence: Evidence, words: string): Step<State> => ({
  label: `call ${n} ${words}`,
  state: withCall(state, n, {
    phase: "end",
    result: sent(SEND, { provider: evidence.provider, failedOver: false }, evidence.providerMessageId)
  })
})

/** A fail-over: the claim is moved first, where there is one. */
const moves = ({ rules }: Context, state: State): Moves =>
  state.calls.flatMap((call, n): Moves => {
    if (call.phase !== "move") return []
    const to = other(call.route.first)
    const goesOn = (from: State, label: string, isStored: boolean): Step<State> => ({
      label,
      broken: isStored ? brokenByBegin(from, actorOf(from, call)) : undefined,
      state: {
        ...withCall(from, n, {
          phase: "ask",
          route: { first: to, fallback: undefined },
          since: { requests: from.requests.length, rows: from.rows.length }
        }),
        memory: from.memory.map((claim, process) =>
          process === call.process ? (rules.movedClaim(claim, call.owner, to) ?? claim) : claim
        )
      }
    })
    const ends = (from: State, label: string, provider = call.route.first): Step<State> => ({
      label,
      state: withCall(from, n, {
        phase: "end",
        ownKind: "ambiguous",
        route: { first: provider, fallback: undefined },
        result: failed(SEND, { provider, failedOver: false }, "ambiguous", "not moved")
      })
    })
    const words = `call ${n} turns to ${to}`
    // A send whose look-up got no answer may hold its claim all the same: it is moved, and the send goes on in any case.
    if (!call.claimed) {
      const granted = state.storeIsUp ? rules.movedClaim(state.claim, call.owner, to) : undefined
      return [goesOn(granted === undefined ? state : { ...state, claim: granted }, words, false)]
    }
    const unknown = (from: State, why: string) =>
      rules.mayGoOn(true, "unknown")
        ? goesOn(from, `${words}, ${why}`, false)
        : ends(from, `${words}, ${why}`)
    if (!state.storeIsUp) return [unknown(state, "the store is away")]
    const moved = rules.movedClaim(state.claim, call.owner, to)
    const { claim } = state
    if (moved === undefined || claim === undefined)
      return rules.mayGoOn(true, "passed")
        ? [goesOn(state, `${words}, its claim has passed on`, false)]
        : [underWay(state, n, `turns to ${to}, its claim has passed on`)]
    const evidence = evidenceOf(state, tagText(claim.tag), claim.firstAttemptAt)
    if (evidence !== undefined && rules.moveLooks)
      return [proven(state, n, evidence, "finds evidence before it turns")]
    const open = rules.moveLooks ? leftOpen(state, claim, claim.ambiguous ? to : undefined) : undefined
    if (open !== undefined)
      return [ends({ ...state, claim: boundClaim(claim, open) }, `${words}, which ${open} may have`, open)]
    const stored = { ...state, claim: moved }
    return state.losses === 0
      ? [goesOn(stored, words, true)]
      : [
          goesOn(stored, words, true),
          unknown({ ...stored, losses: state.losses - 1 }, "stored, and the answer is late"),
          unknown({ ...state, losses: state.losses - 1 }, "not stored in time")
        ]
  })

/** An ambiguous attempt is settled by evidence, or queued. */
const defers = ({ bounds }: Context, state: State): Moves =>
  state.calls.flatMap((call, n): Moves => {
    if (call.phase !== "defer") return []
    const provider = call.route.first
    const tried = {
      provider,
      failedOver: call.ownKind !== undefined && call.route.fallback === undefined && call.sticky === undefined
    }
    const end = (from: State, result: SendResult, words: string): Step<State> => ({
      label: `call ${n} ${words}`,
      state: withCall(from, n, { phase: "end", result })
    })
    const evidence = state.storeIsUp ? evidenceOf(state, call.tag, call.firstAttemptAt) : undefined
    if (evidence !== undefined) return [proven(state, n, evidence, "finds evidence")]
    if (call.hasLost) return [underWay(state, n, "has lost its claim")]
    if (bounds.retries === 0)
      return [end(state, failed(SEND, tried, "ambiguous", "no queue"), "cannot defer")]
    const since = nowOf(state) - call.firstAttemptAt
    if (delayBefore(1, [120, 600, 900], since) === undefined)
      return [end(state, failed(SEND, tried, "ambiguous", "too old"), "is too old to defer")]
    const retry: Retry = {
      isOfClaim: call.claimed,
      chain: call.chain,
      attempt: 1,
      provider,
      tag: call.tag,
      firstAttemptAt: call.firstAttemptAt,
      holder: undefined
    }
    const queued = { ...state, retries: [...state.retries, retry], deferred: [...state.deferred, call.tag] }
    return [
      {
        ...end(queued, deferred(sendOf(call.owner), tried), "queues a retry"),
        broken: brokenByDeferring(state, retry, call.owner)
      }
    ]
  })

/** An acceptance is as old as its event, where that made the row. */
const acceptedAt = (state: State, { tag }: { readonly tag: string }): number =>
  state.requests.findLast(({ accepted, tag: own }) => accepted && own === tag)?.at ?? nowOf(state)

const stateOfEnd = ({ rules }: Context, { ownKind, result, sticky, torn }: Call): ClaimState =>
  torn && result!.status !== "sent"
    ? "ended"
    : rules.settledState(result!.status, ownKind, sticky !== undefined)

/** A call ends: its row and its claim, where the store takes them, and the process's memory. */
const ends = (context: Context, state: State): Moves =>
  state.calls.flatMap((call, n): Moves => {
    if (call.phase !== "end" || call.result === undefined) return []
    const result = { ...call.result, sendId: LogRowId.make(call.owner) }
    // An acceptance that it learns of is recorded as evidence, also where another call holds the claim.
    if (call.hasLost && result.status !== "sent") return [underWay(state, n, "has lost its claim")]
    const { rules } = context
    const now = nowOf(state)
    const kept = stateOfEnd(context, call)
    const ambiguous =
      call.sticky !== undefined || result.status === "deferred" || kept === "ambiguous" || kept === "ended"
    const end: ClaimEnd = {
      owner: call.owner,
      state: kept,
      ambiguous,
      result,
      after: call.after
    }
    const actor = actorOf(state, call)
    const asked = state.requests[call.request]
    const doubtAt = asked?.heard === "ambiguous" ? asked.provider : undefined
    const inMemory = (isWritten: boolean) =>
      state.memory.map((claim, process) => {
        if (process !== call.process) return claim
        const after = rules.settledClaim(claim, end, now)
        const settled =
          after === undefined
            ? claim
            : { ...after, doubtAt: doubtAt ?? claim?.doubtAt, ...(isWritten ? { isStored: true } : {}) }
        return isWritten ? rules.afterWriting(settled) : settled
      })
    const unwritten = (from: State, why: string) =>
      answered({ ...from, memory: inMemory(false) }, n, result, actor, `call ${n} ends, ${why}`)
    if (!state.storeIsUp) return [unwritten(state, "the store is away")]
    const isOpen = result.status === "deferred" || (result.status === "failed" && result.kind === "ambiguous")
    const row = {
      provider: call.route.first,
      tag: call.tag,
      says:
        result.status === "sent"
          ? ("accepted" as const)
          : result.status === "failed" && call.request === -1
            ? ("ended" as const)
            : ("open" as const),
      at: result.status === "sent" ? acceptedAt(state, call) : now,
      by: actor.by
    }
    const isKnown = state.rows.some((one) => one.tag === row.tag && one.says === row.says)
    const written: State = {
      ...withDeferralRow(state, result),
      claim: rules.settledClaim(state.claim, end, now) ?? state.claim,
      rows: (isOpen || row.says === "accepted") && !isKnown ? [...state.rows, row] : state.rows,
      memory: inMemory(true)
    }
    const steps = [answered(written, n, result, actor, `call ${n} ends`)]
    return state.losses === 0
      ? steps
      : [
          ...steps,
          unwritten({ ...state, losses: state.losses - 1 }, "its row is lost"),
          unwritten({ ...written, losses: state.losses - 1 }, "and its row's answer is lost")
        ]
  })

export const callMoves: ReadonlyArray<(context: Context, state: State) => Moves> = [
  begins,
  leaves,
  hearsAnswer,
  moves,
  defers,
  ends
]

export {
  acceptedAt,
  answered,
  arrive,
  evidenceOf,
  doubtIn,
  endingDeferrals,
  hears,
  keepingDoubt,
  learnt,
  leave,
  leftOpen,
  lifeOf,
  replaceAt,
  tagText,
  withCall,
  withRequest,
  actorOf,
  SEND,
  sendOf
}
export type { Moves }
