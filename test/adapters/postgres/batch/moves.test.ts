import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import {
  type BatchRowMove,
  BatchRowState,
  moveBatchRow,
  whenUserActs
} from "../../../../src/domain/batch/row.ts"
import type { CustomerId, FileId, JobId, LeaseId } from "../../../../src/domain/ids.ts"
import { type BatchEnd, BatchStore } from "../../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { clean, laneWorld, parked, rowOf } from "../../../application/batch/world/world.ts"
import { WINDOW } from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"

const LEASE = anyId()
const HOUR = Duration.hours(1)

/** A parked job and its row, if it has one. */
interface Ids {
  readonly rowId: string
  readonly jobId: JobId
  readonly fileId: FileId
  readonly owner: CustomerId
}

type Stores = BatchStore["Service"] & { readonly conversions: ConversionStore["Service"] }
type Call = (stores: Stores, ids: Ids) => Effect.Effect<unknown, unknown>

const END: BatchEnd = {
  outcome: "failed",
  reason: "x",
  endState: null,
  accepted: 0,
  fallback: 0,
  cost: undefined
}

const claim = (store: Stores, take: "open" | "parked") =>
  store.claim({
    take,
    lease: anyId(),
    preparer: anyId(),
    term: 2,
    model: "m",
    stuckAfter: HOUR,
    window: WINDOW,
    giveUpIn: HOUR
  })

const submit = (store: Stores, id: string, lease: LeaseId) =>
  store.submitted({ id, lease }, { arn: "arn:x", name: "n", pollIn: Duration.zero, giveUpIn: HOUR })

const CALLS = {
  claimOpen: (store) => claim(store, "open"),
  claimParked: (store) => claim(store, "parked"),
  uploaded: (store, { rowId }) =>
    store.uploaded(
      { id: rowId, lease: LEASE },
      {
        prefix: "p/",
        records: 1,
        shards: 1,
        bytes: 1,
        model: "m",
        price: { inputUsdPerMtok: 1, outputUsdPerMtok: 1 }
      }
    ),
  submitted: (store, { rowId }) => submit(store, rowId, LEASE),
  submittedByAnother: (store, { rowId }) => submit(store, rowId, anyId()),
  drop: (store, { rowId }) => store.drop({ id: rowId, lease: LEASE }, END),
  dropByAnother: (store, { rowId }) => store.drop({ id: rowId, lease: anyId() }, END),
  claimPolls: (store) => store.claimPolls(Duration.zero, 10),
  beginCollect: (store, { rowId }) => store.beginCollect(rowId),
  giveUp: (store, { rowId }) => store.giveUp(rowId, "x"),
  end: (store, { rowId }) => store.end(rowId, END),
  resume: (store, { jobId }) => store.resume(jobId, {}, WINDOW),
  purged: (store, { rowId }) => store.purged(rowId),
  processNow: (store, { jobId }) => store.makeInteractive(jobId, WINDOW),
  cancel: (store, { jobId }) => store.conversions.cancel(jobId),
  deleteFile: (store, { fileId, owner }) => store.conversions.deleteFile(fileId, owner),
  releaseOverdue: (store) =>
    store.releaseOverdue({
      giveUpIn: Duration.zero,
      stuckAfter: HOUR,
      slack: Duration.zero,
      window: WINDOW
    })
} satisfies Record<string, Call>

type Name = keyof typeof CALLS

const NAMES = Object.keys(CALLS).filter((name): name is Name => name in CALLS)

/** What a call means to a row; the others move none. */
const ROW_MOVES: Partial<Record<Name, BatchRowMove>> = { submitted: "submit", drop: "drop", end: "end" }

/** What the owner does, and what is done in the owner's place once a job has waited for too long. */
const USER_ACTS: ReadonlySet<Name> = new Set(["processNow", "cancel", "deleteFile", "releaseOverdue"])

/** What a call may write on a row that it does not move; the others leave it as it is. */
const NOTES: Partial<Record<Name, ReadonlyArray<string>>> = {
  claimOpen: ["preparing"],
  uploaded: ["preparing"],
  claimPolls: ["submitted"],
  beginCollect: ["submitted"],
  giveUp: ["submitted"],
  purged: BatchRowState.literals
}

const FOUND = ["none", ...BatchRowState.literals] as const

const expectedOf = (name: Name, found: (typeof FOUND)[number]) => {
  if (USER_ACTS.has(name)) return whenUserActs(found).state
  if (found === "none") return name === "claimParked" ? "preparing" : "none"
  const move = ROW_MOVES[name]
  return (move && moveBatchRow(found, move)) ?? found
}

const stage = Effect.fnUntraced(function* (found: (typeof FOUND)[number]) {
  yield* clean
  const sql = yield* WriteSql
  const job = yield* parked(3)
  const rowId = anyId()
  if (found !== "none") {
    yield* sql`insert into conversion_batch_jobs
        (id, job_id, state, lease, term, outcome, batch_job_arn, submitted_at, deadline_at, next_poll_at)
      values (${rowId}::uuid, ${job.jobId}::uuid, ${found}, ${LEASE}::uuid, 1,
        ${found === "closed" ? "collected" : null}, ${found === "preparing" ? null : "arn:x"},
        now(), now() - interval '1 hour', now())`
  }
  return { rowId, ...job }
})

const whole = WriteSql.use((sql) => sql`select * from conversion_batch_jobs`)

layer(laneWorld, { excludeTestServices: true })("moves of a batch row on PostgreSQL", (it) => {
  it.effect.each(NAMES)("on a job of every row state, %s makes exactly the moves of the tables", (name) =>
    Effect.gen(function* () {
      const stores = { ...(yield* BatchStore), conversions: yield* ConversionStore }
      for (const found of FOUND) {
        const ids = yield* stage(found)
        const before = yield* whole
        yield* CALLS[name](stores, ids)
        const row = yield* rowOf(ids.jobId)
        assert.strictEqual(row?.state ?? "none", expectedOf(name, found), found)
        if (USER_ACTS.has(name)) {
          // Overdue rows are closed out too; a closed row never gets another reason.
          assert.strictEqual(row?.close_reason !== null, whenUserActs(found).reason, found)
        } else if (row?.state === found && NOTES[name]?.includes(found) !== true) {
          assert.deepStrictEqual(yield* whole, before, found)
        }
      }
    })
  )
})
