import { agreed } from "../../src/application/mail/begin-call.ts"
import { settledClaim, settledState } from "../../src/domain/mail/claim-end.ts"
import {
  type Claim,
  claimOf,
  type Claimed,
  continuation,
  decideClaim,
  movedClaim,
  sharesRetries,
  tornAt
} from "../../src/domain/mail/claim.ts"
import { afterFailure, mayGoOn } from "../../src/domain/mail/failover.ts"
import { claimOfRetry, decideRetry } from "../../src/domain/mail/retry-claim.ts"

/** What the model decides by: production's own decisions, and the few choices around them that a wording makes. */
export interface Rules {
  readonly agreed: typeof agreed
  readonly sharesRetries: typeof sharesRetries
  readonly decideClaim: typeof decideClaim
  readonly claimOf: typeof claimOf
  readonly claimOfRetry: typeof claimOfRetry
  readonly continuation: typeof continuation
  readonly decideRetry: typeof decideRetry
  readonly movedClaim: typeof movedClaim
  readonly tornAt: typeof tornAt
  readonly settledClaim: typeof settledClaim
  readonly settledState: typeof settledState
  readonly afterFailure: typeof afterFailure
  readonly mayGoOn: typeof mayGoOn
  /** What a request is tagged with: the use of the key, by the one who began it, or the key alone. */
  readonly tagOf: (owner: string) => string
  /** What a process still remembers of a key once its end is written. */
  readonly afterWriting: (claim: Claim | undefined) => Claim | undefined
  /** When the last attempt was on a key of which a process learns from the store. */
  readonly lastOfLearnt: (told: number, now: number) => number
  /** Whether a free key is bound by what its rows left open. */
  readonly trailLooks: boolean
  /** Whether the move of a claim looks for rows of sends without one. */
  readonly moveLooks: boolean
  /** Whether a process that writes a deferral late asks first how it has ended. */
  readonly asksBeforeTelling: boolean
  /** Whether a retry asks the memory of the process that takes it. */
  readonly retryRemembers: boolean
  /** What a retry that was refused says of the key. */
  readonly refusedRetry: "ambiguous" | "unavailable"
}

/** The rules that production follows. */
export const PRODUCTION: Rules = {
  agreed,
  sharesRetries,
  decideClaim,
  claimOf,
  claimOfRetry,
  continuation,
  decideRetry,
  movedClaim,
  tornAt,
  settledClaim,
  settledState,
  afterFailure,
  mayGoOn,
  tagOf: (owner) => owner,
  afterWriting: (claim) => claim,
  lastOfLearnt: (told) => told,
  trailLooks: true,
  moveLooks: true,
  asksBeforeTelling: true,
  retryRemembers: true,
  refusedRetry: "ambiguous"
}

const isHeld = (claim: Claim | undefined): boolean => claim?.state === "held"

/** A key that forgets what was ambiguous before. */
const BY_THE_LAST: Pick<Rules, "settledClaim" | "trailLooks" | "moveLooks"> = {
  trailLooks: false,
  moveLooks: false,
  settledClaim: (claim, end, now) =>
    settledClaim(
      claim === undefined ? undefined : { ...claim, ambiguous: false },
      { ...end, ambiguous: false },
      now
    )
}

/**
 * Rules as they were worded at first, each in production's place: where the model finds nothing wrong with them, it would find
 * nothing wrong with production either.
 */
export const LITERAL = {
  /** "After a proven non-acceptance the key is free": the last retry's answer, whatever came before it (traces 1a and 1d). */
  "a refused retry frees its key": {
    ...BY_THE_LAST,
    settledState: (status, kind) => settledState(status, kind, false),
    refusedRetry: "unavailable"
  },
  /** The same of a call that takes over from a stalled one (1b). */
  "a refused call frees its key": {
    ...BY_THE_LAST,
    settledState: (status, kind) => settledState(status, kind, false),
    afterFailure: (route, _, kind) => afterFailure(route, false, kind)
  },
  /** And of a retry whose recipients have been suppressed (1c). */
  "a suppression frees its key": {
    ...BY_THE_LAST,
    settledState: (status, kind, ambiguous) =>
      settledState(status, kind, ambiguous && status !== "suppressed")
  },
  /** "24 hours from the key's first attempt". */
  "24 hours from the first attempt": {
    decideClaim: (claim, request, known, now) =>
      decideClaim(
        claim === undefined ? undefined : { ...claim, lastAttemptAt: claim.firstAttemptAt },
        request,
        known,
        now
      )
  },
  /** The tag is the key's, and so the same for yesterday's mail. */
  "one tag a key": { tagOf: () => "key" },
  /** "The log and the look-up never change the outcome": nor does a move of the claim that nobody could store. */
  "fail-over without a stored move": { mayGoOn: () => true },
  /** The process's memory is kept until its answer is written. */
  "remembered until it is written": { afterWriting: (claim) => (isHeld(claim) ? claim : undefined) },
  /** What a process learns from the store it remembers a day from then. */
  "learnt for a day": { lastOfLearnt: (_, now) => now },
  /** Evidence that settles a call prolongs the key's time. */
  "held anew by evidence": {
    claimOf: (claim, decision, request, now) =>
      claimOf(claim, decision, { ...request, isSettled: false }, now)
  },
  /** "It goes on where its own attempt left it": a send without a claim has left the key in doubt at the other provider. */
  "each provider goes on with its own": {
    tornAt: (decision) => decision,
    decideRetry: (claim, retry, now) =>
      decideRetry({ ...claim, ambiguous: false }, { ...retry, doubtAt: undefined }, now)
  },
  /** A retry that holds nothing ends only a deferral that is written. */
  "a deferral is written before its retries end": {
    settledClaim: (claim, end, now) =>
      claim?.state === "held" && claim.owner !== end.owner
        ? undefined
        : settledClaim(
            claim?.state === "held" && end.state === "deferred" ? { ...claim, result: undefined } : claim,
            end,
            now
          ),
    agreed: (stored, own, known) =>
      stored._tag === "Claimed" && agreed({ ...stored, takeover: true }, own, known) === own
        ? (own ?? stored)
        : agreed(stored, own, known)
  },
  /** A call that goes on after its key had ended forgets how: the one after it queues its deferral under retries that are over. */
  "an end is forgotten by the call after it": {
    claimOf: (claim, decision, request, now) => ({
      ...claimOf(claim, decision, request, now),
      result: undefined
    })
  },
  /** A process writes the deferral that it remembers, whatever became of it while the store was away. */
  "a deferral is written late": { asksBeforeTelling: false },
  /** A call without a claim queues its deferral under the retries of a use of which it knows nothing. */
  "one chain of retries, also without a claim": {
    sharesRetries: (decision) => sharesRetries(decision, true)
  },
  /** A dead claim on a provider that does not dedupe: "the first result again", where there is none. */
  "the first result again": {
    continuation: (claimed: Claimed) => (continuation(claimed) === "defer" ? "end" : continuation(claimed))
  }
} as const satisfies Readonly<Record<string, Partial<Rules>>>
export type Literal = keyof typeof LITERAL

/** Production's rules, with some as they were worded at first. */
export const rulesWith = (literal: ReadonlyArray<Literal>): Rules =>
  Object.assign({}, PRODUCTION, ...literal.map((name) => LITERAL[name]))
