import { explore, type Walk } from "../explore.ts"
import { queueModel } from "./index.ts"
import { type Literal, PRODUCTION, rulesWith } from "./rules.ts"
import type { Bounds } from "./sender.ts"

/** Nothing happens to the request; a provider that dedupes comes first, or one that does not. */
const A: Bounds = {
  primary: "provider_a",
  fallback: "provider_b",
  retries: 1,
  crashes: 0,
  stalls: 0,
  refusals: 0,
  lost: 0,
  cancels: 0,
  ages: 0,
  events: 0,
  direct: "none"
}
const B: Bounds = { ...A, primary: "provider_b", fallback: "provider_a" }

/** What happens to a request: in a test, and by `npm run model`. */
const SMALL: ReadonlyArray<Partial<Bounds>> = [
  { crashes: 2 },
  { cancels: 1, ages: 1, refusals: 2 },
  { direct: "same", refusals: 1 },
  { direct: "other", cancels: 1 },
  { stalls: 1 }
]
const LARGE: ReadonlyArray<Partial<Bounds>> = [
  { crashes: 2, stalls: 1, refusals: 1 },
  { crashes: 1, refusals: 2, cancels: 1, ages: 1, lost: 1 },
  { stalls: 1, lost: 1, events: 1 },
  { direct: "same", stalls: 1, cancels: 1, ages: 1, refusals: 1 },
  { direct: "same", crashes: 1, refusals: 1 }
]

const ofBoth = (all: ReadonlyArray<Partial<Bounds>>): ReadonlyArray<Bounds> =>
  all.flatMap((bounds) => [
    { ...A, ...bounds },
    { ...B, ...bounds }
  ])
export const SMALL_BOUNDS = ofBoth(SMALL)
export const LARGE_BOUNDS = ofBoth(LARGE)

/** The bounds in which each first wording fails, and what it breaks. */
export const QUEUE_FAILS: Readonly<Record<Literal, readonly [broken: string, bounds: Bounds]>> = {
  "a refusal of a request that was taken again is proof": ["S2", { ...A, crashes: 1, refusals: 2 }],
  "an ended request keeps its key": ["R3", { ...A, cancels: 1 }],
  "two leases": ["Q2", { ...A, stalls: 1, cancels: 1 }],
  "the age asks no key": ["Q1", { ...B, ages: 1 }],
  "a deferral is an end": ["no end", B],
  "a refused retry is final": ["Q5", { ...B, refusals: 1 }],
  "born expired": ["Q5", { ...B, fallback: undefined, refusals: 1 }],
  "the first result again": ["Q1", { ...B, crashes: 1 }],
  "a conflict has no end": ["no end", { ...B, direct: "other" }],
  "row, log and claim apart": ["S4", B],
  "what is remembered settles no claim": ["Q1", { ...B, stalls: 1, crashes: 1 }],
  "set aside as a refusal": ["H1", { ...A, crashes: 2 }],
  "what is written again is no evidence": ["S4", { ...B, lost: 1, stalls: 1 }]
}

/** All states of a request, by production's rules or with one as it was worded at first. */
export const walkQueue = (bounds: Bounds, literal?: Literal): Walk =>
  explore(queueModel(literal === undefined ? PRODUCTION : rulesWith(literal), bounds))

/** How many copies leave at most a provider that does not dedupe. */
export const mostCopies = (bounds: Partial<Bounds>): number => {
  let most = 0
  const model = queueModel(PRODUCTION, { ...B, ...bounds })
  explore({
    ...model,
    violated: (state) => {
      most = Math.max(most, state.requests.filter(({ copy }) => copy).length)
      return model.violated(state)
    }
  })
  return most
}
