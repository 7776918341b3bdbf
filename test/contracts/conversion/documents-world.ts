import { Context, Duration, Effect } from "effect"

import type { BatchOutcome, BatchRowState } from "../../../src/domain/batch/row.ts"
import type { CostEntry } from "../../../src/domain/cascade/cost.ts"
import type { FileKind, FileStatus } from "../../../src/domain/conversion/file.ts"
import type { ChunkStatus, JobOptions, JobStatus } from "../../../src/domain/conversion/job.ts"
import type { WorkId, CustomerId, FileId, JobId, ChunkId, LeaseId } from "../../../src/domain/ids.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../support/any-id.ts"

export const WINDOW = Duration.minutes(90)
export const STALE = Duration.minutes(1)

/** A job's row. */
interface JobSeen {
  readonly status: JobStatus
  readonly options: JobOptions
  readonly doneChunks: number
  readonly totalCostUsd: number | null
}

/** A chunk's row. */
interface ChunkSeen {
  readonly id: ChunkId
  readonly status: ChunkStatus
  readonly resultKey: string | null
}

/** A row of the ledger. */
interface Booked {
  readonly source: string
  readonly costUsd: number
}

/** A batch row. */
interface BatchSeen {
  readonly id: string
  readonly state: BatchRowState
  readonly outcome: BatchOutcome | null
  readonly closeReason: string | null
}

/** What the suites of the documents' stores read of the rows behind them, and what time and operators do to these. */
export class DocumentsWorld extends Context.Service<
  DocumentsWorld,
  {
    /** No work of an earlier test is in the way. */
    readonly clean: Effect.Effect<void>
    /** Lets time pass for holds, mails, replies and the messages of bulk orders. */
    readonly pass: (time: Duration.Duration) => Effect.Effect<void>
    /** A customer of the paid plan with these credits; `free`: of the free plan. */
    readonly customer: (credits: number | "free") => Effect.Effect<CustomerId>
    readonly setPlan: (customerId: CustomerId, plan: "free" | "paid") => Effect.Effect<void>
    readonly setCredits: (customerId: CustomerId, credits: number) => Effect.Effect<void>
    readonly closeAccount: (customerId: CustomerId) => Effect.Effect<void>
    /** What the customer has: credits, what is set aside, what was charged. */
    readonly funds: (
      customerId: CustomerId
    ) => Effect.Effect<{ readonly credits: number; readonly held: number; readonly charged: number }>
    readonly spend: (customerId: CustomerId, credits: number) => Effect.Effect<void>
    /** `minutes`: for how long it lasts from now. */
    readonly hold: (
      jobId: WorkId
    ) => Effect.Effect<
      { readonly state: string; readonly outcome: string | null; readonly minutes: number } | undefined
    >
    /** Sets when the hold lapses, minutes from now. */
    readonly lapsesIn: (jobId: WorkId, minutes: number) => Effect.Effect<void>
    readonly ledger: Effect.Effect<ReadonlyArray<Booked>>
    /** What was booked until now was booked a day ago. */
    readonly bookedYesterday: Effect.Effect<void>
    readonly job: (jobId: JobId) => Effect.Effect<JobSeen>
    readonly setJob: (
      jobId: JobId,
      changes: {
        readonly status?: JobStatus
        readonly error?: string | null
        /** Heard of just now. */
        readonly lease?: LeaseId
        readonly doneChunks?: number
        readonly age?: Duration.Duration
      }
    ) => Effect.Effect<void>
    /** In the order of the pages. */
    readonly chunks: (jobId: JobId) => Effect.Effect<ReadonlyArray<ChunkSeen>>
    readonly setChunk: (
      chunkId: ChunkId,
      changes: {
        readonly status?: ChunkStatus
        /** After its first attempt. */
        readonly lease?: LeaseId
        readonly resultKey?: string
        /** How long ago its worker was heard of. */
        readonly silentFor?: Duration.Duration
        /** Its next attempt is due now. */
        readonly due?: true
      }
    ) => Effect.Effect<void>
    readonly setFile: (
      fileId: FileId,
      changes: {
        readonly status?: FileStatus
        readonly jobId?: JobId
        /** How long ago it was last changed. */
        readonly unchangedFor?: Duration.Duration
        /** How long ago its inline attempt began. */
        readonly claimedFor?: Duration.Duration
      }
    ) => Effect.Effect<void>
    /** Runs `second` while `first` has written and is not over; where stores take calls one by one, after it. */
    readonly whileOpen: <A, E, B, E2>(
      first: Effect.Effect<A, E>,
      second: Effect.Effect<B, E2>
    ) => Effect.Effect<B, E | E2>
    /** The driver of the batch lane resumes a job. */
    readonly resume: (jobId: JobId) => Effect.Effect<void>
    readonly batchRow: (jobId: JobId) => Effect.Effect<BatchSeen | undefined>
    /** A row in a state that nobody brought it into; a closed one was collected. */
    readonly addBatchRow: (jobId: JobId, state: BatchRowState) => Effect.Effect<void>
    readonly setBatchRow: (
      jobId: JobId,
      changes: {
        /** How long ago its deadline was. */
        readonly overdueFor?: Duration.Duration
        /** How long ago its prepare was begun. */
        readonly preparedFor?: Duration.Duration
        /** How long ago it was closed. */
        readonly closedFor?: Duration.Duration
      }
    ) => Effect.Effect<void>
  }
>()("postlane/test/DocumentsWorld") {}

export const clean = DocumentsWorld.use((world) => world.clean)
export const customer = (credits: number | "free") => DocumentsWorld.use((world) => world.customer(credits))

/** Nothing is there but one customer. */
export const begin = Effect.fnUntraced(function* (credits: number | "free") {
  yield* clean
  return { owner: yield* customer(credits), store: yield* ConversionStore, world: yield* DocumentsWorld }
})
export const pass = (time: Duration.Duration) => DocumentsWorld.use((world) => world.pass(time))
export const funds = (customerId: CustomerId) => DocumentsWorld.use((world) => world.funds(customerId))
export const ledgerUsd = DocumentsWorld.use((world) =>
  Effect.map(world.ledger, (rows) => rows.reduce((sum, { costUsd }) => sum + costUsd, 0))
)

/** A file of this kind; a PDF of so many pages unless said otherwise. */
export const addFile = Effect.fnUntraced(function* (
  customerId: CustomerId,
  pages: number,
  kind: FileKind = "pdf"
) {
  const store = yield* ConversionStore
  const id = anyId()
  yield* store.addFile({
    id,
    customerId,
    name: `a.${kind}`,
    kind,
    sizeBytes: 1000,
    pages,
    objectKey: `files/${id}`
  })
  return id
})

export const pdf = (customerId: CustomerId, pages: number) => addFile(customerId, pages)

/** Asks for the conversion of a file. */
export const ask = (
  customerId: CustomerId,
  fileId: FileId,
  jobId: JobId = anyId(),
  options: JobOptions = {}
) => ConversionStore.use((store) => store.request({ jobId, fileId, customerId, options, window: WINDOW }))

/** A conversion that was asked for and has its job, in chunks of `chunkPages`. */
export const job = Effect.fnUntraced(function* (
  customerId: CustomerId,
  fileId: FileId,
  options: JobOptions = {},
  chunkPages = 2
) {
  const store = yield* ConversionStore
  const jobId = anyId()
  const requested = yield* ask(customerId, fileId, jobId, options)
  if (requested !== "queued") return yield* Effect.die(new Error(`the request was answered ${requested}`))
  yield* store.createJob(jobId, { status: "pending", options, chunkPages })
  return jobId
})

/** A conversion that waits for the batch, in chunks of two pages. */
export const parked = Effect.fnUntraced(function* (pages: number) {
  const store = yield* ConversionStore
  const owner = yield* customer(1000)
  const fileId = yield* pdf(owner, pages)
  const jobId = anyId()
  const options = { highFidelity: true }
  yield* ask(owner, fileId, jobId, options)
  yield* store.createJob(jobId, { status: "waiting_batch", options, chunkPages: 2 })
  return { owner, fileId, jobId }
})

/** A file as its owner sees it. */
export const fileOf = Effect.fnUntraced(function* (fileId: FileId, customerId: CustomerId) {
  const store = yield* ConversionStore
  const file = yield* store.file(fileId, customerId)
  if (file === undefined) return yield* Effect.die(new Error("the file is gone"))
  return file
})

/** A cost of a chunk's models. */
export const cost = (jobId: WorkId, usd: number, id = anyId()): CostEntry => ({
  id,
  jobId,
  chunkId: undefined,
  source: "chunk-scheduler",
  backend: "chunked-vision",
  model: "m",
  usage: { inputTokens: 10, outputTokens: 20 },
  costUsd: usd,
  metadata: {}
})

/** Word documents of an owner whose conversion was asked for, in this order. */
export const asked = Effect.fnUntraced(function* (owner: CustomerId, count: number) {
  const ids: Array<string> = []
  for (let n = 0; n < count; n++) {
    const id = yield* addFile(owner, 1, "docx")
    yield* ask(owner, id)
    ids.push(id)
  }
  return ids
})

/** The next file that is converted inline. */
export const claimInline = Effect.flatMap(ConversionStore, (store) => store.claimInline(anyId(), STALE))

/** Claims and completes every chunk that there is. */
export const completeAll = Effect.gen(function* () {
  const store = yield* ConversionStore
  while (true) {
    const chunk = yield* store.claimChunk("w", anyId())
    if (chunk === undefined) return
    yield* store.completeChunk(chunk, `results/${chunk.chunkIndex}`, [cost(chunk.jobId, 0.5)])
  }
})
