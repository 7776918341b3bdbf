import { Schema } from "effect"

import type { JobStatus } from "./job.ts"

/** What a conversion under way looks like to the store; times are whole seconds by its clock, null where there is nothing to time. */
export interface WaitFacts {
  /** Null: its job is not made yet, or it has none. */
  readonly jobStatus: JobStatus | null
  /** Since it was requested. */
  readonly requested: number
  /** Since a worker that holds a part of it last reported. */
  readonly silent: number | null
  /** Time until an unclaimed part of it may be claimed; below 0: it is due. */
  readonly due: number | null
  /** Other conversions that wait or are under way. */
  readonly others: number
  /** Since a worker of any conversion last reported. */
  readonly anySilent: number | null
  /** Since the batch service took it. */
  readonly submitted: number | null
  /** Until the day ends, UTC, and with it what models may cost of it. */
  readonly dayLeft: number
}

/** Why a conversion does not move on. */
export const WaitsFor = Schema.Struct({
  cause: Schema.Literals(["page", "turn", "worker", "takeover", "retry", "budget", "batch"]).annotate({
    description:
      "`page`: a worker is at its pages, or puts the result together; `turn`: workers are busy with other conversions; `worker`: no worker takes conversions; `takeover`: its worker is silent, and another one takes over; `retry`: a part failed and is tried again; `budget`: the day’s budget for models is spent; `batch`: the batch service."
  }),
  seconds: Schema.Int.annotate({
    description:
      "`retry`: until then; else since when: its worker was heard of, the batch service took it, or it was requested."
  }),
  others: Schema.Int.annotate({ description: "Other conversions that wait or are under way, up to 1,000." }),
  within: Schema.NullOr(Schema.Int).annotate({
    description:
      "`budget`, `batch`: it goes on within so many seconds at the latest, in the new day, UTC, or without the batch; else null."
  })
}).annotate({ identifier: "WaitsFor" })
export type WaitsFor = typeof WaitsFor.Type

/** A worker that has not reported for so long holds nothing any more, seconds: no lease is longer by default (DOC-12). */
const SILENCE = 60

/** A worker looks for work in less, seconds. */
const CLAIMED_WITHIN = 15

const cause = ({ anySilent, due, jobStatus, requested, silent }: WaitFacts): WaitsFor["cause"] => {
  if (jobStatus === "waiting_batch") return "batch"
  if (jobStatus === "paused_budget") return "budget"
  if (silent !== null) return silent < SILENCE ? "page" : "takeover"
  if (due !== null && due > 0) return "retry"
  return requested < CLAIMED_WITHIN || (anySilent !== null && anySilent < SILENCE) ? "turn" : "worker"
}

/** How long a conversion waits at most from then on, seconds; null where nothing bounds it. */
const within = (why: WaitsFor["cause"], { dayLeft, requested }: WaitFacts, batchSeconds: number) => {
  if (why === "budget") return dayLeft
  return why === "batch" ? Math.max(0, batchSeconds - requested) : null
}

/** What a conversion under way waits for (DOC-17); `batchSeconds`: after which it is converted without the batch. */
export const waitsFor = (facts: WaitFacts, batchSeconds: number): WaitsFor => {
  const why = cause(facts)
  const { due, requested, silent, submitted } = facts
  const since = {
    page: silent,
    takeover: silent,
    retry: due,
    batch: submitted,
    turn: null,
    worker: null,
    budget: null
  }
  return {
    cause: why,
    seconds: since[why] ?? requested,
    others: facts.others,
    within: within(why, facts, batchSeconds)
  }
}
