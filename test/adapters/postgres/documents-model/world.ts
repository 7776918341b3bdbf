import { Clock, Duration, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

import { addCustomer } from "../../../../src/adapters/memory/accounts/accounts.ts"
import { makeBatchStore } from "../../../../src/adapters/memory/batch/batch-store.ts"
import { makeConversionStore } from "../../../../src/adapters/memory/conversion/conversion-store.ts"
import { type Documents, makeDocuments, micros } from "../../../../src/adapters/memory/documents/state.ts"
import type { Table } from "../../../../src/adapters/memory/documents/table.ts"
import { makeIntakeStore } from "../../../../src/adapters/memory/inbound/intake-store.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import type { CustomerId } from "../../../../src/domain/ids.ts"
import type { ClaimedBatch } from "../../../../src/ports/batch/batch-store.ts"
import { BatchStore } from "../../../../src/ports/batch/batch-store.ts"
import {
  type ClaimedAssembly,
  type ClaimedChunk,
  type ClaimedFlyer,
  type ClaimedInline,
  ConversionStore
} from "../../../../src/ports/conversion/conversion-store.ts"
import {
  type ClaimedMail,
  type ClaimedReply,
  IntakeStore
} from "../../../../src/ports/inbound/intake-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { makeIds, paired } from "./pair.ts"

/** Both databases, every store on the two of them, and what was made and claimed there. */
export interface World {
  readonly sql: WriteSql["Service"]
  readonly db: Documents
  readonly differences: Array<string>
  readonly conversions: ConversionStore["Service"]
  readonly batches: BatchStore["Service"]
  readonly intake: IntakeStore["Service"]
  readonly owners: ReadonlyArray<string>
  readonly files: Array<{ readonly id: string; readonly owner: CustomerId }>
  readonly jobs: Array<string>
  readonly flyers: Array<{ readonly id: string; readonly owner: CustomerId }>
  readonly chunks: Array<ClaimedChunk>
  readonly assemblies: Array<ClaimedAssembly>
  readonly inlines: Array<ClaimedInline>
  readonly claimedFlyers: Array<ClaimedFlyer>
  readonly rows: Array<ClaimedBatch>
  readonly mails: Array<ClaimedMail>
  readonly replies: Array<ClaimedReply>
}

/** Changes the model's rows as an operator or time does. */
export const byHand = (db: Documents, change: () => void): Effect.Effect<void> =>
  Effect.map(Clock.currentTimeMillis, (ms) => {
    db.setTime(ms)
    db.atomically(change)
  })

/** Two empty databases with a paid customer and a free one. */
export const makeWorld = Effect.fnUntraced(function* (
  counts: Map<string, number>
): Effect.fn.Return<World, SqlError, ConversionStore | BatchStore | IntakeStore | WriteSql> {
  const sql = yield* WriteSql
  yield* sql`truncate customers, cost_ledger, intake_mails, intake_strangers cascade`
  const db = makeDocuments()
  const owners = [anyId(), anyId()]
  const [paid, free] = owners
  yield* sql`insert into customers (id, email, plan_type, credits_remaining) values
    (${paid}::uuid, ${`${paid}@x.test`}, 'paid', 12), (${free}::uuid, ${`${free}@x.test`}, 'free', 0)`
  yield* byHand(db, () => {
    for (const [id, plan, credits] of [
      [paid!, "paid", 12],
      [free!, "free", 0]
    ] as const)
      addCustomer(db, { id, email: `${id}@x.test`, plan, credits })
  })
  const differences: Array<string> = []
  const ids = makeIds()
  const seen = { differences, counts }
  return {
    sql,
    db,
    differences,
    conversions: paired(yield* ConversionStore, makeConversionStore(db), ids, seen),
    batches: paired(yield* BatchStore, makeBatchStore(db), ids, seen),
    intake: paired(yield* IntakeStore, makeIntakeStore(db), ids, seen),
    owners,
    files: [],
    jobs: [],
    flyers: [],
    chunks: [],
    assemblies: [],
    inlines: [],
    claimedFlyers: [],
    rows: [],
    mails: [],
    replies: []
  }
})

const HOUR = micros(Duration.hours(1))

/** Columns that time passes for, in both, by table. */
const MOMENTS = [
  ["chunk_jobs", "chunks", { not_before: "notBefore", heartbeat_at: "heartbeatAt" }],
  ["large_conversion_jobs", "jobs", { created_at: "createdAt", heartbeat_at: "heartbeatAt" }],
  ["files", "files", { heartbeat_at: "heartbeatAt", updated_at: "updatedAt" }],
  ["flyer_jobs", "flyers", { heartbeat_at: "heartbeatAt" }],
  ["funds_holds", "holds", { expires_at: "expiresAt" }],
  [
    "conversion_batch_jobs",
    "batches",
    {
      created_at: "createdAt",
      claimed_at: "claimedAt",
      prepare_started_at: "prepareStartedAt",
      deadline_at: "deadlineAt",
      next_poll_at: "nextPollAt",
      closed_at: "closedAt"
    }
  ],
  [
    "intake_mails",
    "mails",
    {
      not_before: "notBefore",
      heartbeat_at: "heartbeatAt",
      received_at: "receivedAt",
      failing_since: "failingSince",
      failed_at: "failedAt",
      ended_at: "endedAt"
    }
  ],
  ["intake_replies", "replies", { not_before: "notBefore", created_at: "createdAt", ended_at: "endedAt" }]
] as const

/** The key of a row in its table. */
const keyOf = (row: object): string => {
  if ("content" in row && "mailId" in row)
    return `${String(row.mailId)} ${String(Reflect.get(Object(row.content), "kind"))}`
  const isByJob = "expiresAt" in row || "prepareStartedAt" in row
  return String(Reflect.get(row, isByJob ? "jobId" : "id"))
}

/** Lets so many hours pass for everything that is there. */
export const passHours = ({ db, sql }: World, hours: number): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    for (const [table, , columns] of MOMENTS) {
      const sets = Object.keys(columns).map((one) => `${one} = ${one} - ${hours} * interval '1 hour'`)
      yield* sql.unsafe(`update ${table} set ${sets.join(", ")}`)
    }
    yield* byHand(db, () => {
      for (const [, name, columns] of MOMENTS) {
        const table: Table<object> = db[name] as never
        for (const row of table.where()) {
          const changes = Object.values(columns).flatMap((key) => {
            const moment: unknown = Reflect.get(row, key)
            return typeof moment === "number" ? [[key, moment - hours * HOUR]] : []
          })
          table.update(keyOf(row), Object.fromEntries(changes))
        }
      }
    })
  })

/** The turns of owners follow from how long each attempt took, which is not the same in both. */
export const alignTurns = ({ db, sql }: World): Effect.Effect<void, SqlError> =>
  Effect.flatMap(
    sql<{ readonly id: string; readonly at: string }>`select customer_id as id,
      (extract(epoch from busy_until) * 1000000)::bigint::text as at from inline_turns where isfinite(busy_until)`,
    (turns) =>
      byHand(db, () => {
        db.turns.clear()
        for (const { at, id } of turns) db.turns.insert({ customerId: anyId(id), busyUntil: Number(at) })
      })
  )
