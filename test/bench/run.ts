import { cpus, loadavg } from "node:os"

import { databaseCpu } from "./database-cpu.ts"
import { median, type Load, type Round } from "./measure.ts"
import { type Peer, startPeer } from "./process.ts"
import { INTAKE, RECORDING_EVENTS, RECORDING_SENDS, type Row, ROWS, SENDING } from "./rows.ts"
import { fill } from "./senders/fill.ts"
import type { Targets } from "./senders/sender.ts"

/** How much is measured. */
export interface BenchOptions {
  /** Rows whose name holds one of these; all where absent. */
  readonly only?: ReadonlyArray<string>
  readonly rounds: number
  /** One round, and what goes before the first, if anything: milliseconds, or sends. */
  readonly round: Omit<Load, "concurrency">
  readonly warmUp?: Omit<Load, "concurrency">
  /** A process for each row, so that none runs code that was shaped by another's load. */
  readonly processPerRow: boolean
  readonly suppressions: number
  readonly eventRows: number
  /** A migrated, empty database; the embedded one with its default settings where absent. */
  readonly databaseUrl?: string
  /** Called after every round. */
  readonly onRound?: (row: string, concurrency: number, round: Round) => void
}

/** A line of the table: the medians of the rounds. */
export interface Line {
  readonly name: string
  readonly concurrency: number
  readonly sendsPerSecond: number
  readonly p50: number
  readonly p99: number
  readonly cpuMicros: number
  readonly databaseMicros: number | undefined
  readonly baseline: string | undefined
  /** Median of each round's rate by that of the baseline in the same round. */
  readonly ratio: number | undefined
  /** The same by the rate of what a user would write by hand. */
  readonly overHand: number | undefined
  readonly target: number | undefined
  /** Milliseconds that the median send takes longer than the baseline's. */
  readonly addedMs: number | undefined
  readonly maxAddedMs: number | undefined
}

/** What a run found. */
export interface Report {
  readonly at: string
  readonly node: string
  readonly cpus: ReadonlyArray<string>
  /** Load averages of 1, 5 and 15 minutes before and after. */
  readonly loadBefore: ReadonlyArray<number>
  readonly loadAfter: ReadonlyArray<number>
  readonly lines: ReadonlyArray<Line>
}

type RoundOptions = Pick<BenchOptions, "rounds" | "round" | "warmUp" | "processPerRow" | "onRound">

const linesOf = (
  rows: ReadonlyArray<Row>,
  taken: ReadonlyMap<string, ReadonlyArray<Round>>
): ReadonlyArray<Line> =>
  rows.flatMap((row) =>
    row.concurrencies.map((concurrency): Line => {
      const rounds = taken.get(`${row.name} ${concurrency}`) ?? []
      const base = taken.get(`${row.baseline} ${row.baselineConcurrency ?? concurrency}`)
      const hand = taken.get(`${row.byHand} ${concurrency}`)
      const rate = ({ sends, seconds }: Round) => sends / seconds
      const middle = (of: (round: Round, index: number) => number) => median(rounds.map(of))
      return {
        name: row.name,
        concurrency,
        sendsPerSecond: middle(rate),
        p50: middle(({ p50 }) => p50),
        p99: middle(({ p99 }) => p99),
        cpuMicros: middle(({ cpuMicros }) => cpuMicros),
        databaseMicros: rounds.some(({ databaseMicros }) => databaseMicros === undefined)
          ? undefined
          : middle(({ databaseMicros = 0 }) => databaseMicros),
        baseline: base === undefined ? undefined : row.baseline,
        ratio: base && middle((round, index) => rate(round) / rate(base[index]!)),
        overHand: hand && middle((round, index) => rate(round) / rate(hand[index]!)),
        target: row.targets?.[concurrency],
        addedMs: base && middle(({ p50 }, index) => p50 - base[index]!.p50),
        maxAddedMs: concurrency === 1 ? row.maxAddedMs : undefined
      }
    })
  )

/** Takes every round of every row in turn, so that what disturbs the machine disturbs all of them. */
const takeRounds = async (rows: ReadonlyArray<Row>, targets: Targets, options: RoundOptions) => {
  const taken = new Map<string, Array<Round>>()
  const processes = new Map<string, Peer<object>>()
  const processOf = async (row: Row) => {
    const key = options.processPerRow ? row.name : "all"
    const peer = processes.get(key) ?? (await startPeer<object>("senders/sender-process.ts"))
    processes.set(key, peer)
    return peer
  }
  const cpu = await databaseCpu(targets.databaseUrl)
  const ask = async (row: Row, load: Load): Promise<Round> => {
    const peer = await processOf(row)
    const before = cpu?.()
    const round = (await peer.ask({ row: row.name, load, targets })) as Round
    return { ...round, databaseMicros: before && cpu && (cpu() - before) / round.sends }
  }
  const warmUp = async (row: Row, concurrency: number) => {
    if (options.warmUp !== undefined) await ask(row, { ...options.warmUp, concurrency })
  }
  try {
    // Code that is compiled only after some thousand sends would make one caller look slower than it is.
    for (const row of rows) await warmUp(row, Math.max(...row.concurrencies))
    for (const concurrency of new Set(rows.flatMap((row) => row.concurrencies))) {
      const now = rows.filter((row) => row.concurrencies.includes(concurrency))
      for (const row of now) await warmUp(row, concurrency)
      for (let each = 0; each < options.rounds; each++) {
        for (const row of now) {
          const round = await ask(row, { ...options.round, concurrency })
          const key = `${row.name} ${concurrency}`
          taken.set(key, [...(taken.get(key) ?? []), round])
          options.onRound?.(row.name, concurrency, round)
        }
      }
    }
    return taken
  } finally {
    await Promise.all([...processes.values()].map((peer) => peer.stop()))
  }
}

/** Brings up what the rows run against, for as long as `use` takes. */
export const withTargets = async <A>(
  options: Pick<BenchOptions, "databaseUrl" | "suppressions" | "eventRows">,
  use: (targets: Targets) => Promise<A>
): Promise<A> => {
  const peers: Array<Peer<unknown>> = []
  const start = async <Ready>(module: string): Promise<Ready> => {
    const peer = await startPeer<Ready>(module)
    peers.push(peer)
    return peer.ready
  }
  try {
    const databaseUrl = options.databaseUrl ?? (await start<{ readonly url: string }>("database.ts")).url
    await fill(databaseUrl, options)
    const provider = await start<{ readonly url: string }>("senders/fake-provider.ts")
    const smtp = await start<{ readonly port: number }>("senders/fake-smtp.ts")
    return await use({ databaseUrl, providerUrl: provider.url, smtpPort: smtp.port })
  } finally {
    for (const peer of peers.toReversed()) await peer.stop()
  }
}

/** The lines of rows that take turns. */
export const measureRows = async (
  rows: ReadonlyArray<Row>,
  targets: Targets,
  options: RoundOptions
): Promise<ReadonlyArray<Line>> => linesOf(rows, await takeRounds(rows, targets, options))

/** Runs the table. */
export const runBench = (options: BenchOptions): Promise<Report> =>
  withTargets(options, async (targets) => {
    const { only } = options
    const rows = ROWS.filter(({ name }) => only === undefined || only.some((part) => name.includes(part)))
    const loadBefore = loadavg()
    const taken = new Map<string, ReadonlyArray<Round>>()
    // One table part after the other: all of their connections together are more than the database's default allows.
    for (const part of [SENDING, RECORDING_SENDS, RECORDING_EVENTS, INTAKE]) {
      const rounds = await takeRounds(
        part.filter((row) => rows.includes(row)),
        targets,
        options
      )
      for (const [key, each] of rounds) taken.set(key, each)
    }
    return {
      at: new Date().toISOString(),
      node: process.version,
      cpus: cpus().map(({ model }) => model),
      loadBefore,
      loadAfter: loadavg(),
      lines: linesOf(rows, taken)
    }
  })
