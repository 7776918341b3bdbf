import { Clock, Duration, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

import { addCustomer, makeAccounts } from "../../../../src/adapters/memory/accounts/accounts.ts"
import { makeBatchStore } from "../../../../src/adapters/memory/batch/batch-store.ts"
import { resumeJob } from "../../../../src/adapters/memory/batch/resume.ts"
import { makeBulkOrders } from "../../../../src/adapters/memory/conversion/bulk-orders.ts"
import { makeConversionStore } from "../../../../src/adapters/memory/conversion/conversion-store.ts"
import { type Documents, makeDocuments, micros } from "../../../../src/adapters/memory/documents/state.ts"
import type { Table } from "../../../../src/adapters/memory/documents/table.ts"
import { makeIntakeStore } from "../../../../src/adapters/memory/inbound/intake-store.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { HOLD_WINDOW } from "../../../../src/domain/conversion/job.ts"
import type { CustomerId, JobId } from "../../../../src/domain/ids.ts"
import { Accounts } from "../../../../src/ports/accounts/accounts.ts"
import type { ClaimedBatch } from "../../../../src/ports/batch/batch-store.ts"
import { BatchStore } from "../../../../src/ports/batch/batch-store.ts"
import { BulkOrders } from "../../../../src/ports/conversion/bulk-orders.ts"
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
import type { StoreUnavailable } from "../../../../src/ports/store-unavailable.ts"
import { anyId } from "../../../support/any-id.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { makeIds, paired } from "./pair.ts"

/** What operators and time change without a store. */
export interface Hand {
  /** Lets so many hours pass for everything that is there. */
  readonly pass: (hours: number) => Effect.Effect<void, StoreUnavailable>
  readonly topUp: (owner: string, credits: number) => Effect.Effect<void, StoreUnavailable>
  readonly resume: (jobId: JobId) => Effect.Effect<void, StoreUnavailable>
}

/** The stores that steps call. */
export interface Stores {
  readonly conversions: ConversionStore["Service"]
  readonly batches: BatchStore["Service"]
  readonly intake: IntakeStore["Service"]
  readonly bulk: BulkOrders["Service"]
  readonly accounts: Accounts["Service"]
  readonly hand: Hand
}

/** The stores, and what was made and claimed there. */
export interface World extends Stores {
  readonly owners: ReadonlyArray<string>
  readonly files: Array<{ readonly id: string; readonly owner: CustomerId }>
  readonly jobs: Array<string>
  readonly orders: Array<string>
  readonly flyers: Array<{ readonly id: string; readonly owner: CustomerId }>
  readonly chunks: Array<ClaimedChunk>
  readonly assemblies: Array<ClaimedAssembly>
  readonly inlines: Array<ClaimedInline>
  readonly claimedFlyers: Array<ClaimedFlyer>
  readonly rows: Array<ClaimedBatch>
  readonly mails: Array<ClaimedMail>
  readonly replies: Array<ClaimedReply>
}

/** A world in which nothing was made yet. */
export const worldOf = (stores: Stores, owners: ReadonlyArray<string>): World => ({
  ...stores,
  owners,
  files: [],
  jobs: [],
  orders: [],
  flyers: [],
  chunks: [],
  assemblies: [],
  inlines: [],
  claimedFlyers: [],
  rows: [],
  mails: [],
  replies: []
})

/** Changes the model's rows as an operator or time does. */
const byHand = (db: Documents, change: () => void): Effect.Effect<void> =>
  Effect.map(Clock.currentTimeMillis, (ms) => {
    db.setTime(ms)
    db.atomically(change)
  })

/** The stores of the context. */
export const realStores = Effect.gen(function* () {
  const sql = yield* WriteSql
  const done = (statement: Effect.Effect<unknown, SqlError>) => Effect.asVoid(Effect.orDie(statement))
  const stores: Stores = {
    conversions: yield* ConversionStore,
    batches: yield* BatchStore,
    intake: yield* IntakeStore,
    bulk: yield* BulkOrders,
    accounts: yield* Accounts,
    hand: {
      pass: (hours) => passHours(sql, hours),
      topUp: (owner, credits) =>
        done(
          sql`update customers set credits_remaining = credits_remaining + ${credits} where id = ${owner}::uuid`
        ),
      resume: (jobId) => done(sql`select resume_batch_conversion_job(${jobId}::uuid)`)
    }
  }
  return stores
})

/** The stores of a database in memory. */
export const modelStores = (db: Documents): Stores => ({
  conversions: makeConversionStore(db),
  batches: makeBatchStore(db),
  intake: makeIntakeStore(db),
  bulk: makeBulkOrders(db),
  accounts: makeAccounts(db),
  hand: {
    pass: (hours) => byHand(db, () => passModelHours(db, hours)),
    topUp: (owner, credits) =>
      byHand(db, () => {
        db.customers.update(owner, { credits: (db.customers.get(owner)?.credits ?? 0) + credits })
      }),
    resume: (jobId) => byHand(db, () => void resumeJob(db, jobId, {}, HOLD_WINDOW))
  }
})

/** What a world begins with: a paid customer and a free one. */
const PLANS = [
  ["paid", 12],
  ["free", 0]
] as const

/** Puts the customers into an empty PostgreSQL. */
export const addOwners = (sql: WriteSql["Service"], [paid, free]: ReadonlyArray<string>) => sql`
  insert into customers (id, email, plan_type, credits_remaining) values
    (${paid}::uuid, ${`${paid}@x.test`}, 'paid', ${PLANS[0][1]}), (${free}::uuid, ${`${free}@x.test`}, 'free', 0)`

/** A database in memory with the customers. */
export const modelWith = (owners: ReadonlyArray<string>): Documents => {
  const db = makeDocuments()
  for (const [index, [plan, credits]] of PLANS.entries()) {
    const id = anyId(owners[index])
    addCustomer(db, { id, email: `${id}@x.test`, plan, credits })
  }
  return db
}

/** Both databases, empty but for the customers, and a world whose every call goes to both. */
export const makePair = Effect.fnUntraced(function* (counts: Map<string, number>) {
  const sql = yield* WriteSql
  yield* empty("customers, cost_ledger, intake_mails, intake_strangers")
  yield* sql`update work_turns set customer_id = default`
  const owners = [anyId(), anyId()]
  yield* addOwners(sql, owners)
  const db = modelWith(owners)
  const [real, model] = [yield* realStores, modelStores(db)]
  const ids = makeIds()
  const differences: Array<string> = []
  const both = <S extends object>(a: S, b: S) => paired(a, b, ids, { differences, counts })
  const world = worldOf(
    {
      conversions: both(real.conversions, model.conversions),
      batches: both(real.batches, model.batches),
      intake: both(real.intake, model.intake),
      bulk: both(real.bulk, model.bulk),
      accounts: both(real.accounts, model.accounts),
      hand: both(real.hand, model.hand)
    },
    owners
  )
  return { sql, db, differences, world }
})

const HOUR = micros(Duration.hours(1))

/** Columns that time passes for, in both, by table. */
const MOMENTS = [
  ["chunk_jobs", "chunks", { not_before: "notBefore", heartbeat_at: "heartbeatAt" }],
  ["large_conversion_jobs", "jobs", { created_at: "createdAt", heartbeat_at: "heartbeatAt" }],
  ["files", "files", { heartbeat_at: "heartbeatAt", updated_at: "updatedAt" }],
  ["flyer_jobs", "flyers", { heartbeat_at: "heartbeatAt" }],
  ["bulk_orders", "bulkOrders", { created_at: "createdAt", notifying_until: "notifyingUntil" }],
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

const passHours = (sql: WriteSql["Service"], hours: number): Effect.Effect<void> =>
  Effect.orDie(
    Effect.forEach(
      MOMENTS,
      ([table, , columns]) => {
        const sets = Object.keys(columns).map((one) => `${one} = ${one} - ${hours} * interval '1 hour'`)
        return sql.unsafe(`update ${table} set ${sets.join(", ")}`)
      },
      { discard: true }
    )
  )

const passModelHours = (db: Documents, hours: number): void => {
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
}

/** When each owner's turn is over, microseconds of the epoch. */
export type Turns = ReadonlyArray<{ readonly id: string; readonly at: string }>

export const turnsOf = (sql: WriteSql["Service"]): Effect.Effect<Turns, SqlError> =>
  sql<{ readonly id: string; readonly at: string }>`select customer_id as id,
    (extract(epoch from busy_until) * 1000000)::bigint::text as at from inline_turns where isfinite(busy_until)`

export const setTurns = (db: Documents, turns: Turns): void =>
  db.atomically(() => {
    db.turns.clear()
    for (const { at, id } of turns) db.turns.insert({ customerId: anyId(id), busyUntil: Number(at) })
  })

/** The turns of owners follow from how long each attempt took, which is not the same in both. */
export const alignTurns = (sql: WriteSql["Service"], db: Documents): Effect.Effect<void, SqlError> =>
  Effect.map(turnsOf(sql), (turns) => setTurns(db, turns))
