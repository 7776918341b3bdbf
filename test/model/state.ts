import { type Claim, isFree, NO_LEASE } from "../../src/domain/mail/claim.ts"
import type { FailureKind, Provider, Route } from "../../src/domain/mail/failover.ts"
import type { SendResult } from "../../src/domain/mail/send-result.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/**
 * The moments of a model's day: the begin; after the last retry; when the key's first attempt is a day old and its last is not; and
 * when the last is, too.
 */
export const MOMENTS = [
  0,
  30 * MINUTE_MS,
  24 * HOUR_MS + 10 * MINUTE_MS,
  24 * HOUR_MS + 40 * MINUTE_MS
] as const

/** How long a claim is leased. */
export const LEASE_MS = 50_000

/** What became of a request, as its sender knows. */
export type Heard = "accepted" | FailureKind | "nothing"

/** A request that left a process. */
export interface Request {
  readonly provider: Provider
  readonly tag: string
  /** The life of the process that sent it. */
  readonly by: string
  /** Whether the store had let it go. */
  readonly claimed: boolean
  readonly at: number
  /** The use of the key that it belongs to, as an observer sees it. */
  readonly use: number
  /** Still on its way: it may be accepted at any time. */
  readonly flying: boolean
  readonly accepted: boolean
  /** A copy left because of it. */
  readonly copy: boolean
  readonly heard: Heard
  /** A delivery event of it was recorded. */
  readonly told: boolean
}

/** One call of the key by a client. */
export interface Call {
  readonly phase: "new" | "ask" | "wait" | "move" | "defer" | "end" | "done" | "dead"
  readonly process: number
  readonly owner: string
  /** Whether the store confirmed the claim. */
  readonly claimed: boolean
  /** How many requests and rows there were when its claim committed, or when it went on without one. */
  readonly since: { readonly requests: number; readonly rows: number }
  /** Its lease is over, as it can tell by its own clock. */
  readonly hasLost: boolean
  readonly sticky: Provider | undefined
  readonly firstAttemptAt: number
  readonly tag: string
  readonly route: Route
  /** The request that it waits for. */
  readonly request: number
  /** The last attempt's own answer, where it failed. */
  readonly ownKind: FailureKind | undefined
  readonly result: SendResult | undefined
}

/** A queued retry, and the process that works on it. */
export interface Retry {
  /** Whether the call that queued it held a claim. */
  readonly isOfClaim: boolean
  readonly attempt: number
  readonly provider: Provider
  readonly tag: string
  readonly firstAttemptAt: number
  readonly holder:
    | {
        readonly process: number
        readonly claimed: boolean
        readonly owner: string
        /** The request whose answer it waits for. */
        readonly request: number
      }
    | undefined
}

/** What the library's rows say of an attempt. */
interface Row {
  readonly provider: Provider
  readonly tag: string
  /** `ended`: nobody was asked, so that it says nothing of its own. */
  readonly says: "accepted" | "open" | "over" | "ended"
  readonly at: number
}

/** Everything there is. Nothing of it is ever changed in place. */
export interface State {
  readonly moment: number
  readonly storeIsUp: boolean
  readonly outages: number
  readonly crashes: number
  /** How often the store may still take effect too late to be heard. */
  readonly lateAnswers: number
  readonly claim: Claim | undefined
  readonly rows: ReadonlyArray<Row>
  /** What each process remembers of the key. */
  readonly memory: ReadonlyArray<Claim | undefined>
  /** How often each process was started. */
  readonly lives: ReadonlyArray<number>
  readonly calls: ReadonlyArray<Call>
  readonly retries: ReadonlyArray<Retry>
  readonly requests: ReadonlyArray<Request>
  /** The use of the key that was begun last, and when its last attempt began. */
  readonly held: { readonly use: number; readonly at: number }
  /** What provider_a remembers of the key. */
  readonly window: { readonly tag: string; readonly at: number } | undefined
  /** The tags of deferrals. */
  readonly deferred: ReadonlyArray<string>
  /** How the last deferral ended, where its end could not be written. */
  readonly isReported: boolean
  /** Without a queue an ambiguous send ends failed. */
  readonly hasQueue: boolean
}

export const nowOf = (state: State): number => MOMENTS[state.moment]!

const claimText = (claim: Claim | undefined, now: number): string =>
  claim === undefined
    ? "-"
    : `${claim.state}${claim.provider}${claim.ambiguous ? "?" : ""}${claim.leaving ? "!" : ""}${
        // Nobody's any more.
        claim.leaseUntil === NO_LEASE ? "" : claim.owner
      }${now < claim.leaseUntil}${claim.firstAttemptAt}/${claim.lastAttemptAt}${claim.tag}${claim.result?.status}${
        claim.result?.status === "failed" ? claim.result.kind : ""
      }`

const requestText = ({
  accepted,
  at,
  by,
  claimed,
  copy,
  flying,
  heard,
  provider,
  tag,
  told,
  use
}: Request): string =>
  `${provider}${tag}${by}${claimed ? "c" : "u"}${at}.${use}${flying ? "f" : ""}${accepted ? "a" : ""}${copy ? "1" : ""}${heard}${told ? "t" : ""}`

/**
 * Whether a request still says something: one that was refused says no more than when the last attempt was; two that nothing tells apart
 * say what one says, unless each left a copy at the provider that must not send two.
 */
const speaks = ({ accepted, flying, heard }: Request): boolean =>
  accepted || flying || heard === "ambiguous" || heard === "nothing"

const requestsText = (requests: ReadonlyArray<Request>): string => {
  const texts = new Set<string>()
  for (const request of requests) {
    if (!speaks(request)) continue
    const text = requestText(request)
    texts.add(request.copy && request.provider === "provider_a" && texts.has(text) ? `${text}+` : text)
  }
  return [...texts].sort().join(";")
}

const waitedFor = (state: State, n: number): string => (n === -1 ? "" : requestText(state.requests[n]!))

const callText = (state: State, call: Call): string =>
  call.phase === "new" || call.phase === "dead" || call.phase === "done"
    ? call.phase
    : `${call.phase}${call.process}${call.owner}${call.claimed ? "c" : "u"}${call.hasLost ? "l" : ""}${call.since.rows}${
        call.phase === "ask" ? requestsText(state.requests.slice(0, call.since.requests)) : ""
      }${
        call.sticky
      }${call.firstAttemptAt}${call.tag}${call.route.first}${call.route.fallback}${call.ownKind}${call.result?.status}${
        call.phase === "wait" || call.phase === "end" ? waitedFor(state, call.request) : ""
      }`

const retryText = (
  state: State,
  { attempt, firstAttemptAt, holder, isOfClaim, provider, tag }: Retry
): string =>
  `${attempt}${isOfClaim}${provider}${tag}${firstAttemptAt}${
    holder === undefined
      ? ""
      : `${holder.process}${holder.claimed}${holder.owner}${waitedFor(state, holder.request)}`
  }`

/** A text that two states have in common exactly where nothing can tell them apart. */
export const textOf = (state: State): string => {
  const now = nowOf(state)
  return [
    `${state.moment}${state.storeIsUp}${state.outages}${state.crashes}${state.lateAnswers}${state.isReported}${state.deferred.join()}`,
    claimText(state.claim, now),
    state.rows.map(({ at, provider, says, tag }) => `${provider}${tag}${says}${at}`).join(","),
    ...state.memory.map((claim) => (claim !== undefined && isFree(claim, now) ? "-" : claimText(claim, now))),
    state.lives.join(),
    state.calls.map((call) => callText(state, call)).join(";"),
    state.retries.map((retry) => retryText(state, retry)).join(";"),
    requestsText(state.requests),
    `${state.held.use}@${state.held.at}`,
    state.window === undefined ? "-" : `${state.window.tag}${state.window.at}`
  ].join("|")
}
