import { Effect, Redacted } from "effect"

import { layerSingle, WriteSql } from "../../../src/adapters/postgres/client.ts"
import type { Round } from "../measure.ts"
import { startPeer } from "../process.ts"
import { markdown } from "../report.ts"
import { withTargets } from "../run.ts"
import { type Watched, watched } from "./watch.ts"
import { SCALED } from "./work.ts"

/** What one, two or four processes of a role did together. */
export interface ScaleLine extends Watched {
  readonly role: string
  readonly processes: number
  readonly perSecond: number
  /** The slowest process's. */
  readonly p99: number
}

/** Jobs of thirty owners, with so many chunks in all. */
const chunksToDo = (count: number) => [
  `insert into customers (email, plan_type, credits_remaining)
    select 'scale' || n || '@x.test', 'paid', 1000000 from generate_series(1, 30) as n`,
  `insert into files (customer_id, name, kind, size_bytes, pages, object_key)
    select c.id, 'a.pdf', 'pdf', 1000, 2000, 'k' from customers c, generate_series(1, ${Math.ceil(count / 3_000)})
    where c.email like 'scale%'`,
  `insert into large_conversion_jobs (file_id, customer_id, total_pages, total_chunks)
    select id, customer_id, 2000, 100 from files`,
  `insert into chunk_jobs (job_id, chunk_index, first_page, last_page, customer_id, queued_at)
    select j.id, n, n * 20, n * 20 + 19, j.customer_id, j.created_at from large_conversion_jobs j, generate_series(0, 99) as n`,
  "analyze"
]

const prepare = (databaseUrl: string, chunks: number) =>
  WriteSql.use((sql) =>
    Effect.forEach(
      [
        "set statement_timeout = 0",
        "create extension if not exists pg_stat_statements",
        ...chunksToDo(chunks)
      ],
      (text) =>
        text.startsWith("create extension")
          ? Effect.ignore(sql.unsafe(text).unprepared)
          : sql.unsafe(text).unprepared,
      { discard: true }
    )
  ).pipe(Effect.provide(layerSingle({ url: Redacted.make(databaseUrl) })), Effect.runPromise)

/** Runs each role with 1, 2 and 4 processes on one PostgreSQL; `databaseUrl` may name one that has pg_stat_statements. */
export const measureScale = (options: {
  readonly processes: ReadonlyArray<number>
  readonly round: { readonly ms?: number; readonly count?: number }
  readonly chunks: number
  readonly databaseUrl?: string
  readonly onLine?: (line: ScaleLine) => void
}): Promise<ReadonlyArray<ScaleLine>> =>
  withTargets({ ...options, suppressions: 1_000, eventRows: 1_000 }, async (targets) => {
    await prepare(targets.databaseUrl, options.chunks)
    const lines: Array<ScaleLine> = []
    for (const { concurrencies, name: role } of SCALED) {
      for (const processes of options.processes) {
        const peers = await Promise.all(
          Array.from({ length: processes }, () => startPeer<object>("senders/sender-process.ts"))
        )
        const all = (load: { readonly ms?: number; readonly count?: number }) =>
          Promise.all(
            peers.map(
              (peer) =>
                peer.ask({
                  row: role,
                  load: { ...load, concurrency: concurrencies[0] },
                  targets
                }) as Promise<Round>
            )
          )
        try {
          await all({ count: 32 })
          const { found, value: rounds } = await watched(targets.databaseUrl, () => all(options.round))
          const line: ScaleLine = {
            role,
            processes,
            perSecond: rounds.reduce((sum, { seconds, sends }) => sum + sends / seconds, 0),
            p99: Math.max(...rounds.map(({ p99 }) => p99)),
            ...found
          }
          lines.push(line)
          options.onLine?.(line)
        } finally {
          await Promise.all(peers.map((peer) => peer.stop()))
        }
      }
    }
    return lines
  })

const share = ([event, part]: readonly [string, number]) => `${event} ${Math.round(part * 100)} %`

/** The table of a run. */
export const scaleTable = (lines: ReadonlyArray<ScaleLine>): string =>
  markdown([
    ["", "processes", "a second", "p99 ms", "connections", "busy connections wait for", "rows changed most"],
    ...lines.map(({ connections, p99, perSecond, processes, role, tables, waits }) => [
      role,
      String(processes),
      Math.round(perSecond).toLocaleString("en"),
      p99.toFixed(1),
      String(connections),
      waits.map(share).join(", "),
      tables.map(({ changes, table }) => `${table} ${changes.toLocaleString("en")}`).join(", ")
    ])
  ])
