import { Effect } from "effect"

import type { Documents } from "../../../src/adapters/memory/documents/state.ts"
import { type BatchRowState, moveBatchRow } from "../../../src/domain/batch/row.ts"
import { isTerminal, type JobMove, type JobStatus, moveJob } from "../../../src/domain/conversion/job.ts"
import type { Customers } from "../../../src/ports/accounts/customers.ts"
import type { BatchStore } from "../../../src/ports/batch/batch-store.ts"
import type { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import type { Chronicle } from "../world.ts"

type Conversions = ConversionStore["Service"]
type Batches = BatchStore["Service"]
type Accounts = Customers["Service"]

const MOVES: ReadonlyArray<JobMove> = [
  "start",
  "resume",
  "pause",
  "unpause",
  "assemble",
  "complete",
  "fail",
  "cancel"
]

/**
 * What an observer notes who sees every write of the database: what must never be, not even for a moment. Milliseconds of
 * virtual time.
 */
export interface Ledger {
  readonly violations: Array<string>
  /** Credits that owners were given. */
  readonly grant: (customerId: string, credits: number) => void
  /** Looks at all that is there. */
  readonly look: () => void
  /** How often each job left the batch lane. */
  readonly resumed: Map<string, number>
}

export const makeLedger = (
  db: Documents,
  objects: ReadonlyMap<string, Uint8Array>,
  chronicle: Chronicle
): Ledger => {
  const violations: Array<string> = []
  const granted = new Map<string, number>()
  const jobs = new Map<string, JobStatus>()
  const chunks = new Map<string, string>()
  const rows = new Map<string, BatchRowState>()
  const holds = new Map<string, string>()
  const results = new Map<string, string>()
  const resumed = new Map<string, number>()
  let seen = -1
  const wrong = (text: string) => {
    if (!violations.includes(text)) violations.push(text)
  }

  const lookAtJobs = () => {
    for (const { fileId, id, status } of db.jobs.where()) {
      const before = jobs.get(id)
      if (before === status) continue
      jobs.set(id, status)
      chronicle.saw(`job ${status}`)
      chronicle.note(
        () => `job ${id.slice(0, 8)} of ${db.files.get(fileId)?.name}: ${before ?? "new"} → ${status}`
      )
      if (before === undefined) continue
      if (before === "cancelled") wrong(`X1: a cancelled job became ${status}`)
      else if (before === "assembling" && status === "cancelled")
        wrong("X2: a job was cancelled while it was assembled")
      else if (!MOVES.some((move) => moveJob(before, move) === status))
        wrong(`C2: a job went from ${before} to ${status}`)
    }
    for (const { id, jobId, status } of db.chunks.where()) {
      const before = chunks.get(id)
      const job = jobs.get(jobId)
      if (before !== status) {
        chunks.set(id, status)
        if (before === "completed") wrong(`C2: a completed chunk became ${status}`)
      }
      const ended = status === "completed" || status === "cancelled" || status === "failed"
      if (job === "cancelled" && !ended) wrong(`X2: a job is cancelled, and a chunk of it is ${status}`)
    }
  }

  const lookAtFunds = () => {
    const charged = new Map<string, { credits: number; freePages: number }>()
    for (const { credits, customerId, freePages, jobId } of db.charges.where()) {
      const sum = charged.get(customerId) ?? { credits: 0, freePages: 0 }
      charged.set(customerId, { credits: sum.credits + credits, freePages: sum.freePages + freePages })
      if (jobs.get(jobId) === "cancelled") wrong("X1: a cancelled job was charged")
    }
    for (const { credits, freePagesUsed, id } of db.customers.where()) {
      const sum = charged.get(id) ?? { credits: 0, freePages: 0 }
      const given = granted.get(id) ?? 0
      if (credits !== given - sum.credits)
        wrong(`F1: ${given} credits were granted, ${sum.credits} charged, and ${credits} are left`)
      if (freePagesUsed !== sum.freePages)
        wrong(`F1: ${sum.freePages} free pages were charged, and ${freePagesUsed} used`)
    }
    const setAside = new Map<string, number>()
    for (const { credits, customerId, expiresAt, state } of db.holds.where())
      if (state === "held" && expiresAt > db.moment())
        setAside.set(customerId, (setAside.get(customerId) ?? 0) + credits)
    for (const { credits, id } of db.customers.where())
      if (credits < (setAside.get(id) ?? 0))
        wrong(`F1: ${setAside.get(id)} credits are set aside, and ${credits} are there`)
    for (const { jobId, outcome, state } of db.holds.where()) {
      const before = holds.get(jobId)
      if (before === state) continue
      holds.set(jobId, state)
      chronicle.saw(`hold ${state === "released" ? `released: ${outcome}` : state}`)
      if (before !== undefined && before !== "held") wrong(`F1: a hold that was ${before} is ${state}`)
      if ((state === "settled") !== (db.charges.get(jobId) !== undefined))
        wrong(`F1: a hold is ${state}, and its charge`)
    }
  }

  const lookAtFiles = () => {
    for (const { deletedAt, done, id, jobId, resultKey, status } of db.files.where()) {
      const before = results.get(id)
      if (resultKey !== null) results.set(id, resultKey)
      if (deletedAt !== null) continue
      if (before !== undefined && resultKey === null) wrong("R1: a result was taken away")
      if (resultKey !== null && !objects.has(resultKey))
        wrong("R1: the result that a file shows is not there")
      const job = jobId === null ? undefined : jobs.get(jobId)
      if (job === "cancelled" && (status === "chunked_processing" || done > 0))
        wrong(`X1: a file shows the progress of a cancelled job`)
    }
  }

  const lookAtLane = () => {
    for (const { closeReason, jobId, outcome, state } of db.batches.where()) {
      const before = rows.get(jobId)
      const job = db.jobs.get(jobId)
      if (before !== state) {
        rows.set(jobId, state)
        chronicle.saw(state === "closed" ? `batch row closed: ${outcome}` : `batch row ${state}`)
        chronicle.note(
          () => `batch row of ${jobId.slice(0, 8)}: ${state} ${outcome ?? ""} ${closeReason ?? ""}`
        )
        const legal =
          before === undefined
            ? state !== "submitted"
            : moveBatchRow(before, "submit") === state ||
              moveBatchRow(before, "drop") === state ||
              moveBatchRow(before, "end") === state
        if (!legal) wrong(`B1: a batch row went from ${before} to ${state}`)
      }
      const collected = outcome === "collected" && closeReason === "collected"
      const isResumed =
        job !== undefined &&
        job.status !== "waiting_batch" &&
        job.status !== "cancelled" &&
        job.status !== "failed"
      if (collected && isResumed && job.options._batchPrimed !== true)
        wrong("B5: results were collected, and their job goes on without them")
    }
  }

  return {
    violations,
    resumed,
    grant: (customerId, credits) => void granted.set(customerId, (granted.get(customerId) ?? 0) + credits),
    look: () => {
      if (db.changes() !== seen) {
        seen = db.changes()
        lookAtJobs()
        lookAtFunds()
        lookAtLane()
      }
      // An object may be gone without any change in the database.
      lookAtFiles()
    }
  }
}

/** The same service, every effect of which goes over a road of its caller; all callers share what is found out of it here. */
export const overRoads = <S extends object>(
  service: S
): ((road: <A, E, R>(operation: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) => S) => {
  const members: ReadonlyArray<[string, unknown]> = Object.entries(service)
  return (road) => {
    const over: Record<string, unknown> = {}
    for (const [name, member] of members)
      if (Effect.isEffect(member)) over[name] = Effect.suspend(() => road(name, member))
      else if (typeof member !== "function") over[name] = member
      else
        over[name] = (...args: ReadonlyArray<unknown>) => {
          const answer: unknown = Reflect.apply(member, service, args)
          return Effect.isEffect(answer) ? road(name, answer) : answer
        }
    return over as S
  }
}

/** What a lease holds, as far as its holder may change it. */
interface Guarded {
  readonly lease: string | null
}

/** The store of conversions; a write of somebody without the lease changes nothing (C2). */
export const watchedConversions = (
  store: Conversions,
  db: Documents,
  ledger: Ledger,
  objects: ReadonlyMap<string, Uint8Array>
): Conversions => {
  const wrong = (text: string) => void ledger.violations.push(text)
  /** The write of a lease's holder. */
  const fenced = <A, E>(
    write: Effect.Effect<A, E>,
    lease: string,
    row: () => Guarded | undefined,
    name: string
  ): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const before = row()
      return Effect.tap(write, () =>
        Effect.sync(() => {
          if (before !== undefined && before.lease !== lease && row() !== before)
            wrong(`C2: ${name} of a worker that had lost its lease changed something`)
        })
      )
    })
  /** A result is stored before it is recorded (F2). By the time that it is reported again, its file may be deleted. */
  const recorded = new Set<string>()
  const stored = <A, E>(write: Effect.Effect<A, E>, key: string): Effect.Effect<A, E> =>
    Effect.tap(write, (answer) =>
      Effect.sync(() => {
        if (answer !== "completed" || recorded.has(key)) return
        recorded.add(key)
        if (!objects.has(key)) wrong("F2: a result is recorded, and not stored")
      })
    )
  const chunk = (id: string) => () => db.chunks.get(id)
  const job = (id: string) => () => db.jobs.get(id)
  const file = (id: string) => () => db.files.get(id)
  const flyer = (id: string) => () => db.flyers.get(id)
  return {
    ...store,
    heartbeatChunk: (held, done, window) =>
      fenced(store.heartbeatChunk(held, done, window), held.lease, chunk(held.id), "a heartbeat"),
    completeChunk: (held, key, costs, unanswered) =>
      fenced(
        store.completeChunk(held, key, costs, unanswered),
        held.lease,
        chunk(held.id),
        "a chunk's result"
      ),
    failChunk: (held, failure) =>
      fenced(store.failChunk(held, failure), held.lease, chunk(held.id), "a chunk's failure"),
    handBackChunk: (held, costs) =>
      fenced(store.handBackChunk(held, costs), held.lease, chunk(held.id), "a chunk's release"),
    heartbeatAssembly: (held, window) =>
      fenced(store.heartbeatAssembly(held, window), held.lease, job(held.jobId), "a heartbeat"),
    handBackAssembly: (held) =>
      fenced(store.handBackAssembly(held), held.lease, job(held.jobId), "an assembly's release"),
    finishJob: (held, key, legibility, noModelPages) =>
      stored(
        fenced(
          store.finishJob(held, key, legibility, noModelPages),
          held.lease,
          job(held.jobId),
          "an assembly's result"
        ),
        key
      ),
    heartbeatInline: (held, window) =>
      fenced(store.heartbeatInline(held, window), held.lease, file(held.fileId), "a heartbeat"),
    finishInline: (held, key, costs, found) =>
      stored(
        fenced(
          store.finishInline(held, key, costs, found),
          held.lease,
          file(held.fileId),
          "an inline result"
        ),
        key
      ),
    failInline: (held, failure) =>
      fenced(store.failInline(held, failure), held.lease, file(held.fileId), "an inline failure"),
    heartbeatFlyer: (held, window) =>
      fenced(store.heartbeatFlyer(held, window), held.lease, flyer(held.id), "a heartbeat"),
    finishFlyer: (held, key, costs, unreadable) =>
      stored(
        fenced(store.finishFlyer(held, key, costs, unreadable), held.lease, flyer(held.id), "a flyer"),
        key
      ),
    failFlyer: (held, failure) =>
      fenced(store.failFlyer(held, failure), held.lease, flyer(held.id), "a flyer's failure")
  }
}

/** What admins do with credits: each reference counts once (DOC-33). */
export const watchedCustomers = (store: Accounts, ledger: Ledger): Accounts => {
  const counted = new Set<string>()
  const moved = (customerId: string, reference: string, credits: number) => {
    if (counted.has(`${customerId} ${reference}`)) ledger.violations.push("F1: one reference counted twice")
    counted.add(`${customerId} ${reference}`)
    ledger.grant(customerId, credits)
  }
  return {
    ...store,
    grant: (asked) =>
      Effect.tap(store.grant(asked), (answer) =>
        Effect.sync(() => answer === "granted" && moved(asked.customerId, asked.reference, asked.credits))
      ),
    debit: (asked) =>
      Effect.tap(store.debit(asked), (answer) =>
        Effect.sync(() => answer === "debited" && moved(asked.customerId, asked.reference, -asked.credits))
      )
  }
}

/** The store of batch rows; a job leaves the lane once (X3). */
export const watchedBatches = (store: Batches, ledger: Ledger): Batches => {
  const left = (jobId: string) => {
    const times = (ledger.resumed.get(jobId) ?? 0) + 1
    ledger.resumed.set(jobId, times)
    if (times > 1) ledger.violations.push("X3: a job was resumed twice")
  }
  return {
    ...store,
    resume: (jobId, patch, window) =>
      Effect.tap(store.resume(jobId, patch, window), (won) => Effect.sync(() => won && left(jobId))),
    makeInteractive: (jobId, window) =>
      Effect.tap(store.makeInteractive(jobId, window), (answer) =>
        Effect.sync(() => answer === "resumed" && left(jobId))
      ),
    releaseOverdue: (limits) =>
      Effect.tap(store.releaseOverdue(limits), (jobId) =>
        Effect.sync(() => jobId !== undefined && left(jobId))
      )
  }
}

/** What is not over yet (C4, F1, B4): nothing, once nothing fails any more. */
export const unfinished = (db: Documents): ReadonlyArray<string> => [
  ...db.queue.where().map(() => "C4: a request waits for its job"),
  ...db.jobs
    .where(({ status }) => !isTerminal(status))
    .map(({ status }) => `${status === "waiting_batch" ? "B4" : "C4"}: a job is ${status}`),
  ...db.files
    .where(
      ({ deletedAt, status }) =>
        deletedAt === null && (status === "processing" || status === "chunked_processing")
    )
    .map(({ status }) => `C3: a file is ${status}`),
  ...db.flyers
    .where(({ status }) => status === "pending" || status === "processing")
    .map(({ status }) => `C4: a flyer is ${status}`),
  ...db.holds.where(({ state }) => state === "held").map(() => "F1: funds are on hold"),
  ...db.batches.where(({ state }) => state !== "closed").map(({ state }) => `B4: a batch row is ${state}`),
  ...db.files
    .where(({ deletedAt, purgedAt }) => deletedAt !== null && purgedAt === null)
    .map(() => "DOC-43: the objects of a deleted file are kept")
]
