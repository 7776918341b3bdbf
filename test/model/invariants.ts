import { IDEMPOTENCY_WINDOW_MS, type Provider } from "../../src/domain/mail/failover.ts"
import type { SendResult } from "../../src/domain/mail/send-result.ts"
import { type Call, nowOf, type Request, type State } from "./state.ts"

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
 * What the store, or the process itself, knows (S2, S3, S4): sends without a claim in another process are the admitted exception, until
 * their row is there. Without the store a process counts a key's time from the last attempt of its own.
 */
const hadToKnow = (state: State, request: Request, { by, claimed }: Actor): boolean =>
  (request.by === by && (claimed || isOfToday(state, request))) ||
  (claimed &&
    (request.claimed ||
      state.rows.some(({ provider, tag }) => tag === request.tag && provider === request.provider)))

const isOfToday = (state: State, { at }: Request): boolean => nowOf(state) - at < IDEMPOTENCY_WINDOW_MS

/** The store holds proof: a row, or an event whose tag it can tell to be of this key, since a claim or a row has it. */
const isProven = (state: State, { accepted, claimed, tag, told }: Request): boolean =>
  accepted &&
  (state.rows.some((row) => row.tag === tag && (row.says === "accepted" || told)) || (told && claimed))

/** S4: no attempt begins once acceptance of this use is proven to the store, or to the process itself. */
export const brokenByBegin = (state: State, actor: Actor): string | undefined => {
  const use = useNow(state)
  // Until a call has ended, its process has not taken in what it heard.
  const isTakenIn = (request: Request) =>
    !state.calls.some(({ phase, request: n }) => phase === "end" && state.requests[n] === request) &&
    !state.retries.some(({ holder }) => holder !== undefined && state.requests[holder.request] === request)
  const known = ofUse(state, use).find(
    (request) =>
      (request.heard === "accepted" &&
        request.by === actor.by &&
        (actor.claimed || isOfToday(state, request)) &&
        isTakenIn(request)) ||
      (actor.claimed && isProven(state, request))
  )
  return known === undefined
    ? undefined
    : `S4: ${actor.by} begins an attempt, and ${known.provider} has accepted the mail: ${known.told ? "an event says so" : "its answer said so"}`
}

/** S1, S2 and S3 as a request leaves for a provider; `since`: what there was when its claim committed. */
export const brokenByLeaving = (
  state: State,
  provider: Provider,
  actor: Actor,
  since: { readonly requests: number; readonly rows: number },
  failsOver: boolean
): string | undefined => {
  const use = useNow(state)
  const before = state.requests.slice(0, since.requests).filter((request) => request.use === use)
  const known = { ...state, rows: state.rows.slice(0, since.rows) }
  const doubtful = before.filter((request) => isDoubtful(request) && hadToKnow(known, request, actor))
  // Where an admitted exception has brought both providers in, each goes on with its own.
  const isOwn = before.some((request) => isDoubtful(request) && request.provider === provider)
  const stranger = isOwn ? undefined : doubtful.find((request) => request.provider !== provider)
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
  if (copies.filter(({ provider }) => provider === "provider_a").length > 1)
    return "S1: two copies of one use of the key left provider_a"
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
  const sofar = ofUse(state, useNow(state))
  if (result.ok !== (result.status === "sent" || result.status === "deferred")) return "S5: ok says otherwise"
  // Without the store a call carries the tag of the key's first use, and provider_a's own day begins when it accepts: a request that its
  // sender had given up may have come later than any attempt that somebody counted.
  const isOfYesterday = state.requests.some(
    ({ accepted, claimed, use }) => accepted && use < useNow(state) && !(claimed && actor.claimed)
  )
  if (result.status === "sent" && !isOfYesterday && !sofar.some(({ copy }) => copy))
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

/** D1 where nothing moves any more: a deferral without a retry has an end. */
export const brokenAtRest = (state: State): string | undefined => {
  const isAtRest =
    state.storeIsUp &&
    state.retries.length === 0 &&
    !state.isReported &&
    state.calls.every(({ phase }) => phase === "done" || phase === "dead" || phase === "new")
  if (!isAtRest) return undefined
  const isOpen = state.rows.some(({ says, tag }) => says === "open" && state.deferred.includes(tag))
  const hasEnded =
    state.rows.some(({ says }) => says !== "open") ||
    state.requests.some((request) => isProven(state, request))
  return isOpen && !hasEnded ? "D1: deferred, and no retry is queued" : undefined
}
