import { Effect, Stream } from "effect"

import type { ConversionOptions } from "../../../src/domain/conversion/job.ts"
import type { CustomerId } from "../../../src/domain/ids.ts"
import { rawOf } from "../../simulation/documents/mails.ts"
import { bytesOf, type Paper } from "../../simulation/documents/papers.ts"
import { type DocumentsWorld, makeWorld } from "../../simulation/documents/setting.ts"
import { type SimClock, runSeeded } from "../../simulation/kernel.ts"
import { markdown } from "../report.ts"

/** What the three owners of the day do. */
const LOADS = ["bulk", "pages", "mails"] as const
type Load = (typeof LOADS)[number]

const OWNER: Readonly<Record<Load, string>> = { bulk: "rich", pages: "free", mails: "poor" }

const SHOWN: Readonly<Record<Load, string>> = {
  bulk: "a bulk order, all at once at the beginning",
  pages: "a document of one page, every ten minutes",
  mails: "a mail of five pages, every ten minutes"
}

interface Day {
  readonly hours: number
  /** Documents of the bulk order, of twenty pages each. */
  readonly bulk: number
}

const HOUR_MS = 3_600_000
const EVERY_MS = 600_000
/** A piece of work of two pages takes as long as a chunk of twenty with four pages at the model at once, of 15 to 25 s each. */
const MEASURED = { lookMs: 2_000, modelMs: [75_000, 125_000] } as const

const paperOf = (name: string, pages: number): Paper => ({
  name,
  kind: "pdf",
  pages: Array.from({ length: pages }, () => "words")
})

const frontOf = ({ processes }: DocumentsWorld) => {
  const process = processes.find(({ role }) => role === "api")
  if (process?.front === undefined) throw new Error("no process takes requests")
  return process.front
}

/** Uploads a document and has it converted. */
const convert = Effect.fnUntraced(function* (
  world: DocumentsWorld,
  customerId: CustomerId,
  paper: Paper,
  options: ConversionOptions
) {
  const { conversions, uploads } = frontOf(world)
  const file = yield* uploads.add({ customerId, name: paper.name, body: Stream.make(bytesOf(paper)) })
  yield* conversions.convert({ fileId: file.id, customerId, options })
})

const mail = Effect.fnUntraced(function* (world: DocumentsWorld, owner: string, n: number) {
  const accept = world.processes.find((process) => process.accept !== undefined)?.accept
  if (accept === undefined) throw new Error("no process takes mails")
  const from = `${owner}@x.test`
  const raw = rawOf({ from, messageId: `<${n}@x.test>`, paper: paperOf(`%PDF-mail-${n}`, 5) })
  yield* accept({ envelopeFrom: from, peerTrusted: true, raw: Stream.make(raw) })
})

/** What an owner does in the day. */
const act = Effect.fnUntraced(function* (world: DocumentsWorld, load: Load, day: Day) {
  const owner = world.owners.find((id) => id === OWNER[load])!
  yield* frontOf(world).customers.grant({
    customerId: owner,
    credits: 100_000,
    reference: "the day",
    note: undefined,
    actor: "bench"
  })
  if (load === "bulk")
    // Not by the batch lane, so that all of it goes through the workers.
    return yield* Effect.forEach(
      Array.from({ length: day.bulk }, (_, n) => paperOf(`bulk-${n}`, 20)),
      (paper) => convert(world, owner, paper, { highFidelity: true, mathOcr: true }),
      { discard: true }
    )
  for (let n = 0; n < (day.hours * HOUR_MS) / EVERY_MS; n++) {
    yield* load === "pages"
      ? convert(world, owner, paperOf(`page-${n}`, 1), { highFidelity: true })
      : mail(world, owner, n)
    yield* Effect.sleep(EVERY_MS)
  }
})

/** How long each piece of an owner's took from its request to its end, seconds, the shortest first. */
const waitsOf = ({ db }: DocumentsWorld, load: Load): ReadonlyArray<number> => {
  const ends =
    load === "mails"
      ? db.mails.where().map(({ endedAt, receivedAt }) => [receivedAt, endedAt] as const)
      : db.jobs
          .where(({ customerId }) => customerId === OWNER[load])
          .map(({ createdAt, finishedAt }) => [createdAt, finishedAt] as const)
  return ends
    .flatMap(([from, to]) => (to === null ? [] : [(to - from) / 1e6]))
    .toSorted((one, other) => one - other)
}

/** The waits of each of these loads, all in one day. */
const dayOf = (loads: ReadonlyArray<Load>, day: Day) =>
  runSeeded(
    1,
    Effect.fnUntraced(function* (clock: SimClock) {
      const world = makeWorld(1, { limits: { size: 0, roughMinutes: 0, faults: [] } }, clock, MEASURED)
      for (const role of ["api", "worker", "worker", "leader", "intake"] as const) yield* world.spawn(role)
      // The leader leads by then.
      yield* Effect.sleep("1 minute")
      yield* Effect.all(
        loads.map((load) => act(world, load, day)),
        { concurrency: "unbounded", discard: true }
      )
      yield* Effect.sleep(day.hours * HOUR_MS)
      world.ledger.look()
      if (world.ledger.violations.length > 0) throw new Error(world.ledger.violations.join("; "))
      return new Map(loads.map((load) => [load, waitsOf(world, load)]))
    }),
    { mostTasks: Infinity }
  )

/** The waits of one owner, seconds, beside those of a day that the owner has alone. */
export interface OwnersDay {
  readonly load: Load
  readonly pieces: number
  readonly median: number
  readonly longest: number
  readonly medianAlone: number
  readonly longestAlone: number
}

const middle = (sorted: ReadonlyArray<number>): number => sorted[Math.floor(sorted.length / 2)] ?? Number.NaN

/** A simulated day of mixed load by three owners: the same programs as in a server, their tables in memory, on a virtual clock. */
export const measureMixedDay = async (day: Day): Promise<ReadonlyArray<OwnersDay>> => {
  const together = await dayOf(LOADS, day)
  const lines: Array<OwnersDay> = []
  for (const load of LOADS) {
    const [waits, alone] = [together.get(load) ?? [], (await dayOf([load], day)).get(load) ?? []]
    lines.push({
      load,
      pieces: waits.length,
      median: middle(waits),
      longest: waits.at(-1) ?? Number.NaN,
      medianAlone: middle(alone),
      longestAlone: alone.at(-1) ?? Number.NaN
    })
  }
  return lines
}

const inWords = (seconds: number): string =>
  seconds < 600 ? `${Math.round(seconds)} s` : `${(seconds / 3600).toFixed(1)} h`

export const mixedDayTable = (lines: ReadonlyArray<OwnersDay>): string =>
  markdown([
    ["owner", "pieces", "median", "alone", "ratio", "longest", "alone", "ratio"],
    ...lines.map(({ load, longest, longestAlone, median, medianAlone, pieces }) => [
      SHOWN[load],
      String(pieces),
      inWords(median),
      inWords(medianAlone),
      (median / medianAlone).toFixed(2),
      inWords(longest),
      inWords(longestAlone),
      (longest / longestAlone).toFixed(2)
    ])
  ])
