import { Effect, Layer } from "effect"

import { BatchStore } from "../../../ports/batch/batch-store.ts"
import { chunksOf } from "../conversion/jobs.ts"
import { type Documents, MemoryDocuments, transaction } from "../documents/state.ts"
import { makeInteractive, releaseOverdue, resumeJob } from "./resume.ts"
import {
  beginCollect,
  claim,
  claimPolls,
  drop,
  endRow,
  giveUp,
  isOrphan,
  purged,
  serviceFull,
  stranded,
  submitted,
  toPurge,
  toStop,
  uploaded
} from "./rows.ts"

/** The batch rows of one process on a database that others may share. */
export const makeBatchStore = (documents: Documents): BatchStore["Service"] => {
  const run = <A>(body: (db: Documents) => A) => transaction(documents, body)
  return BatchStore.of({
    claim: (asked) => run((db) => claim(db, asked)),
    chunks: (jobId) =>
      run((db) =>
        chunksOf(db, jobId).map(({ chunkIndex, firstPage, lastPage }) => ({
          chunkIndex,
          firstPage,
          lastPage
        }))
      ),
    uploaded: (batch, input) => run((db) => uploaded(db, batch, input)),
    submitted: (batch, job) => run((db) => submitted(db, batch, job)),
    serviceFull: run(serviceFull),
    isOrphan: (id, arn) => run((db) => isOrphan(db, id, arn)),
    drop: (batch, end) => run((db) => drop(db, batch, end)),
    claimPolls: (every, limit) => run((db) => claimPolls(db, every, limit)),
    beginCollect: (id) => run((db) => beginCollect(db, id)),
    giveUp: (id, reason) => run((db) => giveUp(db, id, reason)),
    end: (id, end) => run((db) => endRow(db, id, end)),
    releaseOverdue: (limits) => run((db) => releaseOverdue(db, limits)),
    stranded: run(stranded),
    resume: (jobId, patch, window) => run((db) => resumeJob(db, jobId, patch, window)),
    makeInteractive: (jobId, window) => run((db) => makeInteractive(db, jobId, window)),
    toStop: (jobId) => run((db) => toStop(db, jobId)),
    toPurge: (after, limit) => run((db) => toPurge(db, after, limit)),
    purged: (id) => run((db) => purged(db, id))
  })
}

/** Batch rows in memory, by the same rules as the functions of PostgreSQL. */
export const layer: Layer.Layer<BatchStore, never, MemoryDocuments> = Layer.effect(
  BatchStore,
  Effect.map(MemoryDocuments, makeBatchStore)
)
