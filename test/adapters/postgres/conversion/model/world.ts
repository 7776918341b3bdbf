import { randomUUID } from "node:crypto"

import { Effect } from "effect"

import { WriteSql } from "../../../../../src/adapters/postgres/client.ts"
import type { CostEntry } from "../../../../../src/domain/cascade/cost.ts"
import type { FileKind } from "../../../../../src/domain/conversion/file.ts"
import {
  type ClaimedAssembly,
  type ClaimedChunk,
  type ClaimedFlyer,
  type ClaimedInline,
  ConversionStore
} from "../../../../../src/ports/conversion/conversion-store.ts"
import { cost } from "../../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../../support/any-id.ts"
import { clean } from "../world.ts"

/** What the test did and was answered, to be compared with the database. Claims stay here when they are lost. */
export interface World {
  readonly store: ConversionStore["Service"]
  readonly sql: WriteSql["Service"]
  /** One who pays, and one on the free plan. */
  readonly owners: readonly [paid: string, free: string]
  /** Credits that the paying one ever got. */
  granted: number
  readonly files: Array<{
    readonly id: string
    readonly owner: string
    readonly pages: number
    readonly kind: FileKind
  }>
  /** Conversions that were asked for, and taken. */
  readonly jobs: Array<{ readonly id: string; readonly pages: number; readonly comped: boolean }>
  readonly flyers: Array<{ readonly id: string; readonly owner: string; readonly pages: number }>
  readonly chunks: Array<ClaimedChunk>
  readonly assemblies: Array<ClaimedAssembly>
  readonly inlines: Array<ClaimedInline>
  readonly claimedFlyers: Array<ClaimedFlyer>
  /** Pages that were charged by what was answered `completed`, by job. */
  readonly charged: Map<string, number>
  /** The result that was taken for each chunk. */
  readonly results: Map<string, string>
  /** Ends of jobs that were seen once: they may not change. */
  readonly ends: Map<string, string>
  /** Model costs that were reported, by id, in thousandths of a dollar. */
  readonly spent: Map<string, number>
  /** What the answers alone prove to be wrong. */
  readonly violations: Array<string>
  /** How often each step did something. */
  readonly counts: Map<string, number>
}

export const CREDITS = 8

/** An empty database with two customers. */
export const makeWorld: Effect.Effect<World, never, ConversionStore | WriteSql> = Effect.gen(function* () {
  yield* Effect.orDie(clean)
  const sql = yield* WriteSql
  const owners = [randomUUID(), randomUUID()] as const
  yield* sql`insert into customers (id, email, plan_type, credits_remaining) values
    (${owners[0]}::uuid, 'paid@x.test', 'paid', ${CREDITS}), (${owners[1]}::uuid, 'free@x.test', 'free', 0)`.pipe(
    Effect.orDie
  )
  return {
    store: yield* ConversionStore,
    sql,
    owners,
    granted: CREDITS,
    files: [],
    jobs: [],
    flyers: [],
    chunks: [],
    assemblies: [],
    inlines: [],
    claimedFlyers: [],
    charged: new Map(),
    results: new Map(),
    ends: new Map(),
    spent: new Map(),
    violations: [],
    counts: new Map()
  }
})

/** What the models cost under a lease: always the same, as a worker tells it. */
export const costUnder = (world: World, lease: string, jobId: string): ReadonlyArray<CostEntry> => {
  const thousandths = (Number.parseInt(lease.slice(0, 4), 16) % 50) + 1
  world.spent.set(lease, thousandths)
  return [{ ...cost(anyId(jobId), thousandths / 1000), id: lease }]
}
