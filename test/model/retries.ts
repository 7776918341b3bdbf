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
  evidenceOf,
  hears,
  keepingDoubt,
  learnt,
  leave,
  leftOpen,
  lifeOf,
  type Moves,
  replaceAt,
  SEND
} from "./moves.ts"
import { type Heard, LEASE_MS, nowOf, type Retry, type State } from "./state.ts"

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
      if (!state.storeIsUp)
        // Its own clock, right or wrong, and what it remembers can hold it back; neither ends it.
        return dedupes(retry.provider) &&
          withinWindow(now - retry.firstAttemptAt) &&
          rememberedBy(context, state, retry, holder)?.torn !== true
          ? [asks(state, { ...holder, claimed: false }, `${words} without the store`)]
          : []
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
      if (decision._tag === "Busy") return []
      if (decision._tag === "Settled")
        return [
          {
            label: `${words}: settled by evidence`,
            state: without(
              learnt(context, { ...state, claim }, process, settledBy(claim, retry, decision.evidence)),
              n
            )
          }
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
  return { ...state, memory: replaceAt(state.memory, process, { ...settled, doubtAt }) }
}

/** How a retry's end is written: the key's end, or the next retry. */
const recorded = (
  context: Context,
  state: State,
  n: number,
  heard: Heard | "suppressed",
  words: string
): Moves => {
  const { bounds, rules } = context
  const retry = state.retries[n]!
  const { attempt, firstAttemptAt, holder, provider, tag } = retry
  if (holder === undefined) return []
  const now = nowOf(state)
  const { claim } = state
  const isFinal =
    heard === "rejected" ||
    heard === "suppressed" ||
    (rules.refusedRetry === "unavailable" && heard === "unavailable")
  const endOf = (ended: typeof heard): ClaimEnd => {
    const isRefused = rules.refusedRetry === "unavailable" && ended === "unavailable"
    const result =
      ended === "accepted"
        ? sent(SEND, { provider, failedOver: false }, `${provider}-${tag}`)
        : ended === "suppressed"
          ? suppressed(SEND, { provider, failedOver: false }, "suppressed")
          : failed(SEND, { provider, failedOver: false }, isRefused ? "unavailable" : "ambiguous", "over")
    const kind = ended === "rejected" || ended === "unavailable" || ended === "ambiguous" ? ended : undefined
    return {
      owner: holder.owner,
      state: rules.settledState(result.status, kind, true),
      ambiguous: true,
      result,
      isRetry: true
    }
  }
  // What a retry of an earlier use learns is not the end of the present one.
  const isOfThisUse = claim === undefined || claim.tag === (tag === "none" ? undefined : tag)
  const settled = (ended: typeof heard): State => {
    const end = endOf(ended)
    return {
      ...remembering(context, without(state, n), { ...holder, provider }, end),
      claim: rules.settledClaim(claim, isOfThisUse ? end : { ...end, result: undefined }, now) ?? claim,
      rows: withRow(
        state,
        retry,
        ended === "accepted" ? "accepted" : holder.request === state.requests.length ? "ended" : "over",
        lifeOf(state, holder.process)
      )
    }
  }
  if (heard === "accepted")
    return state.storeIsUp
      ? [{ label: `${words}: sent`, state: settled("accepted") }]
      : [
          {
            label: `${words}: sent, and nobody can write it`,
            state: {
              ...remembering(context, without(state, n), { ...holder, provider }, endOf("accepted")),
              isReported: true
            }
          }
        ]
  const goesOn = { owner: holder.owner, state: "deferred", ambiguous: true, result: undefined } as const
  if (!state.storeIsUp)
    return [
      {
        label: `${words}, and its message returns to the queue`,
        state: remembering(context, withHolder(state, n, undefined), { ...holder, provider }, goesOn)
      }
    ]
  if (evidenceOf(state, tag, firstAttemptAt) !== undefined && heard !== "rejected" && heard !== "suppressed")
    return [{ label: `${words}: settled by evidence`, state: settled("accepted") }]
  const delay = delayBefore(attempt + 1, DELAYS_SECONDS, now - firstAttemptAt)
  if (isFinal || attempt >= bounds.retries || delay === undefined)
    return [{ label: `${words}: failed`, state: settled(heard) }]
  const returned = { ...state, claim: rules.settledClaim(claim, goesOn, now) ?? claim }
  const next = withRetry(returned, n, { attempt: attempt + 1, holder: undefined })
  return [
    { label: `${words}: another follows`, state: remembering(context, next, { ...holder, provider }, goesOn) }
  ]
}

/** The answer of a retry's attempt, and its end. */
const hearsAnswer = (context: Context, state: State): Moves =>
  state.retries.flatMap((retry, n): Moves => {
    const { holder } = retry
    if (holder === undefined) return []
    return hears(context, state, holder.request).flatMap(({ heard, label, state: then }) => {
      const broken = brokenByCopy(then)
      return recorded(context, then, n, heard, `retry ${retry.attempt} hears from ${label}`).map((step) => ({
        ...step,
        broken
      }))
    })
  })

export const retryMoves = [received, hearsAnswer]
