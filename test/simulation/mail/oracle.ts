import { MAX_RECEIVES } from "../../../src/domain/mail/deferred-send.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../src/domain/mail/failover.ts"
import { dedupes, type Provider } from "../../../src/domain/mail/provider.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import { type Attempt, isDoubtful } from "./provider-model.ts"

/** How far off a moment may be that two clocks of the run measure: the limits of a look-up and of an attempt. */
const SLACK_MS = 60_000

/** What a client was answered, by whom and when. */
export interface Report {
  /** The send, by its mail's subject. */
  readonly subject: string
  readonly process: string
  readonly from: number
  readonly at: number
  /** Whether the store answered the call's look-up. */
  readonly claimed: boolean
  readonly result: SendResult
}

/** What the store came to know of an attempt, and when. */
interface Knowledge {
  readonly attempt: Attempt
  readonly at: number
}

/** One handling of a retry's message by a process. */
export interface Receive {
  readonly rowId: string
  readonly process: string
  readonly from: number
  /** Undefined where it never ended. */
  until: number | undefined
  succeeded: boolean
}

/** All that an observer of a run sees. */
export interface Observed {
  /** Attempts of this installation, at all providers. */
  readonly attempts: ReadonlyArray<Attempt>
  readonly reports: ReadonlyArray<Report>
  /** Proof of acceptance that the store held: an event, or a row. */
  readonly proofs: ReadonlyArray<Knowledge>
  /** Rows that leave an attempt open, by the send's subject. */
  /** The rows that leave a key open, each by the provider that it names: it tells nothing of the other one. */
  readonly doubts: ReadonlyArray<{
    readonly subject: string
    readonly provider: Provider | null
    readonly at: number
  }>
  /** Sends of which the store failed to answer or to write something, by subject. */
  readonly silent: ReadonlySet<string>
  /** When a row of the library was written: after an outage later than its attempt. */
  readonly written: ReadonlyArray<{ readonly subject: string; readonly at: number }>
  /** When the store let a call have a key: from then on an attempt may be made. */
  readonly grants: ReadonlyArray<{ readonly subject: string; readonly at: number; readonly isNew: boolean }>
}

/** The attempts of one use of a key (S): a key is held until 24 hours after its last attempt, and is another one's from then on. */
type Use = ReadonlyArray<Attempt>

const isClaimed = ({ askedAt }: Attempt): boolean => askedAt > -Infinity

/**
 * From when on nothing is judged of a send: where its attempts are so nearly a day after others that they may be another use's, or where
 * a send of the day before went without a claim or was not written, so that the store may know nothing of it: its tag is the key's next day, too.
 */
const judgedUntil = (attempts: ReadonlyArray<Attempt>, isLost: boolean): number => {
  const first = Math.min(...attempts.map(({ startedAt }) => startedAt))
  const dayTwo = first + IDEMPOTENCY_WINDOW_MS / 2
  const dayOne = attempts.filter(({ startedAt }) => startedAt < dayTwo)
  return dayOne.every(isClaimed) && !isLost ? greyFrom(attempts) : dayTwo
}

/** From when on a send's attempts are so nearly a day after others that they may be another use's; never, mostly. */
const greyFrom = (attempts: ReadonlyArray<Attempt>): number =>
  Math.min(
    ...attempts
      .filter((attempt) =>
        attempts.some((other) =>
          isGrey(attempt.startedAt - other.startedAt, isClaimed(attempt) && isClaimed(other))
        )
      )
      .map(({ startedAt }) => startedAt)
      .filter((at) => at > IDEMPOTENCY_WINDOW_MS / 2)
      .map((at) => at - IDEMPOTENCY_WINDOW_MS / 4)
  )

const isRefused = ({ outcome }: Attempt): boolean => outcome === "unavailable" || outcome === "rejected"

/** How far off a day two moments may be: without a claim, nobody but the process counts the key's time. */
const GREY_MS = 11 * 60_000

const isGrey = (gapMs: number, isClaimedOne: boolean): boolean =>
  Math.abs(gapMs - IDEMPOTENCY_WINDOW_MS) < (isClaimedOne ? 2 * SLACK_MS : GREY_MS)

/**
 * What a send without a claim does, the store cannot count: it prolongs no use. A call that was let go on with a key does, whether or not its
 * request left; one that had the key anew a day later began another use.
 */
const usesOf = (
  attempts: ReadonlyArray<Attempt>,
  grants: ReadonlyArray<Pick<Observed["grants"][number], "at" | "isNew">> = []
): ReadonlyArray<Use> => {
  const uses: Array<Array<Attempt>> = []
  for (const attempt of attempts.toSorted((a, b) => a.startedAt - b.startedAt)) {
    const last = uses.at(-1)
    const attemptedAt =
      last?.findLast((one) => isClaimed(one) && !isRefused(one))?.startedAt ??
      last?.[0]?.startedAt ??
      -Infinity
    const before = grants.filter(({ at }) => at < attempt.startedAt)
    const isAnother = before.some(({ at, isNew }) => isNew && at - attemptedAt >= IDEMPOTENCY_WINDOW_MS)
    const grantedAt = before.findLast(({ isNew }) => !isNew)?.at ?? -Infinity
    const gap = attempt.startedAt - Math.max(attemptedAt, grantedAt)
    const isHeld = last !== undefined && !isAnother && gap < IDEMPOTENCY_WINDOW_MS
    if (isHeld) last.push(attempt)
    else uses.push([attempt])
  }
  return uses
}

/** When an attempt was allowed: its claim committed, or, where it has none, it left. */
const begunAt = (attempt: Attempt): number => (isClaimed(attempt) ? attempt.askedAt : attempt.startedAt)

/**
 * Whether one who acts under a claim at `at`, or without one, had to know of an attempt: S2, S3 and S4 hold for what the store or the
 * process itself knows; a send without a claim in another process is the admitted exception.
 */
const hadToKnow = (
  { doubts }: Observed,
  known: Attempt,
  actor: { readonly process: string; readonly claimed: boolean; readonly at: number }
): boolean => {
  if (known.process === actor.process) return true
  if (!actor.claimed) return false
  return (
    isClaimed(known) ||
    doubts.some(
      ({ at, provider, subject }) =>
        subject === known.subject && provider === known.provider && known.startedAt <= at && at < actor.at
    )
  )
}

const asActor = (attempt: Attempt) => ({
  process: attempt.process,
  claimed: isClaimed(attempt),
  at: begunAt(attempt)
})

/** S1 of one use: at most one copy leaves a provider that dedupes, and no attempt on an ambiguous key is made a day after its first. */
const copiesOf = (observed: Observed, use: Use): ReadonlyArray<string> => {
  const found: Array<string> = []
  // A request that was on its way for minutes may arrive when the provider has forgotten the key.
  const copies = use
    .flatMap(({ askedAt, deliveredAt = -Infinity, provider }) =>
      deliveredAt > -Infinity && dedupes(provider) && askedAt > -Infinity ? [deliveredAt] : []
    )
    .toSorted((one, other) => one - other)
  if (copies.some((at, n) => n > 0 && at - copies[n - 1]! < IDEMPOTENCY_WINDOW_MS))
    found.push(`S1: ${copies.length} copies of one key (${use[0]!.subject}) left a provider that dedupes`)
  const late = use.find((attempt) =>
    use.some(
      (doubtful) =>
        isDoubtful(doubtful) &&
        attempt.startedAt - doubtful.startedAt >= IDEMPOTENCY_WINDOW_MS + SLACK_MS &&
        hadToKnow(observed, doubtful, asActor(attempt))
    )
  )
  if (late !== undefined)
    found.push(
      `S1: ${late.process} asked ${late.provider} on an ambiguous key (${late.subject}) at ${late.startedAt}, 24 hours after its first doubt`
    )
  return found
}

/** S2 of one use: nobody else sees a key that was ambiguous. */
const strangersOf = (observed: Observed, use: Use): ReadonlyArray<string> => {
  for (const doubtful of use.filter(isDoubtful)) {
    const stranger = use.find(
      (attempt) =>
        doubtful.startedAt < begunAt(attempt) &&
        attempt.provider !== doubtful.provider &&
        hadToKnow(observed, doubtful, asActor(attempt))
    )
    if (stranger !== undefined)
      return [
        `S2: ${stranger.process} asked ${stranger.provider} to send ${stranger.subject}, which was ambiguous on ${doubtful.provider}`
      ]
  }
  return []
}

/** S4 of one use: nothing is attempted once the store or the process itself had proof of acceptance. */
const repeatedOf = (observed: Observed, use: Use): ReadonlyArray<string> => {
  const provenAt = Math.min(
    ...observed.proofs.filter(({ attempt }) => use.includes(attempt)).map(({ at }) => at)
  )
  return use.flatMap((attempt) => {
    const acceptedAt = Math.min(
      ...use
        .filter(
          ({ heardAt, outcome, process }) =>
            outcome === "accepted" && process === attempt.process && heardAt !== undefined
        )
        .map((accepted) => accepted.heardAt!)
    )
    const storeKnew = isClaimed(attempt) && provenAt < attempt.askedAt
    const processKnew = acceptedAt < begunAt(attempt)
    return storeKnew || processKnew
      ? [
          `S4: ${attempt.process} asked ${attempt.provider} to send ${attempt.subject} at ${attempt.startedAt}, proven ${
            storeKnew ? `in the store at ${provenAt}` : `to itself at ${acceptedAt}`
          }`
        ]
      : []
  })
}

/** S3 of one call: two providers of one use are asked by fail-over alone, after proof, by a send whose claim was moved. */
const twoProvidersOf = (use: Use): ReadonlyArray<string> => {
  const providers = new Set(use.filter(({ delivered }) => delivered).map(({ provider }) => provider))
  const isOfOthers = use.some((attempt) => !isClaimed(attempt))
  return providers.size > 1 && !isOfOthers
    ? ["S2: one key left both providers, and every send of it had a claim"]
    : []
}

const useAt = (uses: ReadonlyArray<Use>, at: number): Use | undefined =>
  uses.findLast((use) => use[0]!.startedAt <= at)

/** S5 and S2 of one answer. */
const untrue = (
  observed: Observed,
  uses: ReadonlyArray<Use>,
  { at, claimed, from, process, result, subject }: Report
): ReadonlyArray<string> => {
  const found: Array<string> = []
  if (result.ok !== (result.status === "sent" || result.status === "deferred"))
    found.push(`S5: ok ${result.ok} on ${result.status}`)
  const use = useAt(uses, at) ?? []
  const sofar = use.filter(({ startedAt }) => startedAt <= at)
  if (result.status === "sent") {
    if (!sofar.some(({ delivered }) => delivered))
      found.push(`S5: ${process} says sent at ${at}, and no provider accepted ${subject}`)
    const last = sofar.at(-1)
    const granted = observed.grants.filter((grant) => grant.subject === subject && grant.at < from)
    const written = observed.written.filter((row) => row.subject === subject && row.at < from)
    const heldAt = Math.max(last?.startedAt ?? 0, granted.at(-1)?.at ?? 0, written.at(-1)?.at ?? 0)
    if (last !== undefined && from - heldAt >= IDEMPOTENCY_WINDOW_MS + SLACK_MS)
      found.push(`S4: sent, by what proves yesterday's mail alone (${last.subject} at ${at})`)
  }
  // A refusal stays true when the key, free again, meets doubt in a later call of the process, also before its own row is written.
  const isCertain = result.status === "failed" && result.kind !== "ambiguous"
  const refusedAt = sofar.findLastIndex(
    (attempt) => attempt.process === process && attempt.startedAt >= from && isRefused(attempt)
  )
  const refused = sofar[refusedAt]
  // The store had the refusal, and let another call have the key anew, before this one's caller heard of it.
  const isAfterRelease = ({ askedAt }: Attempt) =>
    refused !== undefined &&
    observed.grants.some(
      (grant) =>
        grant.subject === subject && grant.isNew && grant.at > refused.startedAt && grant.at <= askedAt
    )
  const doubtful = sofar.find(
    (attempt, index) =>
      (isDoubtful(attempt) || attempt.outcome === "accepted") &&
      (attempt.process !== process || refusedAt === -1 || index < refusedAt) &&
      !isAfterRelease(attempt) &&
      hadToKnow(observed, attempt, { process, claimed, at: from })
  )
  if (isCertain && doubtful !== undefined)
    found.push(
      `S2: ${subject} reported as certainly not delivered (${result.kind}), and ${doubtful.provider} answered: ${doubtful.outcome}`
    )
  return found
}

/** S9: while the claim store answers, all answers of one use name one mail. */
const mailsOf = (
  { silent }: Observed,
  uses: ReadonlyArray<Use>,
  reports: ReadonlyArray<Report>
): ReadonlyArray<string> => {
  const sent = reports.filter(({ result }) => result.status === "sent")
  const byUse = Map.groupBy(sent, ({ at }) => useAt(uses, at))
  return [...byUse].flatMap(([use = [], answers]) => {
    const ids = new Set(answers.map(({ result }) => result.providerMessageId))
    const isExempt = use.some((attempt) => !isClaimed(attempt) || silent.has(attempt.subject))
    return ids.size > 1 && !isExempt ? [`S9: two calls on one key, two mails: ${use[0]?.subject}`] : []
  })
}

/** What breaks S1, S2, S4, S5 and S9, read key by key, whatever provider, in every world. */
export const brokenBySending = (observed: Observed): ReadonlyArray<string> => {
  const bySend = Map.groupBy(observed.attempts, ({ subject }) => subject)
  const reports = Map.groupBy(observed.reports, ({ subject }) => subject)
  const subjects = new Set([...bySend.keys(), ...reports.keys()])
  return [...subjects].flatMap((subject) => {
    const until = judgedUntil(bySend.get(subject) ?? [], observed.silent.has(subject))
    const grants = observed.grants.filter((grant) => grant.subject === subject)
    const attempts = (bySend.get(subject) ?? []).filter(({ startedAt }) => startedAt < until)
    const uses = usesOf(attempts, grants)
    const answers = (reports.get(subject) ?? []).filter(({ at }) => at < until)
    return [
      ...usesOf(attempts).flatMap((use) => copiesOf(observed, use)),
      ...uses.flatMap((use) => [
        ...strangersOf(observed, use),
        ...repeatedOf(observed, use),
        ...twoProvidersOf(use)
      ]),
      ...answers.flatMap((report) => untrue(observed, uses, report)),
      ...mailsOf(observed, uses, answers)
    ]
  })
}

/** How many copies of one use left a provider: what a reader of the counts sees of the documented window. */
export const copiesOfUses = (attempts: ReadonlyArray<Attempt>, provider: Provider): ReadonlyArray<number> =>
  [...Map.groupBy(attempts, ({ subject }) => subject).values()]
    .flatMap((ofSend) => usesOf(ofSend))
    .map((use) => use.filter((attempt) => attempt.provider === provider && attempt.delivered).length)

/**
 * D2, D3 of dead letters: a message is received again only after its consumer crashed or stood still (an outage of the store is no
 * receive), so that it takes three of these for it to die.
 */
export const unexcusedDead = (
  letters: ReadonlyArray<{ readonly rowId: string; readonly receives: number }>,
  receives: ReadonlyArray<Receive>,
  stoodStill: (process: string, from: number, until: number) => boolean
): ReadonlyArray<string> =>
  letters.flatMap((letter) => {
    if (letter.receives < MAX_RECEIVES) return [`D3: a dead letter after ${letter.receives} receives`]
    const excused = receives.filter(
      ({ from, process, rowId, until }) =>
        rowId === letter.rowId && (until === undefined || stoodStill(process, from, until))
    )
    return excused.length < MAX_RECEIVES
      ? [
          `D2: a dead letter of ${MAX_RECEIVES} receives, ${excused.length} of them by a consumer that crashed or stood still`
        ]
      : []
  })
