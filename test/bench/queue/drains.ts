import { databaseCpu } from "../database-cpu.ts"
import { median } from "../measure.ts"
import { type Peer, startPeer } from "../process.ts"
import type { Targets } from "../senders/sender.ts"
import { AIMS, type ContenderName, CONTENDERS } from "./contenders.ts"
import type { Drained, DrainQuestion } from "./drain-process.ts"
import { hasGo } from "./river.ts"

/** A contender's line: the medians of its rounds. */
export interface DrainLine {
  readonly name: ContenderName
  readonly perSecond: number
  readonly cpuMicros: number
  /** Of the database, microseconds a mail; undefined where it cannot be read. */
  readonly databaseMicros: number | undefined
  /** The median of each round's rate of the send queue by that of this contender in the same round. */
  readonly queueRatio: number | undefined
  /** Least ratio that is aimed at. */
  readonly aim: number | undefined
}

const QUEUE = "send queue" satisfies ContenderName

/** What is measured. */
export interface DrainOptions {
  readonly rounds: number
  readonly mails: number
  readonly concurrency: number
  readonly contenders: ReadonlyArray<ContenderName>
  readonly onRound?: ((name: ContenderName, perSecond: number) => void) | undefined
}

/** Those that can run on this machine. */
export const contendersHere = async (): Promise<ReadonlyArray<ContenderName>> => {
  const all = Object.keys(CONTENDERS) as ReadonlyArray<ContenderName>
  return (await hasGo()) ? all : all.filter((name) => name !== "River (Go)")
}

interface Round extends Drained {
  readonly databaseMicros: number | undefined
}

const lineOf = (
  name: ContenderName,
  taken: ReadonlyMap<ContenderName, ReadonlyArray<Round>>,
  mails: number
): DrainLine => {
  const rounds = taken.get(name) ?? []
  const queue = taken.get(QUEUE) ?? []
  const known = rounds.flatMap(({ databaseMicros }) => databaseMicros ?? [])
  return {
    name,
    perSecond: mails / median(rounds.map(({ seconds }) => seconds)),
    cpuMicros: median(rounds.map(({ cpuMicros }) => cpuMicros)),
    databaseMicros: known.length === 0 ? undefined : median(known),
    ...(name === QUEUE
      ? { queueRatio: undefined, aim: undefined }
      : {
          queueRatio: median(rounds.map(({ seconds }, index) => seconds / queue[index]!.seconds)),
          aim: AIMS[name]
        })
  }
}

/** Each contender works off the same number of mails, in rounds in which they take turns. */
export const measureDrains = async (
  targets: Targets,
  { concurrency, contenders, mails, onRound, rounds }: DrainOptions
): Promise<ReadonlyArray<DrainLine>> => {
  const processes = new Map<ContenderName, Peer<object>>()
  const taken = new Map<ContenderName, ReadonlyArray<Round>>()
  const cpu = await databaseCpu(targets.databaseUrl)
  try {
    for (const name of contenders) {
      const peer = await startPeer<object>("queue/drain-process.ts")
      processes.set(name, peer)
    }
    const ask = (name: ContenderName, count: number) =>
      processes
        .get(name)!
        .ask({ name, targets, concurrency, count } satisfies DrainQuestion) as Promise<Drained>
    for (const name of contenders) await ask(name, Math.ceil(mails / 4))
    for (let round = 0; round < rounds; round++) {
      for (const name of contenders) {
        const before = cpu?.()
        const drained = await ask(name, mails)
        const databaseMicros =
          before === undefined || cpu === undefined ? undefined : (cpu() - before) / mails
        taken.set(name, [...(taken.get(name) ?? []), { ...drained, databaseMicros }])
        onRound?.(name, mails / drained.seconds)
      }
    }
  } finally {
    await Promise.all([...processes.values()].map((peer) => peer.stop()))
  }
  return contenders.map((name) => lineOf(name, taken, mails))
}
