import { KeyTag } from "../../src/domain/ids.ts"
import type { ClaimEnd } from "../../src/domain/mail/claim-end.ts"
import { type Claim, type Evidence, isFree } from "../../src/domain/mail/claim.ts"
import { delayBefore } from "../../src/domain/mail/deferred-send.ts"
import { withinWindow } from "../../src/domain/mail/failover.ts"
import { dedupes } from "../../src/domain/mail/provider.ts"
import { failed, sent, suppressed } from "../../src/domain/mail/send-result.ts"
import { brokenByBegin, brokenByCopy, brokenByLeaving } from "./invariants.ts"
import {
  acceptedAt,
  actorOf,
  type Context,
  doubtIn,
  endingDeferrals,
  evidenceOf,
  hears,
  keepingDoubt,
  learnt,
  leave,
  leftOpen,
  lifeOf,
  type Moves,
  replaceAt,
  SEND,
  sendOf
} from "./moves.ts"
import { LEASE_MS, nowOf, type Retry, type RetryEnd, retryId, type State } from "./state.ts"

/** How far apart two uses of a key are at least, less what clocks may differ. */
const AROUND_MS = 23 * 3_600_000 + 50 * 60_000

const DELAYS_SECONDS = [120, 600, 900] as const

type Holder = NonNullable<Retry["holder"]>

const withRetry = (state: State, n: number, change: Partial<Retry>): State => ({
  ...state,
  retries: replaceAt(state.retries, n, { ...state.retries[n]!, ...change })
})
const withHolder = (state: State, n: number, holder: Holder | undefined): State =>
  withRetry(state, n, { holder })
const without = (state: State, n: number): State => ({
  ...state,
  retries: state.retries.filter((_, at) => at !== n)
})

/** The rows with what the retry's says. */
const withRow = (
  state: State,
  { provider, tag }: Retry,
  says: State["rows"][number]["says"],
  by: string
): State["rows"] =>
  state.rows.some((row) => row.tag === tag && row.says === says)
    ? state.rows
    : [
        ...state.rows,
        { provider, tag, says, by, at: says === "accepted" ? acceptedAt(state, { tag }) : nowOf(state) }
      ]

/** What a retry that evidence settles learns of its use of the key. */
const settledBy = (claim: Claim, retry: Retry, { provider, providerMessageId }: Evidence) => {
  const { firstAttemptAt } = retry
  const isOfThisUse = claim.tag === (retry.tag === "none" ? undefined : retry.tag)
  return {
    _tag: "Replay" as const,
    result: sent(SEND, { provider, failedOver: false }, providerMessageId),
    firstAttemptAt: isOfThisUse ? claim.firstAttemptAt : firstAttemptAt,
    lastAttemptAt: isOfThisUse ? claim.lastAttemptAt : firstAttemptAt
  }
}

/** A message is received: the look-up, which finds evidence, another's lease, or nothing. */
const received = (context: Context, state: State): Moves =>
  state.retries.flatMap((retry, n): Moves => {
    if (retry.holder !== undefined) return []
    const { rules } = context
    const now = nowOf(state)
    return [0, 1].flatMap((process): Moves => {
      const owner = `r${process}`
      const words = `P${process} takes retry ${retry.attempt}`
      const holder = { process, claimed: true, owner, request: state.requests.length }
      const asks = (from: State, held: Holder, label: string) => ({
        label,
        broken:
          brokenByBegin(from, actorOf(from, held)) ??
          brokenByLeaving(
            from,
            retry.provider,
            actorOf(from, held),
            // What a send without a claim did not know, its retries on the same provider go on with.
            {
              since: { requests: retry.isOfClaim ? from.requests.length : 0, rows: from.rows.length },
              failsOver: false
            }
          ),
        state: holding(
          context,
          withHolder(leave(from, { ...held, provider: retry.provider, tag: retry.tag }), n, held),
          retry,
          held
        )
      })
      // What the process itself knows, its retries know.
      const own = state.memory[process]
      if (rules.retryRemembers && own !== undefined && !isFree(own, now)) {
        if (now < own.leaseUntil) return []
        if (own.state === "accepted")
          return recorded(context, withHolder(state, n, holder), n, "accepted", `${words}, which remembers`)
      }
      const alone = (from: State, why: string) =>
        // Its own clock, right or wrong, and what it remembers can hold it back; neither ends it.
        dedupes(retry.provider) &&
        withinWindow(now - retry.firstAttemptAt) &&
        rememberedBy(context, from, retry, holder)?.torn !== true
          ? [asks(from, { ...holder, claimed: false }, `${words} ${why}`)]
          : []
      if (!state.storeIsUp) return alone(state, "without the store")
      const lost =
        state.losses === 0
          ? []
          : alone({ ...state, losses: state.losses - 1 }, "which the store does not hear")
      if (state.handled.includes(retryId(retry)))
        return [{ label: `${words}: it is recorded`, state: without(state, n) }, ...lost]
      const tag = retry.tag === "none" ? undefined : KeyTag.make(retry.tag)
      const written = state.rows.filter(({ at }) => at > now - AROUND_MS)
      const firstAttemptAt = written[0]?.at ?? retry.firstAttemptAt
      const times = { firstAttemptAt, lastAttemptAt: written.at(-1)?.at ?? firstAttemptAt }
      const claim = state.claim ?? rules.claimOfRetry({ provider: retry.provider, owner, tag }, times)
      const decision = rules.decideRetry(
        claim,
        {
          owner,
          provider: retry.provider,
          leaseMs: LEASE_MS,
          tag,
          ageMs: now - retry.firstAttemptAt,
          evidence: evidenceOf(state, retry.tag, retry.firstAttemptAt),
          doubtAt: leftOpen(state, claim, retry.provider)
        },
        now
      )
      if (decision._tag === "Busy") return lost
      if (decision._tag === "Settled")
        return [
          {
            label: `${words}: settled by evidence`,
            state: without(
              learnt(context, { ...state, claim }, process, settledBy(claim, retry, decision.evidence)),
              n
            )
          },
          ...lost
        ]
      const going = { ...state, claim: decision.claim }
      const givesUp = (why: string) =>
        recorded(context, withHolder(going, n, holder), n, "rejected", `${words}, ${why}`)
      if (!withinWindow(now - retry.firstAttemptAt)) return givesUp("a day later")
      if (decision.torn || rememberedBy(context, state, retry, holder)?.torn)
        return givesUp("of a key in doubt elsewhere")
      const blocked = withHolder(going, n, holder)
      return [
        asks(going, holder, words),
        ...lost,
        ...(state.losses === 0
          ? []
          : alone({ ...going, losses: state.losses - 1 }, "and the store's answer is lost")),
        ...(context.bounds.suppresses
          ? recorded(context, blocked, n, "suppressed", `${words}, whose recipients are suppressed`)
          : [])
      ]
    })
  })

/** What the process itself says to its retry; nothing where it does not let it go out. */
const rememberedBy = (
  { rules }: Context,
  state: State,
  retry: Retry,
  { owner, process }: Pick<Holder, "owner" | "process">
) => {
  if (!rules.retryRemembers) return undefined
  const { firstAttemptAt, provider } = retry
  const now = nowOf(state)
  const known = state.memory[process]
  const tag = retry.tag === "none" ? undefined : KeyTag.make(retry.tag)
  const claim =
    known === undefined || isFree(known, now)
      ? rules.claimOfRetry({ provider, owner, tag }, { firstAttemptAt, lastAttemptAt: firstAttemptAt })
      : known
  const left = doubtIn(state, process)
  const asked = {
    owner,
    doubtAt: left === provider ? undefined : left,
    provider,
    tag,
    leaseMs: LEASE_MS,
    ageMs: now - firstAttemptAt,
    evidence: undefined
  }
  const decision = rules.decideRetry(claim, asked, now)
  return decision._tag === "Go" ? decision : undefined
}

/** What the process remembers of the key while its retry is under way. */
const holding = (context: Context, state: State, retry: Retry, holder: Holder): State => {
  const decision = rememberedBy(context, state, retry, holder)
  return decision === undefined
    ? state
    : {
        ...state,
        memory: replaceAt(state.memory, holder.process, keepingDoubt(state, holder.process, decision.claim))
      }
}

/** What the process remembers of the key once its retry has ended. */
const remembering = (
  { rules }: Context,
  state: State,
  { process, provider }: Holder & Pick<Retry, "provider">,
  end: ClaimEnd
): State => {
  const settled = rules.retryRemembers
    ? rules.settledClaim(state.memory[process], end, nowOf(state))
    : undefined
  if (settled === undefined) return state
  const doubtAt = end.state === "accepted" ? state.memory[process]?.doubtAt : provider
  const before = state.memory[process]
  const isStored = before?.isStored === true && before.result === settled.result
  return { ...state, memory: replaceAt(state.memory, process, { ...settled, doubtAt, isStored }) }
}

/** How a retry that heard so ends, by what the store and the schedule say. */
const endOf = ({ bounds, rules }: Context, state: State, n: number, heard: RetryEnd): RetryEnd => {
  const { attempt, firstAttemptAt, tag } = state.retries[n]!
  const isOver = heard === "rejected" || heard === "suppressed" || heard === "accepted"
  if (isOver) return heard
  if (state.storeIsUp && evidenceOf(state, tag, firstAttemptAt) !== undefined) return "accepted"
  const delay = delayBefore(attempt + 1, DELAYS_SECONDS, nowOf(state) - firstAttemptAt)
  const isFinal = rules.refusedRetry === "unavailable" && heard === "unavailable"
  return isFinal || attempt >= bounds.retries || delay === undefined ? heard : "follows"
}

/** What a retry's end says of the key. */
const claimEndOf = ({ rules }: Context, retry: Retry, owner: string, end: RetryEnd): ClaimEnd => {
  if (end === "follows")
    return { owner, state: "deferred", ambiguous: true, result: undefined, isRetry: true }
  const { provider, tag } = retry
  const send = sendOf(retryId(retry))
  const tried = { provider, failedOver: false }
  const isRefused = rules.refusedRetry === "unavailable" && end === "unavailable"
  const result =
    end === "accepted"
      ? sent(send, tried, `${provider}-${tag}`)
      : end === "suppressed"
        ? suppressed(send, tried, "suppressed")
        : failed(send, tried, isRefused ? "unavailable" : "ambiguous", "over")
  const kind = end === "rejected" || end === "unavailable" || end === "ambiguous" ? end : undefined
  return {
    owner,
    state: rules.settledState(result.status, kind, true),
    ambiguous: true,
    result,
    isRetry: true
  }
}

/** The retry's row and the key's end, as the store takes them. */
const written = (context: Context, state: State, n: number, end: RetryEnd): State => {
  const { rules } = context
  const retry = state.retries[n]!
  const { holder, tag } = retry
  if (holder === undefined) return state
  const { claim } = state
  const said = claimEndOf(context, retry, holder.owner, end)
  // What a retry of an earlier use learns is not the end of the present one.
  const isOfThisUse = claim === undefined || claim.tag === (tag === "none" ? undefined : tag)
  const settled = rules.settledClaim(claim, isOfThisUse ? said : { ...said, result: undefined }, nowOf(state))
  const gone: State = {
    ...without(state, n),
    claim: settled ?? claim,
    handled: [...new Set([...state.handled, retryId(retry)])]
  }
  if (end === "follows") return gone
  const isUnasked = holder.request === state.requests.length
  const says = end === "accepted" ? "accepted" : isUnasked ? "ended" : "over"
  const rows = withRow(state, retry, says, lifeOf(state, holder.process))
  return { ...(end === "accepted" ? gone : endingDeferrals(gone)), rows }
}

const WORDS: Partial<Record<RetryEnd, string>> = { accepted: "sent", follows: "another follows" }

/** A retry has ended: its process remembers it, queues the one that follows, and writes its row, or waits for the store to take it. */
const recorded = (context: Context, state: State, n: number, heard: RetryEnd, words: string): Moves => {
  const retry = state.retries[n]!
  const { holder, provider } = retry
  if (holder === undefined) return []
  const end = endOf(context, state, n, heard)
  const label = `${words}: ${end !== heard && end === "accepted" ? "settled by evidence" : (WORDS[end] ?? "failed")}`
  const known = remembering(
    context,
    state,
    { ...holder, provider },
    claimEndOf(context, retry, holder.owner, end)
  )
  const queued: State =
    end === "follows"
      ? {
          ...known,
          retries: [...known.retries, { ...retry, attempt: retry.attempt + 1, holder: undefined }]
        }
      : known
  if (!state.storeIsUp && end === "accepted")
    return [{ label: `${label}, and nobody can write it`, state: { ...without(known, n), isReported: true } }]
  const waits = (from: State, why: string) => ({
    label: `${label}, ${why}`,
    state: withHolder(from, n, { ...holder, unwritten: end })
  })
  if (!state.storeIsUp) return [waits(queued, "which waits for the store")]
  const step = { label, state: written(context, queued, n, end) }
  return state.losses === 0
    ? [step]
    : [step, waits({ ...queued, losses: state.losses - 1 }, "and its row is lost")]
}

/** What the store did not take is written again. */
const writesAgain = (context: Context, state: State): Moves =>
  state.storeIsUp
    ? state.retries.flatMap(({ attempt, holder }, n): Moves => {
        if (holder?.unwritten === undefined) return []
        return [
          {
            label: `retry ${attempt} is written: ${WORDS[holder.unwritten] ?? "failed"}`,
            state: written(context, state, n, holder.unwritten)
          }
        ]
      })
    : []

/** The answer of a retry's attempt, and its end. */
const hearsAnswer = (context: Context, state: State): Moves =>
  state.retries.flatMap((retry, n): Moves => {
    const { holder } = retry
    if (holder === undefined || holder.unwritten !== undefined) return []
    return hears(context, state, holder.request).flatMap(({ heard, label, state: then }) => {
      const broken = brokenByCopy(then)
      return recorded(context, then, n, heard, `retry ${retry.attempt} hears from ${label}`).map((step) => ({
        ...step,
        broken
      }))
    })
  })

export const retryMoves = [received, hearsAnswer, writesAgain]
