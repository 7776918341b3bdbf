import { Clock, Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

import { addCustomer } from "../../../src/adapters/memory/accounts/accounts.ts"
import { amountOf, availableFunds } from "../../../src/adapters/memory/accounts/funds.ts"
import * as MemoryBatch from "../../../src/adapters/memory/batch/batch-store.ts"
import { newBatchRow } from "../../../src/adapters/memory/batch/owner-acts.ts"
import { resumeJob } from "../../../src/adapters/memory/batch/resume.ts"
import * as MemoryConversion from "../../../src/adapters/memory/conversion/conversion-store.ts"
import { chunksOf } from "../../../src/adapters/memory/conversion/jobs.ts"
import * as MemoryDatabase from "../../../src/adapters/memory/documents/state.ts"
import { type Documents, MemoryDocuments, micros } from "../../../src/adapters/memory/documents/state.ts"
import { Table } from "../../../src/adapters/memory/documents/table.ts"
import type { CustomerId, FileId, JobId, ChunkId } from "../../../src/domain/ids.ts"
import { DocumentsWorld, WINDOW } from "../../contracts/conversion/documents-world.ts"
import { anyId } from "../any-id.ts"

/** The row, which a test knows to be there. */
const the = <Row extends object>(table: Table<Row>, key: string): Row => {
  const row = table.get(key)
  if (row === undefined) throw new Error(`there is no row ${key}`)
  return row
}

const MINUTE = micros(Duration.minutes(1))

const ago = (db: Documents, duration: Duration.Duration) => db.moment() - micros(duration)

const clean = (db: Documents) => {
  for (const table of Object.values(db)) if (table instanceof Table) table.clear()
}

const customer = (db: Documents, credits: number | "free") => {
  const id = anyId()
  addCustomer(db, {
    id,
    email: `${id}@x.test`,
    plan: credits === "free" ? "free" : "paid",
    credits: credits === "free" ? 0 : credits
  })
  return id
}

const funds = (db: Documents, customerId: CustomerId) => {
  const sum = (rows: ReadonlyArray<{ readonly credits: number }>) =>
    rows.reduce((all, { credits }) => all + credits, 0)
  return {
    credits: the(db.customers, customerId).credits,
    held: sum(db.holds.where((hold) => hold.customerId === customerId && hold.state === "held")),
    charged: sum(db.charges.where((charge) => charge.customerId === customerId))
  }
}

const spend = (db: Documents, customerId: CustomerId, credits: number) => {
  const left = availableFunds(db, customerId)
  if (left === undefined || amountOf(left) < credits) throw new Error("the credits do not suffice")
  db.customers.update(customerId, { credits: the(db.customers, customerId).credits - credits })
}

type World = DocumentsWorld["Service"]

const setJob = (db: Documents, jobId: JobId, changes: Parameters<World["setJob"]>[1]) => {
  const { age, lease, ...rest } = changes
  db.jobs.update(jobId, {
    ...rest,
    ...(lease === undefined ? {} : { lease, heartbeatAt: db.moment() }),
    ...(age === undefined ? {} : { createdAt: ago(db, age) })
  })
}

const setChunk = (db: Documents, chunkId: ChunkId, changes: Parameters<World["setChunk"]>[1]) => {
  const { due, lease, silentFor, ...rest } = changes
  db.chunks.update(chunkId, {
    ...rest,
    ...(lease === undefined ? {} : { lease, attempts: 1 }),
    ...(silentFor === undefined ? {} : { heartbeatAt: ago(db, silentFor) }),
    ...(due === undefined ? {} : { notBefore: db.moment() })
  })
}

const setFile = (db: Documents, fileId: FileId, changes: Parameters<World["setFile"]>[1]) => {
  const { claimedFor, unchangedFor, ...rest } = changes
  db.files.update(fileId, {
    ...rest,
    ...(unchangedFor === undefined ? {} : { updatedAt: ago(db, unchangedFor) }),
    ...(claimedFor === undefined ? {} : { claimedAt: ago(db, claimedFor) })
  })
}

const setBatchRow = (db: Documents, jobId: JobId, changes: Parameters<World["setBatchRow"]>[1]) => {
  const { closedFor, overdueFor, preparedFor } = changes
  db.batches.update(jobId, {
    ...(closedFor === undefined ? {} : { closedAt: ago(db, closedFor) }),
    ...(overdueFor === undefined ? {} : { deadlineAt: ago(db, overdueFor) }),
    ...(preparedFor === undefined ? {} : { prepareStartedAt: ago(db, preparedFor) })
  })
}

/** Time and operators, on the database in memory. */
const layer: Layer.Layer<DocumentsWorld, never, MemoryDocuments> = Layer.effect(
  DocumentsWorld,
  Effect.map(MemoryDocuments, (db) => {
    const now = <A>(body: () => A) =>
      Effect.map(Clock.currentTimeMillis, (ms) => {
        db.setTime(ms)
        return db.atomically(body)
      })
    return DocumentsWorld.of({
      clean: now(() => clean(db)),
      pass: (time) => TestClock.adjust(time),
      customer: (credits) => now(() => customer(db, credits)),
      setPlan: (id, plan) => now(() => void db.customers.update(id, { plan })),
      setCredits: (id, credits) => now(() => void db.customers.update(id, { credits })),
      closeAccount: (id) => now(() => void db.customers.update(id, { deletedAt: db.moment() })),
      funds: (id) => now(() => funds(db, id)),
      spend: (id, credits) => now(() => spend(db, id, credits)),
      hold: (jobId) =>
        now(() => {
          const hold = db.holds.get(jobId)
          return hold && { ...hold, minutes: (hold.expiresAt - db.moment()) / MINUTE }
        }),
      lapsesIn: (jobId, minutes) =>
        now(() => void db.holds.update(jobId, { expiresAt: db.moment() + minutes * MINUTE })),
      ledger: now(() => db.ledger.where()),
      bookedYesterday: now(() => {
        for (const { createdAt, id } of db.ledger.where())
          db.ledger.update(id, { createdAt: createdAt - micros(Duration.days(1)) })
      }),
      job: (jobId) => now(() => the(db.jobs, jobId)),
      setJob: (jobId, changes) => now(() => setJob(db, jobId, changes)),
      chunks: (jobId) => now(() => chunksOf(db, jobId)),
      setChunk: (chunkId, changes) => now(() => setChunk(db, chunkId, changes)),
      setFile: (fileId, changes) => now(() => setFile(db, fileId, changes)),
      batchRow: (jobId) => now(() => db.batches.get(jobId)),
      addBatchRow: (jobId, state) =>
        now(() => {
          const isClosed = state === "closed"
          db.batches.insert(
            newBatchRow(db, jobId, {
              state,
              outcome: isClosed ? "collected" : null,
              closedAt: isClosed ? db.moment() : null
            })
          )
        }),
      setBatchRow: (jobId, changes) => now(() => setBatchRow(db, jobId, changes)),
      whileOpen: (first, second) => Effect.andThen(first, second),
      resume: (jobId) => now(() => void resumeJob(db, jobId, {}, WINDOW))
    })
  })
)

/** The stores of documents in memory, on one database. */
export const memory = Layer.mergeAll(MemoryConversion.layer, MemoryBatch.layer, layer).pipe(
  Layer.provideMerge(MemoryDatabase.layer)
)
