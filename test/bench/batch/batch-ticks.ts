import { Duration, Effect, Layer, Redacted } from "effect"

import * as BatchLines from "../../../src/adapters/bedrock/batch-lines.ts"
import * as PostgresBatch from "../../../src/adapters/postgres/batch/batch-store.ts"
import { layer as clients, ReadSql, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { pollTick, releaseTick } from "../../../src/application/batch/driver.ts"
import { BatchService } from "../../../src/ports/batch/batch-service.ts"
import { BatchObjects } from "../../../src/ports/object-store.ts"
import { makeMapObjects } from "../../support/worlds/map-objects.ts"
import { median } from "../measure.ts"
import { withTargets } from "../run.ts"

/** A tick of the driver with so many open rows. */
export interface TickLine {
  readonly openRows: number
  /** Rows that are due, and are asked for as many as a tick takes. */
  readonly due: boolean
  readonly queries: number
  readonly asked: number
  /** Median and longest, milliseconds. */
  readonly median: number
  readonly longest: number
}

const settings = {
  preparer: "00000000-0000-4000-8000-000000000000",
  model: "bench",
  price: { inputUsdPerMtok: 1, outputUsdPerMtok: 1 },
  limits: { minRecords: 1, maxRecords: 1, maxShardBytes: 1, maxBytes: 1 },
  timeoutHours: 24,
  pollEvery: Duration.minutes(5)
}

/** Ticks over so many submitted rows; with a database of its own unless one is given, whose conversions it replaces. */
export const measureTicks = (options: {
  readonly rows: number
  readonly times: number
  readonly databaseUrl?: string
}): Promise<ReadonlyArray<TickLine>> =>
  withTargets({ ...options, suppressions: 1, eventRows: 1 }, ({ databaseUrl }) => {
    let queries = 0
    let asked = 0
    const counted = <S extends object>(client: S): S =>
      new Proxy(client, {
        apply: (target, self, parts) => {
          queries += 1
          return Reflect.apply(target as never, self, parts)
        }
      })
    const store = PostgresBatch.layer.pipe(
      Layer.provide([
        Layer.effect(WriteSql, Effect.map(WriteSql, counted)),
        Layer.effect(ReadSql, Effect.map(ReadSql, counted))
      ])
    )
    const running = Layer.mock(BatchService, {
      get: (arn) =>
        Effect.sync(() => {
          asked += 1
          return {
            arn,
            name: "bench",
            status: "InProgress" as const,
            message: undefined,
            inputPrefix: "",
            outputPrefix: "",
            processed: undefined
          }
        })
    })
    const measure = Effect.fnUntraced(function* (due: boolean) {
      const sql = yield* WriteSql
      const times: Array<number> = []
      for (let n = 0; n < options.times; n++) {
        yield* sql`update conversion_batch_jobs
          set next_poll_at = ${due ? "-infinity" : "infinity"}::timestamptz`
        yield* sql.unsafe("vacuum analyze conversion_batch_jobs").unprepared
        ;[queries, asked] = [0, 0]
        const started = performance.now()
        // Made anew, for statements that are written once and run often count as well.
        yield* Effect.provide(Effect.andThen(releaseTick(settings), pollTick(settings)), Layer.fresh(store))
        times.push(performance.now() - started)
      }
      const line: TickLine = {
        openRows: options.rows,
        due,
        queries,
        asked,
        median: median(times),
        longest: Math.max(...times)
      }
      return line
    })
    const work = Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* sql`truncate conversion_batch_jobs, large_conversion_jobs, files cascade`
      yield* sql`insert into customers (email) values ('bench@example.com') on conflict do nothing`
      yield* sql`insert into files (customer_id, name, kind, size_bytes, pages, object_key)
        select id, 'a', 'pdf', 1, 1, 'k' from customers limit 1`
      yield* sql`insert into large_conversion_jobs (file_id, status)
        select f.id, 'waiting_batch' from files f, generate_series(1, ${options.rows}::integer)`
      yield* sql`insert into conversion_batch_jobs (job_id, state, batch_job_arn)
        select id, 'submitted', 'arn:bench' from large_conversion_jobs`
      return [yield* measure(false), yield* measure(true)]
    })
    const surroundings = Layer.mergeAll(
      running,
      BatchLines.layer,
      Layer.succeed(BatchObjects, makeMapObjects())
    ).pipe(Layer.provideMerge(clients({ url: Redacted.make(databaseUrl) })))
    return Effect.runPromise(Effect.provide(work, surroundings))
  })
