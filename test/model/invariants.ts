import { type Claim, isFree } from "../../src/domain/mail/claim.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../src/domain/mail/failover.ts"
import type { Provider } from "../../src/domain/mail/provider.ts"
import type { SendResult } from "../../src/domain/mail/send-result.ts"
import { type Call, nowOf, type Request, type Retry, retryId, type State } from "./state.ts"

/** Who acts: a process in one of its lives, with a claim or without one. */
export interface Actor {
  readonly by: string
  readonly claimed: boolean
}

/** The use of the key that an attempt now would belong to: a key is held until 24 hours after its last attempt. */
export const useNow = (state: State): number => {
  const { at, use } = state.held
  return nowOf(state) - at >= IDEMPOTENCY_WINDOW_MS ? use + 1 : use
}

/** An attempt begins when its claim commits, or where it leaves without one: the key is held from then on. */
export const heldNow = (state: State): State["held"] => ({ use: useNow(state), at: nowOf(state) })

const ofUse = (state: State, use: number): ReadonlyArray<Request> =>
  state.requests.filter((request) => request.use === use)

/** Nobody who asked can know what became of it. */
const isDoubtful = ({ flying, heard }: Request): boolean =>
  heard === "ambiguous" || heard === "nothing" || (flying && heard !== "accepted")

/**
 * "S2, S3 and S4 hold for what the store, or the process itself, knows; sends without a claim in another process are the admitted
 * exception": until their row is there.
 */
const hadToKnow = (state: State, request: Request, actor: Actor): boolean =>
  knowsItself(state, request, actor) ||
  (actor.claimed &&
    (request.claimed || state.rows.some((row) => row.provider === request.provider && isRowOf(row, request))))

const isOfToday = (state: State, { at }: Pick<Request, "at">): boolean =>
  nowOf(state) - at < IDEMPOTENCY_WINDOW_MS

/** Requests that one another's time leads to: "a key is held until 24 h after its last attempt", of those who count. */
const heldBy = (state: State, attempts: ReadonlyArray<Request>): ReadonlyArray<Request> => {
  let since = nowOf(state)
  for (const { at } of attempts.toReversed())
    if (since - at < IDEMPOTENCY_WINDOW_MS) since = Math.min(since, at)
  return attempts.filter(({ at }) => at >= since)
}

/** What a process did itself: "a process remembers its answers for the key's time", which it counts by its own attempts without the store. */
const knowsItself = (state: State, request: Request, { by, claimed }: Actor): boolean =>
  request.by === by &&
  ((claimed && request.claimed) ||
    heldBy(
      state,
      state.requests.filter((one) => one.by === by)
    ).includes(request))

/** A row about the mail of a request: calls without a claim carry one tag, in every process and also a day later. */
const isRowOf = (row: State["rows"][number], { at, by, tag }: Request): boolean =>
  row.tag === tag && row.by === by && row.at >= at && row.at - at < IDEMPOTENCY_WINDOW_MS

/** The store holds proof: a row of its time, or an event whose tag it can tell to be of this key, since a claim or a row has it. */
const isProven = (state: State, request: Request): boolean =>
  request.accepted &&
  ((request.told && request.claimed) ||
    state.rows.some((row) => isRowOf(row, request) && (row.says === "accepted" || request.told)))

/** S4: no attempt begins once acceptance of this use is proven to the store, or to the process itself. */
export const brokenByBegin = (state: State, actor: Actor): string | undefined => {
  const use = useNow(state)
  // Until a call has ended, its process has not taken in what it heard.
  const isTakenIn = (request: Request) =>
    !state.calls.some(({ phase, request: n }) => phase === "end" && state.requests[n] === request) &&
    !state.retries.some(({ holder }) => holder !== undefined && state.requests[holder.request] === request)
  const known = ofUse(state, use).find(
    (request) =>
      (request.heard === "accepted" && knowsItself(state, request, actor) && isTakenIn(request)) ||
      (actor.claimed && isProven(state, request))
  )
  return known === undefined
    ? undefined
    : `S4: ${actor.by} begins an attempt, and ${known.provider} has accepted the mail: ${known.told ? "an event says so" : "its answer said so"}`
}

/** A request that leaves. */
interface Leaving {
  /** What there was when its claim committed. */
  readonly since: Call["since"]
  readonly failsOver: boolean
}

/** S1, S2 and S3 as a request leaves for a provider. */
export const brokenByLeaving = (
  state: State,
  provider: Provider,
  actor: Actor,
  { failsOver, since }: Leaving
): string | undefined => {
  const use = useNow(state)
  const before = state.requests.slice(0, since.requests).filter((request) => request.use === use)
  const known = { ...state, rows: state.rows.slice(0, since.rows) }
  const doubtful = before.filter((request) => isDoubtful(request) && hadToKnow(known, request, actor))
  const stranger = doubtful.find((request) => request.provider !== provider)
  if (stranger !== undefined)
    return `S2: ${actor.by} asks ${provider}, and the key is ambiguous on ${stranger.provider}`
  const first = doubtful[0]
  if (first !== undefined && nowOf(state) - first.at >= IDEMPOTENCY_WINDOW_MS)
    return `S1: ${actor.by} asks ${provider} on an ambiguous key, 24 hours after its first attempt`
  const hasRefused = ofUse(state, use).some(
    ({ by, heard, provider: other }) => by === actor.by && heard === "unavailable" && other !== provider
  )
  if (failsOver && !hasRefused) return `S3: ${actor.by} fails over to ${provider}, and nobody has refused`
  return undefined
}

/** S1 and S2 once a copy has left. */
export const brokenByCopy = (state: State): string | undefined => {
  const sofar = ofUse(state, state.held.use)
  const copies = sofar.filter(({ copy }) => copy)
  const [first, ...others] = copies.filter(({ provider }) => provider === "provider_a")
  // Without the store nobody knows that the key's time was prolonged: "three cases remain" in docs/explanation/reliability.md.
  const second = others.find(
    ({ at, claimed }) => (claimed && first?.claimed === true) || at - first!.at < IDEMPOTENCY_WINDOW_MS
  )
  if (second !== undefined) return "S1: two copies of one use of the key left provider_a"
  const isOfOthers = sofar.some(({ claimed }) => !claimed)
  if (new Set(copies.map(({ provider }) => provider)).size > 1 && !isOfOthers)
    return "S2: two providers deliver one use of the key, and every send of it had a claim"
  return undefined
}

/** S2, S5 and "nothing is answered for a mail that nobody ever tried to send", as a call is answered. */
export const brokenByAnswer = (
  state: State,
  result: SendResult,
  actor: Actor,
  { since }: Pick<Call, "since">
): string | undefined => {
  const use = useNow(state)
  const sofar = ofUse(state, use)
  if (result.ok !== (result.status === "sent" || result.status === "deferred")) return "S5: ok says otherwise"
  // "A call without a claim carries the tag of the key's first use, so that a day after an earlier one it may be answered by what Resend
  // remembers of that one, or settled by its event" (docs/explanation/reliability.md), and so are the calls that repeat its answer.
  // By what the store counts, or by every attempt there was.
  const held = [...sofar, ...heldBy(state, state.requests)]
  const isSure = actor.claimed && held.every(({ claimed }) => claimed)
  const isOfYesterday = state.requests.some(
    ({ accepted, claimed, use: of }) => accepted && of < use && !(claimed && isSure)
  )
  if (result.status === "sent" && !isOfYesterday && !held.some(({ copy }) => copy))
    return "S5: answered sent, and no mail of this use of the key left"
  if (result.status === "failed") {
    const hasAsked = state.requests.some((one) => one.by === actor.by && isOfToday(state, one))
    const isUnasked = sofar.length === 0 && state.retries.length === 0 && !hasAsked
    if (result.kind === "ambiguous" && isUnasked && state.hasQueue)
      return "S5: answered that it may have left, though nobody was ever asked: it is never sent"
    const known = { ...state, rows: state.rows.slice(0, since.rows) }
    const doubtful = sofar.find(
      (request) => (isDoubtful(request) || request.accepted) && hadToKnow(known, request, actor)
    )
    if (result.kind !== "ambiguous" && doubtful !== undefined)
      return `S2: answered as certainly not delivered (${result.kind}), and ${doubtful.provider} may have it`
  }
  return undefined
}

/** D1 as a retry is queued: its message is not dropped as one of retries that have ended. */
export const brokenByDeferring = (state: State, retry: Retry, owner: string): string | undefined =>
  state.handled.includes(retryId(retry)) &&
  // Its claim notes how they ended while it was under way, and the next call hears of it.
  !(state.claim?.owner === owner && state.claim.result !== undefined) &&
  !state.retries.some(({ chain, provider }) => chain === retry.chain && provider === retry.provider)
    ? "D1: deferred, and the retries that are to follow have ended before"
    : undefined

/** Whether a call on the key hears how its deferral ended, as a request of the queue has to. */
const isHeardOf = (state: State, { result }: Claim): boolean =>
  state.deferrals.some(({ hasEnd, id }) => id === result?.sendId && hasEnd) ||
  state.rows.some(({ says }) => says === "accepted") ||
  state.requests.some((request) => isProven(state, request)) ||
  state.requests.some(({ tag, told }) => told && state.deferred.includes(tag))

/** D1 where nothing moves any more: a deferral without a retry has an end. */
export const brokenAtRest = (state: State): string | undefined => {
  const isAtRest =
    state.storeIsUp &&
    state.retries.length === 0 &&
    !state.isReported &&
    state.calls.every(({ phase }) => phase === "done" || phase === "dead" || phase === "new")
  if (!isAtRest) return undefined
  const { claim } = state
  if (
    claim?.state === "deferred" &&
    claim.result !== undefined &&
    !isFree(claim, nowOf(state)) &&
    !isHeardOf(state, claim)
  )
    return "D1: the key's deferral has no retry and no end, and a queued request under it waits"
  const isOpen = state.rows.some(({ says, tag }) => says === "open" && state.deferred.includes(tag))
  const hasEnded =
    state.rows.some(({ says }) => says !== "open") ||
    // An event ends the deferral whose tag it names, whichever request it belongs to.
    state.requests.some(({ tag, told }) => told && state.deferred.includes(tag)) ||
    state.requests.some((request) => isProven(state, request))
  return isOpen && !hasEnded ? "D1: deferred, and no retry is queued" : undefined
}
