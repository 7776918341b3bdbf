import { servePeer } from "../process.ts"
import type { Targets } from "../senders/sender.ts"
import type { Contender } from "./contender.ts"
import { type ContenderName, CONTENDERS } from "./contenders.ts"

/** A round: the contender is filled, and the time counts until it is empty. */
export interface DrainQuestion {
  readonly name: ContenderName
  readonly targets: Targets
  readonly concurrency: number
  readonly count: number
}

/** What a round took. */
export interface Drained {
  readonly seconds: number
  /** Processor time of the process, microseconds a mail. */
  readonly cpuMicros: number
}

const open = new Map<ContenderName, Promise<Contender>>()

const ownCpu = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

servePeer({}, async ({ concurrency, count, name, targets }: DrainQuestion): Promise<Drained> => {
  const opening = open.get(name) ?? CONTENDERS[name](targets, concurrency)
  open.set(name, opening)
  const { cpuMicros = ownCpu, drain, fill } = await opening
  await fill(count)
  const cpuBefore = cpuMicros()
  const start = performance.now()
  await drain(count)
  const seconds = (performance.now() - start) / 1_000
  return { seconds, cpuMicros: (cpuMicros() - cpuBefore) / count }
})

process.once("SIGTERM", () => {
  void Promise.all([...open.values()].map(async (opening) => (await opening).close())).then(() =>
    process.exit(0)
  )
})
