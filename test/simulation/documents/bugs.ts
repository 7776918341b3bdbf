import { Duration, Effect } from "effect"

import { makeRequestKeys } from "../../../src/adapters/memory/accounts/request-keys.ts"
import { makeBatchStore } from "../../../src/adapters/memory/batch/batch-store.ts"
import { makeConversionStore } from "../../../src/adapters/memory/conversion/conversion-store.ts"
import type { Documents } from "../../../src/adapters/memory/documents/state.ts"
import { makeIntakeStore } from "../../../src/adapters/memory/inbound/intake-store.ts"
import { queueReply } from "../../../src/adapters/memory/inbound/replies.ts"
import type { Conversions as ConversionRequests } from "../../../src/application/conversion/conversions.ts"
import { askedOf } from "../../../src/domain/conversion/job.ts"
import type { Customers } from "../../../src/ports/accounts/customers.ts"
import type { RequestKeys } from "../../../src/ports/accounts/request-keys.ts"
import type { BatchService } from "../../../src/ports/batch/batch-service.ts"
import type { BatchStore } from "../../../src/ports/batch/batch-store.ts"
import type { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import type { IntakeStore } from "../../../src/ports/inbound/intake-store.ts"
import type { ReplyChannel } from "../../../src/ports/inbound/mails.ts"

/** Defects of this world that can be planted. */
export const BUGS = [
  /** A chunk's result is taken from whichever worker brings it. */
  "chunk-without-fence",
  /** The result of an assembler that has lost its lease takes the place of the other's. */
  "completed-without-lease",
  /** A cancel pays its hold back, and so does the next one. */
  "hold-released-twice",
  /** A result that is reported twice is charged twice. */
  "charged-twice",
  /** The charge is for all pages, those that could not be read among them. */
  "unreadable-page-charged",
  /** A cancel leaves the chunks to their workers. */
  "cancel-forgets-chunks",
  /** The progress of a worker that lost its chunk is shown all the same. */
  "progress-of-the-cancelled",
  /** Nobody looks for the chunks of a worker that died. */
  "orphans-forgotten",
  /** What an attempt cost that lost its lease is booked nowhere. */
  "lost-attempt-not-booked",
  /** A result counts as stored when its upload begins. */
  "charged-before-stored",
  /** A repeated create does not know the job that is there. */
  "adoption-without-name",
  /** A batch job is billed by each driver that sees its end. */
  "batch-billed-by-each",
  /** A job resumes without the results that were collected for it. */
  "primed-results-forgotten",
  /** A job resumes whatever it is doing. */
  "resumed-twice",
  /** Nobody looks for jobs that still wait although their row is closed. */
  "stranded-forgotten",
  /** A mail that comes again is another mail. */
  "mail-identity-ignored",
  /** The reply with a result is queued before it is charged. */
  "reply-before-charge",
  /** Each attempt at a reply has a key of its own. */
  "reply-key-of-the-attempt",
  /** A mail that could not be worked on is not tried again. */
  "failed-mail-forgotten",
  /** A worker whose settings name no batch store asks nobody whether there is one. */
  "batch-store-not-compared",
  /** A conversion that no model answered is charged as one of high fidelity. */
  "unanswered-charged",
  /** Pages that no model converted are named nowhere. */
  "unanswered-not-named",
  /** Credits are taken back that are set aside for work. */
  "debit-of-what-is-set-aside",
  /** A repeated debit takes the credits again. */
  "debited-twice",
  /** What was free of charge is charged where an admin has it tried again. */
  "retry-charged",
  /** Chunks are claimed in the order of owners, and not of their turns. */
  "chunk-turns-forgotten",
  /** Mails are converted in the order that they came in, and not in turns. */
  "mails-first-come",
  /** Layout-true results wait until there are no chunks. */
  "flyers-behind-chunks",
  /** A call that ends without an answer frees its key, whatever it has made. */
  "key-freed-by-any-end"
] as const
export type Bug = (typeof BUGS)[number]

type Conversions = ConversionStore["Service"]
type Batches = BatchStore["Service"]
type Intake = IntakeStore["Service"]
type Accounts = Customers["Service"]
type Requests = ConversionRequests["Service"]

/** Pays an owner what a job's hold was for. */
const payBack = (db: Documents, jobId: string, times: number): void => {
  const hold = db.holds.get(jobId)
  const customer = db.customers.get(hold?.customerId)
  if (hold !== undefined && customer !== undefined)
    db.customers.update(customer.id, { credits: customer.credits + times * hold.credits })
}

const after = <A, E>(effect: Effect.Effect<A, E>, then: (answer: A) => void): Effect.Effect<A, E> =>
  Effect.tap(effect, (answer) => Effect.sync(() => then(answer)))

/** The store of conversions with the bug in it. */
export const breakConversions = (bug: Bug | undefined, db: Documents): Conversions => {
  const store = makeConversionStore(db)
  switch (bug) {
    case "chunk-without-fence":
      return {
        ...store,
        completeChunk: (held, key, costs) =>
          store.completeChunk({ ...held, lease: db.chunks.get(held.id)?.lease ?? held.lease }, key, costs)
      }
    case "completed-without-lease":
      return {
        ...store,
        finishJob: (held, key, ...found) =>
          after(store.finishJob(held, key, ...found), (answer) => {
            const job = db.jobs.get(held.jobId)
            if (answer === "stale" && job !== undefined) db.files.update(job.fileId, { resultKey: key })
          })
      }
    case "hold-released-twice":
      return {
        ...store,
        cancel: (jobId) =>
          Effect.suspend(() => {
            const was = db.holds.get(jobId)?.state
            return after(store.cancel(jobId), () => {
              if (was === "released") payBack(db, jobId, 1)
            })
          })
      }
    case "charged-twice":
      return {
        ...store,
        finishJob: (held, key, ...found) => {
          const was = db.jobs.get(held.jobId)?.status
          return after(store.finishJob(held, key, ...found), (answer) => {
            if (answer === "completed" && was === "completed") payBack(db, held.jobId, -1)
          })
        }
      }
    case "unreadable-page-charged":
      return {
        ...store,
        finishJob: (held, key, _, noModelPages) => store.finishJob(held, key, undefined, noModelPages)
      }
    case "cancel-forgets-chunks":
      return {
        ...store,
        cancel: (jobId) => {
          const before = db.chunks.where((chunk) => chunk.jobId === jobId)
          return after(store.cancel(jobId), () => {
            for (const { id, status } of before) db.chunks.update(id, { status })
          })
        }
      }
    case "progress-of-the-cancelled":
      return {
        ...store,
        heartbeatChunk: (held, pagesDone, window) =>
          after(store.heartbeatChunk(held, pagesDone, window), () => {
            const job = db.jobs.get(db.chunks.get(held.id)?.jobId)
            const file = db.files.get(job?.fileId)
            if (file !== undefined && job?.id === file.jobId)
              db.files.update(file.id, { status: "chunked_processing", done: pagesDone })
          })
      }
    case "orphans-forgotten":
      return { ...store, recoverOrphan: () => Effect.succeed(0) }
    case "lost-attempt-not-booked":
      return {
        ...store,
        bookCosts: () => Effect.void,
        completeChunk: (held, key, costs) =>
          store.completeChunk(held, key, db.chunks.get(held.id)?.lease === held.lease ? costs : [])
      }
    case "unanswered-not-named":
      return { ...store, finishJob: (held, key, legibility) => store.finishJob(held, key, legibility) }
    case "chunk-turns-forgotten":
      return {
        ...store,
        claimChunk: (...asked) =>
          Effect.suspend(() => {
            if (db.served.get("chunk") !== undefined) db.served.update("chunk", { customerId: "" })
            return store.claimChunk(...asked)
          })
      }
    case "flyers-behind-chunks":
      return {
        ...store,
        claimFlyer: (...asked) =>
          Effect.suspend(() =>
            db.chunks.find(({ status }) => status === "pending") === undefined
              ? store.claimFlyer(...asked)
              : Effect.undefined
          )
      }
    default:
      return store
  }
}

/** What admins do with customers, with the bug in it. */
export const breakCustomers = (bug: Bug | undefined, db: Documents, store: Accounts): Accounts => {
  const taken = (customerId: string, credits: number) => {
    const customer = db.customers.get(customerId)
    if (customer !== undefined)
      db.customers.update(customer.id, { credits: Math.max(0, customer.credits - credits) })
  }
  switch (bug) {
    case "debit-of-what-is-set-aside":
      return {
        ...store,
        debit: (asked) =>
          Effect.map(store.debit(asked), (answer) => {
            if (
              answer !== "insufficient" ||
              (db.customers.get(asked.customerId)?.credits ?? 0) < asked.credits
            )
              return answer
            taken(asked.customerId, asked.credits)
            return "debited"
          })
      }
    case "debited-twice":
      return {
        ...store,
        debit: (asked) =>
          after(store.debit(asked), (answer) => {
            if (answer === "repeated") taken(asked.customerId, asked.credits)
          })
      }
    default:
      return store
  }
}

/** The keys of repeated calls with the bug in them. */
export const breakKeys = (bug: Bug | undefined, db: Documents): RequestKeys["Service"] => {
  const keys = makeRequestKeys(db)
  return bug === "key-freed-by-any-end" ? { ...keys, giveBack: (held) => keys.giveBack(held, true) } : keys
}

/** What owners and admins ask of conversions, with the bug in it. */
export const breakRequests = (bug: Bug | undefined, conversions: Requests): Requests =>
  bug === "retry-charged"
    ? {
        ...conversions,
        retry: (job) => conversions.retry({ ...job, options: askedOf(job.options) })
      }
    : conversions

/** The store of batch rows with the bug in it. */
export const breakBatches = (bug: Bug | undefined, db: Documents): Batches => {
  const store = makeBatchStore(db)
  switch (bug) {
    case "batch-billed-by-each":
      return {
        ...store,
        end: (id, end) =>
          after(store.end(id, end), (won) => {
            if (won || end.cost === undefined) return
            db.ledger.insert({ ...end.cost, id: db.newId(), createdAt: db.moment() })
          })
      }
    case "primed-results-forgotten":
      return { ...store, resume: (jobId, _, window) => store.resume(jobId, {}, window) }
    case "resumed-twice":
      return {
        ...store,
        resume: (jobId, patch, window) => {
          const job = db.jobs.get(jobId)
          if (job !== undefined && job.status !== "cancelled" && job.status !== "completed") {
            db.jobs.update(jobId, { status: "waiting_batch" })
          }
          return store.resume(jobId, patch, window)
        }
      }
    case "stranded-forgotten":
      return { ...store, stranded: Effect.succeed([]) }
    default:
      return store
  }
}

/** The store of mails with the bug in it. */
export const breakIntake = (bug: Bug | undefined, db: Documents): Intake => {
  const store = makeIntakeStore(db)
  switch (bug) {
    case "mail-identity-ignored":
      return {
        ...store,
        identify: (mail, identity, limit) =>
          store.identify(mail, { ...identity, identity: mail.id, signatures: [] }, limit)
      }
    case "reply-before-charge":
      return {
        ...store,
        admit: (mail, admission) =>
          after(store.admit(mail, admission), (answer) => {
            const { recipient } = admission
            const content = {
              kind: "success",
              fileName: admission.filename,
              pages: admission.pages,
              creditsCharged: 0,
              balance: 0,
              ignored: []
            } as const
            if (answer === "admitted") queueReply(db, { mailId: mail.id, recipient, content, asLink: true })
          })
      }
    case "mails-first-come":
      return {
        ...store,
        claim: (...asked) =>
          Effect.suspend(() => {
            const waiting = db.mails.where(({ lease, step }) => step === asked[0] && lease === null)
            const [first] = waiting.toSorted((one, other) => one.notBefore - other.notBefore)
            const others = waiting.filter(({ customerId }) => customerId !== first?.customerId)
            for (const { id } of others) db.mails.update(id, { notBefore: Infinity })
            return after(store.claim(...asked), () => {
              for (const { id, notBefore } of others) db.mails.update(id, { notBefore })
            })
          })
      }
    case "failed-mail-forgotten":
      return {
        ...store,
        defer: (mail, options) => store.defer(mail, { ...options, after: Duration.days(1000) })
      }
    default:
      return store
  }
}

/** The channel of replies with the bug in it. */
export const breakChannel = (
  bug: Bug | undefined,
  channel: ReplyChannel["Service"],
  draw: () => string
): ReplyChannel["Service"] =>
  bug === "reply-key-of-the-attempt"
    ? {
        ...channel,
        send: (reply) => channel.send({ ...reply, key: reply.key.replace(/:(?=[^:]*$)/, `:${draw()}:`) })
      }
    : channel

/** The batch service with the bug in it: what the driver asks of it. `draw`: a new name each time. */
export const breakService = (
  bug: Bug | undefined,
  service: BatchService["Service"],
  draw: () => string
): BatchService["Service"] =>
  bug === "adoption-without-name"
    ? {
        ...service,
        create: (job) => service.create({ ...job, name: `${job.name}-${draw()}` }),
        findByName: () => Effect.succeed(undefined)
      }
    : service
