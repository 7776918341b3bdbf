import type { ReportingProvider } from "../../src/domain/mail/provider.ts"
import type { Fault } from "../support/vendors/fake-http.ts"

/**
 * What an answer proves to a careful reader of the vendors' documentation; not taken from the classifiers, which the matrix
 * is there to check.
 */
export type Meaning = "accepted" | "rejected" | "unavailable" | "ambiguous"

/** How the first attempt ends. */
export interface Outcome {
  readonly fault: Fault | "ok"
  /** As the table words it. */
  readonly label: string
  readonly meaning: Meaning
  /** Where it means something else at this provider. */
  readonly at?: Partial<Readonly<Record<ReportingProvider, Meaning>>>
  /** Whether the provider may have accepted the mail before it went wrong: each of these is a cell. */
  readonly accepted: ReadonlyArray<boolean>
}

/** In the order of the table. A refusal in the vendor's own words is one: with "accepted" it would be a lie. */
export const OUTCOMES: ReadonlyArray<Outcome> = [
  { fault: "ok", label: "200 with a message id", meaning: "accepted", accepted: [true] },
  // The SDKs of the other two do not say that nothing was sent.
  {
    fault: "refused",
    label: "connection refused",
    meaning: "ambiguous",
    at: { postmark: "unavailable" },
    accepted: [false]
  },
  { fault: "503", label: "503, the provider's own", meaning: "unavailable", accepted: [false] },
  { fault: "503-html", label: "503, a proxy's page", meaning: "ambiguous", accepted: [false, true] },
  { fault: "422", label: "message refused", meaning: "rejected", accepted: [false] },
  { fault: "429", label: "rate limit", meaning: "unavailable", accepted: [false] },
  { fault: "hang", label: "no answer in time", meaning: "ambiguous", accepted: [false, true] },
  { fault: "reset", label: "connection reset", meaning: "ambiguous", accepted: [false, true] },
  { fault: "500", label: "500", meaning: "ambiguous", accepted: [false, true] },
  { fault: "504", label: "504", meaning: "ambiguous", accepted: [false, true] },
  { fault: "truncated-200", label: "200, its body cut off", meaning: "ambiguous", accepted: [false, true] }
]

/** Those that the peers have an SDK for. */
export const PEERS_PRIMARIES = ["provider_a", "provider_b"] as const
export type PeersPrimary = (typeof PEERS_PRIMARIES)[number]

export const PRIMARIES: ReadonlyArray<ReportingProvider> = [...PEERS_PRIMARIES, "postmark"]

/** One cell: what the primary does while the call lasts. Once the call has ended it works; the fallback always does. */
export interface Cell {
  readonly primary: ReportingProvider
  readonly outcome: Outcome
  readonly accepted: boolean
}

/** A cell that the peers can be run in. */
export interface PeersCell extends Cell {
  readonly primary: PeersPrimary
}

export const isForPeers = (cell: Cell): cell is PeersCell => cell.primary !== "postmark"

export const CELLS: ReadonlyArray<Cell> = PRIMARIES.flatMap((primary) =>
  OUTCOMES.flatMap(({ at, ...outcome }) =>
    outcome.accepted.map((accepted) => ({
      primary,
      outcome: { ...outcome, meaning: at?.[primary] ?? outcome.meaning },
      accepted
    }))
  )
)

/** The outcome in the fakes' words. */
export const scriptOf = ({ accepted, outcome: { fault } }: Cell): Fault | "ok" | `${Fault}-accepted` =>
  accepted && fault !== "ok" ? `${fault}-accepted` : fault

/** For a test's title. */
export const nameOf = ({ accepted, outcome, primary }: Cell): string =>
  `${primary}: ${outcome.fault}, ${accepted ? "accepted" : "not accepted"}`
