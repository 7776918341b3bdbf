import type { Step } from "./explore.ts"
import { brokenAtRest, brokenByCopy } from "./invariants.ts"
import { arrive, type Bounds, callMoves, type Context, type Moves, replaceAt, withRequest } from "./moves.ts"
import { retryMoves } from "./retries.ts"
import type { Rules } from "./rules.ts"
import { MOMENTS, nowOf, type State, textOf } from "./state.ts"

/** A request that its caller gave up arrives after all. */
const lateArrivals = (_: Context, state: State): Moves =>
  state.requests.flatMap((request, n): Moves => {
    if (!request.flying || request.heard === "nothing") return []
    return arrive(state, n)
      .filter(([heard]) => heard === "accepted")
      .map(([, then]) => ({
        label: `a late request arrives: ${request.provider} accepts`,
        state: then,
        broken: brokenByCopy(then)
      }))
  })

/** A delivery event is recorded: it names the use of the key. */
const events = (_: Context, state: State): Moves =>
  state.storeIsUp
    ? state.requests.flatMap((request, n): Moves =>
        request.copy && !request.told
          ? [
              {
                label: `an event of ${request.provider} is recorded`,
                state: withRequest(state, n, { told: true })
              }
            ]
          : []
      )
    : []

/** A lease passes, since its holder is dead or stands still. */
const leaseOver = (_: Context, state: State): Moves => {
  const { claim } = state
  const now = nowOf(state)
  return claim === undefined || now >= claim.leaseUntil
    ? []
    : [
        {
          label: "the lease is over",
          state: {
            ...state,
            claim: { ...claim, leaseUntil: now },
            calls: state.calls.map((call) =>
              call.owner === claim.owner && call.claimed ? { ...call, hasLost: true } : call
            )
          }
        }
      ]
}

const crash = (_: Context, state: State): Moves =>
  state.crashes === 0
    ? []
    : [0, 1].flatMap((process): Moves => {
        const isBusy =
          state.calls.some(
            (call) => call.process === process && !["new", "done", "dead"].includes(call.phase)
          ) ||
          state.retries.some(({ holder }) => holder?.process === process) ||
          state.memory[process] !== undefined
        if (!isBusy) return []
        return [
          {
            label: `P${process} is killed`,
            state: {
              ...state,
              crashes: state.crashes - 1,
              memory: replaceAt(state.memory, process, undefined),
              lives: replaceAt(state.lives, process, state.lives[process]! + 1),
              calls: state.calls.map((call) =>
                call.process === process && !["new", "done"].includes(call.phase)
                  ? { ...call, phase: "dead" as const }
                  : call
              ),
              // An operator puts dead letters back, so that receives have no end of their own.
              retries: state.retries.map((retry) =>
                retry.holder?.process === process ? { ...retry, holder: undefined } : retry
              ),
              // What it had not heard, nobody ever hears.
              requests: state.requests.map((request) =>
                request.by === `P${process}.${state.lives[process]}` && request.heard === "nothing"
                  ? { ...request, heard: "ambiguous" as const }
                  : request
              )
            }
          }
        ]
      })

const outage = (_: Context, state: State): Moves => {
  if (!state.storeIsUp) return [{ label: "the store is back", state: { ...state, storeIsUp: true } }]
  return state.outages === 0
    ? []
    : [{ label: "the store goes away", state: { ...state, storeIsUp: false, outages: state.outages - 1 } }]
}

/** Time passes while nobody works. */
const tick = ({ bounds }: Context, state: State): Moves => {
  const isIdle =
    state.calls.every(({ phase }) => phase === "new" || phase === "done" || phase === "dead") &&
    state.retries.every(({ holder }) => holder === undefined)
  if (!isIdle || state.moment >= bounds.moments || state.requests.length === 0) return []
  const minutes = Math.round(MOMENTS[state.moment + 1]! / 60_000)
  const moment = state.moment + 1
  // No request is on its way for a day.
  const requests =
    moment < 2 ? state.requests : state.requests.map((request) => ({ ...request, flying: false }))
  return [
    {
      label: `it is ${Math.floor(minutes / 60)} h ${minutes % 60} min later`,
      state: { ...state, moment, requests }
    }
  ]
}

const MOVES = [...callMoves, ...retryMoves, lateArrivals, events, leaseOver, crash, outage, tick]

/** The state space of one key: the production's decisions, and what their surroundings do. */
export const keyModel = (rules: Rules, bounds: Bounds) => {
  const context: Context = { rules, bounds }
  const initial: State = {
    moment: 0,
    storeIsUp: true,
    outages: bounds.outages,
    crashes: bounds.crashes,
    losses: bounds.losses,
    claim: undefined,
    rows: [],
    memory: [undefined, undefined],
    lives: [0, 0],
    calls: Array.from({ length: bounds.calls }, () => ({
      phase: "new" as const,
      process: 0,
      owner: "",
      claimed: false,
      since: { requests: 0, rows: 0 },
      hasLost: false,
      sticky: undefined,
      firstAttemptAt: 0,
      tag: "",
      chain: "",
      after: undefined,
      torn: false,
      route: { first: bounds.primary, fallback: undefined },
      request: -1,
      ownKind: undefined,
      result: undefined
    })),
    retries: [],
    requests: [],
    held: { use: -1, at: -Infinity },
    window: undefined,
    deferred: [],
    handled: [],
    deferrals: [],
    isReported: false,
    hasQueue: bounds.retries > 0
  }
  return {
    initial,
    steps: (state: State): ReadonlyArray<Step<State>> => MOVES.flatMap((move) => move(context, state)),
    violated: brokenAtRest,
    textOf
  }
}
