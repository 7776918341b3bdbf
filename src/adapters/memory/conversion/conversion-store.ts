import { Effect, Layer } from "effect"

import { NoRoomForFile } from "../../../domain/conversion/stored-files.ts"
import { ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { newestFirst } from "../documents/page.ts"
import { type Documents, MemoryDocuments, transaction } from "../documents/state.ts"
import { claimAssembly, finishJob, handBackAssembly, heartbeatAssembly } from "./assembly.ts"
import {
  claimChunk,
  chunkResults,
  completeChunk,
  failChunk,
  handBackChunk,
  heartbeatChunk,
  recoverOrphan
} from "./chunks.ts"
import { addFile, filesOf, filesToPurge, hasRoom, shown } from "./files.ts"
import {
  cancelFlyer,
  claimFlyer,
  failFlyer,
  finishFlyer,
  flyer,
  flyersOf,
  heartbeatFlyer,
  requestFlyer,
  requestReflow
} from "./flyers.ts"
import { claimInline, failInline, finishInline, heartbeatInline } from "./inline.ts"
import { bookCosts, failJob } from "./jobs.ts"
import { bulkOf, jobOf } from "./lookups.ts"
import { cancelJob, createJob, deleteFile, nextQueued, ownFile, request } from "./requests.ts"
import { applyBudget, deleteFileOfClosedAccount, modelCostToday, sweep } from "./upkeep.ts"
import { flyerWaitFacts, waitFacts } from "./waiting.ts"

type Store = ConversionStore["Service"]

/** Runs a statement on the database. */
type Run = <A>(body: (db: Documents) => A) => Effect.Effect<A, StoreUnavailable>

/** Files, and the requests for their conversion. */
const filesOn = (
  documents: Documents,
  run: Run
): Pick<
  Store,
  | "hasRoom"
  | "addFile"
  | "files"
  | "file"
  | "filesById"
  | "waitFacts"
  | "deleteFile"
  | "filesToPurge"
  | "filePurged"
  | "withoutObjects"
  | "request"
  | "nextQueued"
  | "createJob"
  | "cancel"
> => ({
  hasRoom: (customerId) => run((db) => hasRoom(db, customerId)),
  addFile: (file) =>
    Effect.flatMap(
      run((db) => {
        const row = addFile(db, file)
        return row && shown(db, row)
      }),
      (added) => (added === undefined ? Effect.fail(new NoRoomForFile()) : Effect.succeed(added))
    ),
  files: (customerId, page) =>
    Effect.map(
      Effect.flatMap(
        run((db) => filesOf(db, customerId, page)),
        (rows) => newestFirst(rows, page)
      ),
      ({ nextCursor, rows }) => ({ files: rows.map((row) => shown(documents, row)), nextCursor })
    ),
  file: (fileId, customerId) =>
    run((db) => {
      const row = ownFile(db, fileId, customerId)
      return row && shown(db, row)
    }),
  filesById: (ids) =>
    run((db) =>
      db.files
        .where(({ deletedAt, id }) => deletedAt === null && ids.includes(id))
        .map((row) => shown(db, row))
    ),
  waitFacts: (fileId) => run((db) => waitFacts(db, fileId)),
  deleteFile: (fileId, customerId) => run((db) => deleteFile(db, fileId, customerId)),
  filesToPurge: (limit) => run((db) => filesToPurge(db, limit)),
  filePurged: (fileId) =>
    run((db) => {
      if (db.files.get(fileId) !== undefined) db.files.update(fileId, { purgedAt: db.moment() })
    }),
  withoutObjects: (ids) =>
    run((db) =>
      ids.filter((id) => {
        const file = db.files.get(id)
        return file === undefined || file.purgedAt !== null
      })
    ),
  request: (asked) => run((db) => request(db, asked)),
  nextQueued: run(nextQueued),
  createJob: (jobId, job) => run((db) => createJob(db, jobId, job)),
  cancel: (jobId) => run((db) => cancelJob(db, jobId))
})

/** Jobs and bulk orders, by id. */
const lookupsOn = (run: Run): Pick<Store, "job" | "bulk" | "jobStatus"> => ({
  job: (jobId, customerId) => run((db) => jobOf(db, jobId, customerId)),
  bulk: (bulkId, customerId) => run((db) => bulkOf(db, bulkId, customerId)),
  jobStatus: (jobId) => run((db) => db.jobs.get(jobId)?.status)
})

/** Chunks, the assembly, and the upkeep of both. */
const chunksOn = (
  run: Run
): Pick<
  Store,
  | "claimChunk"
  | "heartbeatChunk"
  | "completeChunk"
  | "chunkResults"
  | "failChunk"
  | "handBackChunk"
  | "failJob"
  | "bookCosts"
  | "claimAssembly"
  | "heartbeatAssembly"
  | "handBackAssembly"
  | "finishJob"
  | "recoverOrphan"
  | "applyBudget"
  | "modelCostToday"
  | "deleteFileOfClosedAccount"
  | "sweep"
> => ({
  claimChunk: (worker, lease, perOwner, primed) =>
    run((db) => claimChunk(db, worker, lease, perOwner, primed)),
  heartbeatChunk: (chunk, pagesDone, window) => run((db) => heartbeatChunk(db, chunk, pagesDone, window)),
  chunkResults: (jobId) => run((db) => chunkResults(db, jobId)),
  completeChunk: (chunk, resultKey, costs, pages) =>
    run((db) => completeChunk(db, chunk, resultKey, costs, pages)),
  failChunk: (chunk, failure) => run((db) => failChunk(db, chunk, failure)),
  handBackChunk: (chunk, costs, retryIn) => run((db) => handBackChunk(db, chunk, costs, retryIn)),
  failJob: (jobId, error, lease) => run((db) => failJob(db, jobId, error, lease)),
  bookCosts: (costs) => run((db) => bookCosts(db, costs)),
  claimAssembly: (lease, stale) => run((db) => claimAssembly(db, lease, stale)),
  heartbeatAssembly: (assembly, window) => run((db) => heartbeatAssembly(db, assembly, window)),
  handBackAssembly: (assembly) => run((db) => handBackAssembly(db, assembly)),
  finishJob: (assembly, resultKey, legibility, noModelPages, made) =>
    run((db) => finishJob(db, assembly, resultKey, legibility, noModelPages, made)),
  recoverOrphan: (stale, maxAttempts) => run((db) => recoverOrphan(db, stale, maxAttempts)),
  applyBudget: (budgetUsd) => run((db) => applyBudget(db, budgetUsd)),
  modelCostToday: run(modelCostToday),
  deleteFileOfClosedAccount: run(deleteFileOfClosedAccount),
  sweep: (window, stale) => run((db) => sweep(db, window, stale))
})

/** The inline path and Preserve Formatting. */
const inlineOn = (
  run: Run
): Pick<
  Store,
  | "claimInline"
  | "heartbeatInline"
  | "finishInline"
  | "failInline"
  | "requestFlyer"
  | "flyer"
  | "flyersOf"
  | "flyerWaitFacts"
  | "claimFlyer"
  | "heartbeatFlyer"
  | "finishFlyer"
  | "failFlyer"
  | "cancelFlyer"
  | "requestReflow"
> => ({
  claimInline: (lease, stale) => run((db) => claimInline(db, lease, stale)),
  heartbeatInline: (inline, window) => run((db) => heartbeatInline(db, inline, window)),
  finishInline: (inline, resultKey, costs, found) =>
    run((db) => finishInline(db, inline, resultKey, costs, found)),
  failInline: (inline, failure) => run((db) => failInline(db, inline, failure)),
  requestFlyer: (asked) => run((db) => requestFlyer(db, asked)),
  flyer: (flyerId, customerId) => run((db) => flyer(db, flyerId, customerId)),
  flyersOf: (fileId, customerId) => run((db) => flyersOf(db, fileId, customerId)),
  flyerWaitFacts: (flyerId) => run((db) => flyerWaitFacts(db, flyerId)),
  claimFlyer: (lease, stale, perOwner) => run((db) => claimFlyer(db, lease, stale, perOwner)),
  heartbeatFlyer: (held, window) => run((db) => heartbeatFlyer(db, held, window)),
  finishFlyer: (held, resultKey, costs, unreadable = []) =>
    run((db) => finishFlyer(db, held, resultKey, costs, unreadable)),
  failFlyer: (held, failure) => run((db) => failFlyer(db, held, failure)),
  cancelFlyer: (flyerId, customerId) => run((db) => cancelFlyer(db, flyerId, customerId)),
  requestReflow: (asked) => run((db) => requestReflow(db, asked))
})

/** The store of one process on a database that others may share. */
export const makeConversionStore = (documents: Documents): Store => {
  const run: Run = (body) => transaction(documents, body)
  return ConversionStore.of({
    ...filesOn(documents, run),
    ...lookupsOn(run),
    ...chunksOn(run),
    ...inlineOn(run)
  })
}

/** Files, jobs, chunks and their funds in memory, by the same rules as the functions of PostgreSQL. */
export const layer: Layer.Layer<ConversionStore, never, MemoryDocuments> = Layer.effect(
  ConversionStore,
  Effect.map(MemoryDocuments, makeConversionStore)
)
