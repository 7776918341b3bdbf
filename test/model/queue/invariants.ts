import { isLeased } from "../../../src/domain/mail/claim.ts"
import { hasEnded, nowOf, type Request, type Sender, type State } from "./state.ts"

/** The store has proof that the key was accepted: a row with the provider's id, or a claim that says so. */
const isProven = ({ claim, log }: State): boolean =>
  claim?.state === "accepted" || log.some(({ providerMessageId }) => providerMessageId !== null)

/** A copy may be out, and nothing proves it. */
const isDoubtful = ({ accepted, heard }: Request): boolean =>
  heard === "ambiguous" || heard === "nothing" || accepted

/** S4 as an attempt of the queue begins. */
export const brokenByBegin = (state: State, n: number): string | undefined => {
  const knows = state.senders[n]?.knows !== undefined
  return knows || isProven(state)
    ? `S4: P${n} begins an attempt, and the mail was accepted: ${knows ? "its answer said so" : "the store says so"}`
    : undefined
}

/** S2, S3, Q2 and H1 as a request leaves for a provider. */
export const brokenByLeaving = (
  state: State,
  { provider, isQueues }: Pick<Request, "provider" | "isQueues">,
  { deaths, since }: { readonly since: number; readonly deaths: number }
): string | undefined => {
  if (isQueues && state.row.state === "cancelled")
    return "Q2: the queue asks for a request that was answered `cancelled`"
  const elsewhere = state.requests
    .slice(0, since)
    .find((request) => isDoubtful(request) && request.provider !== provider)
  if (elsewhere !== undefined)
    return `S2: ${provider} is asked, and the key is in doubt at ${elsewhere.provider}`
  return deaths >= 2 ? "H1: a request that two senders died with is sent once more" : undefined
}

/** S1 and S2 once a copy has left. */
export const brokenByCopy = ({ requests }: State): string | undefined => {
  const copies = requests.filter(({ copy, isSame }) => copy && isSame)
  if (new Set(copies.map(({ provider }) => provider)).size > 1) return "S2: two providers deliver the mail"
  return copies.filter(({ provider }) => provider === "provider_a").length > 1
    ? "S1: two copies left provider_a"
    : undefined
}

/** How the request ended, as its row says: truthfully, asked for, and with its row and its claim in one transaction (Q1, Q2). */
export const brokenByEnd = (state: State): string | undefined => {
  const { log, requests, row } = state
  if (!hasEnded(state)) return undefined
  const taken = requests.some(({ accepted, isSame }) => accepted && isSame)
  const own = requests.filter(({ isQueues }) => isQueues)
  if (row.state === "cancelled")
    return own.some(({ accepted }) => accepted) ? "Q2: cancelled, and the queue has sent it" : undefined
  if (row.state === "sent") {
    if (!taken) return "Q1: the request ended sent, and no provider accepted it"
  } else if (taken && (row.result?.status !== "failed" || row.result.kind !== "ambiguous" || !row.isKeyHeld))
    return "Q1: the request ended as certainly not sent, and a provider accepted it"
  const { result } = row
  const isUnasked = result?.status === "failed" && result.kind === "rejected"
  return own.length > 0 && !isUnasked && !log.some(({ id }) => id === result?.sendId)
    ? "Q1: the request ended by an attempt, and the log has no row of it"
    : undefined
}

/** What is wrong with the end that a sender has written. */
export const brokenByWriting = (state: State, { mail, ownKind }: Sender): string | undefined => {
  const { claim, direct, moment, requests, row } = state
  const isHeld = claim?.state === "held" && claim.owner === mail?.lease && isLeased(claim, nowOf(state))
  if (isHeld) return "Q1: the request has ended or waits, and its sender still holds the key"
  if (mail!.deaths >= 2)
    return row.lease === undefined && !hasEnded(state) && ownKind !== undefined
      ? "H1: a request that two senders died with goes back"
      : undefined
  if (row.state !== "failed") return undefined
  if (moment === 0 && ownKind === "unavailable") return "Q5: a refusal ends the request before its age"
  // A call beside the queue may have had no queue for its own deferral.
  const isUnasked =
    requests.length === 0 &&
    direct.phase !== "done" &&
    row.result?.status === "failed" &&
    row.result.kind !== "rejected"
  return isUnasked ? "Q1: the request ended, and nobody was ever asked" : undefined
}
