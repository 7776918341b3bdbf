import type { Remembered } from "../../src/application/mail/key-memory.ts"
import type { LogRowId } from "../../src/domain/ids.ts"
import { type Claim, isFree, NO_LEASE } from "../../src/domain/mail/claim.ts"
import type { FailureKind, Route } from "../../src/domain/mail/failover.ts"
import type { Provider } from "../../src/domain/mail/provider.ts"
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
  /** Its key is in doubt at two providers. */
  readonly torn: boolean
  /** Whose retries its own would be: those of its use of the key, or its own (`firstRetryId`). */
  readonly chain: string
  readonly after: LogRowId | undefined
  /** The request that it waits for. */
  readonly request: number
  /** The last attempt's own answer, where it failed. */
  readonly ownKind: FailureKind | undefined
  readonly result: SendResult | undefined
}

/** How a retry ended: `follows` where another one does. */
export type RetryEnd = Heard | "suppressed" | "follows"

/** A queued retry, and the process that works on it. */
export interface Retry {
  /** Whether the call that queued it held a claim. */
  readonly isOfClaim: boolean
  readonly chain: string
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
        /** How it has ended, where the store has not taken its row yet: it is written again. */
        readonly unwritten?: RetryEnd
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
  /** The life of the process that wrote it. */
  readonly by: string
}

/** Everything there is. Nothing of it is ever changed in place. */
export interface State {
  readonly moment: number
  readonly storeIsUp: boolean
  readonly outages: number
  readonly crashes: number
  /** How many single operations of the store may still get lost, or take effect too late to be heard. */
  readonly losses: number
  readonly claim: Claim | undefined
  readonly rows: ReadonlyArray<Row>
  /** What each process remembers of the key. */
  readonly memory: ReadonlyArray<Remembered | undefined>
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
  /** The retries whose rows are written: their messages find themselves recorded. */
  readonly handled: ReadonlyArray<string>
  /** The rows of deferrals, and whether a row that ends the key's deferrals was written after them (`deferralEnd`). */
  readonly deferrals: ReadonlyArray<{ readonly id: string; readonly hasEnd: boolean }>
  /** How the last deferral ended, where its end could not be written. */
  readonly isReported: boolean
  /** Without a queue an ambiguous send ends failed. */
  readonly hasQueue: boolean
}

/** What tells a retry from all others: its row. */
export const retryId = ({ attempt, chain, provider }: Pick<Retry, "attempt" | "chain" | "provider">) =>
  `${chain}@${provider}#${attempt}`

export const nowOf = (state: State): number => MOMENTS[state.moment]!

/** How the parts of a state are named in its text: what only tells apart what nothing tells apart has one name. */
interface Names {
  readonly state: State
  readonly now: number
  /** A process, by its number; the two are alike, so that each state is seen both ways. */
  readonly process: (process: number) => number
  /** Owners that may still settle what they hold; any other one is nobody. */
  readonly owners: ReadonlySet<string>
}

const claimText = ({ now, owners, process }: Names, claim: Claim | undefined): string =>
  claim === undefined
    ? "-"
    : `${claim.state}${claim.provider}${claim.ambiguous ? "?" : ""}${claim.leaving ? "!" : ""}${
        claim.leaseUntil === NO_LEASE || !owners.has(claim.owner) ? "" : ownerText(claim.owner, process)
      }${now < claim.leaseUntil}${claim.firstAttemptAt}/${claim.lastAttemptAt}${claim.tag}${
        claim.result === undefined
          ? ""
          : `${claim.result.status}${claim.result.status === "failed" ? claim.result.kind : ""}${
              claim.result.status === "deferred" || claim.state === "held" ? claim.result.sendId : ""
            }`
      }`

/** A retry's owner is named after its process. */
const ownerText = (owner: string, process: Names["process"]): string =>
  owner === "r0" ? `r${process(0)}` : owner === "r1" ? `r${process(1)}` : owner

/** Who sent it: a process in the life that it has, or nobody who will ever act again. */
const senderText = ({ process, state }: Names, by: string): string => {
  for (const n of [0, 1]) if (by === `P${n}.${state.lives[n]}`) return String(process(n))
  return "x"
}

const requestText = (names: Names, request: Request): string => {
  const { accepted, at, by, claimed, copy, flying, heard, provider, tag, told, use } = request
  const marks = `${claimed ? "c" : "u"}${flying ? "f" : ""}${accepted ? "a" : ""}${copy ? "1" : ""}${told ? "t" : ""}`
  return `${provider}${tag}${senderText(names, by)}${marks}${at}.${use}${heard}`
}

/**
 * Whether a request still says something: one that was refused says no more than when the last attempt was; two that nothing tells apart
 * say what one says, unless each left a copy at the provider that must not send two.
 */
const speaks = ({ accepted, flying, heard }: Request): boolean =>
  accepted || flying || heard === "ambiguous" || heard === "nothing"

const requestsText = (names: Names, requests: ReadonlyArray<Request>): string => {
  const texts = new Set<string>()
  for (const request of requests) {
    if (!speaks(request)) continue
    const text = requestText(names, request)
    texts.add(request.copy && request.provider === "provider_a" && texts.has(text) ? `${text}+` : text)
  }
  return [...texts].sort().join(";")
}

const waitedFor = (names: Names, n: number): string => {
  const request = names.state.requests[n]
  return request === undefined ? "" : requestText(names, request)
}

/** Whether a call is under way. */
export const isUnderWay = ({ phase }: Call): boolean =>
  phase !== "new" && phase !== "done" && phase !== "dead"

const callText = (names: Names, call: Call): string => {
  if (!isUnderWay(call)) return call.phase === "new" ? "new" : "over"
  const { after, chain, claimed, firstAttemptAt, hasLost, owner, ownKind, phase, result, route, since } = call
  const { sticky, tag, torn } = call
  const who = `${phase}${names.process(call.process)}${owner}${claimed ? "c" : "u"}${hasLost ? "l" : ""}${torn ? "t" : ""}${since.rows}`
  const before = phase === "ask" ? requestsText(names, names.state.requests.slice(0, since.requests)) : ""
  const asked = phase === "wait" || phase === "end" ? waitedFor(names, call.request) : ""
  const goes = `${sticky}${firstAttemptAt}${tag}${chain === tag ? "" : `+${after}`}${route.first}${route.fallback}${ownKind}`
  return `${who}${before}${goes}${result?.status}${result?.provider}${asked}`
}

const retryText = (
  names: Names,
  { attempt, chain, firstAttemptAt, holder, isOfClaim, provider, tag }: Retry
): string =>
  `${attempt}${isOfClaim}${provider}${tag}${chain === tag ? "" : chain}${firstAttemptAt}${
    holder === undefined
      ? ""
      : `${names.process(holder.process)}${holder.claimed}${holder.unwritten ?? waitedFor(names, holder.request)}`
  }`

/** The messages that were handled already, of retries or requests that are still there. */
const handledText = ({ handled, requests, retries }: State): string =>
  handled
    .filter(
      (id) =>
        retries.some((retry) => retryId(retry) === id) || requests.some(({ tag }) => id.startsWith(`${tag}@`))
    )
    .toSorted()
    .join()

/** Of deferrals that a claim or a process may still name, or a call of its own. */
const deferralsText = ({ calls, claim, deferrals, memory }: State): string =>
  deferrals
    .filter(
      ({ id }) =>
        [claim, ...memory].some((one) => one?.result?.sendId === id) ||
        calls.some((call) => call.owner === id && isUnderWay(call))
    )
    .map(({ hasEnd, id }) => `${id}${hasEnd}`)
    .toSorted()
    .join()

const textBy = (names: Names): string => {
  const { now, process, state } = names
  const memory = [0, 1].map((n) => {
    const claim = state.memory[n]
    return claim === undefined || isFree(claim, now)
      ? "-"
      : `${claimText(names, claim)}${claim.isStored === true ? "s" : ""}${claim.doubtAt === undefined ? "" : `~${claim.doubtAt}`}`
  })
  return [
    `${state.moment}${state.storeIsUp}${state.outages}${state.crashes}${state.losses}${state.isReported}`,
    [...new Set(state.deferred)].sort().join(),
    claimText(names, state.claim),
    handledText(state),
    deferralsText(state),
    state.rows
      .map(({ at, by, provider, says, tag }) => `${provider}${tag}${says}${senderText(names, by)}${at}`)
      .join(","),
    memory[process(0)],
    memory[process(1)],
    state.calls.map((call) => callText(names, call)).join(";"),
    state.retries
      .map((retry) => retryText(names, retry))
      .sort()
      .join(";"),
    requestsText(names, state.requests),
    `${state.held.use}@${state.held.at}`,
    state.window === undefined ? "-" : `${state.window.tag}${state.window.at}`
  ].join("|")
}

/** A text that two states have in common where nothing can tell them apart, but for which of the two processes is which. */
export const textOf = (state: State): string => {
  const owners = new Set<string>()
  for (const call of state.calls) if (isUnderWay(call)) owners.add(call.owner)
  for (const { holder } of state.retries) if (holder !== undefined) owners.add(holder.owner)
  const names = { state, now: nowOf(state), owners }
  const one = textBy({ ...names, process: (process) => process })
  const other = textBy({ ...names, process: (process) => 1 - process })
  return one < other ? one : other
}
