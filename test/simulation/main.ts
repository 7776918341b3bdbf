import { parseArgs } from "node:util"
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads"

import { deliveryWorld } from "./delivery/run.ts"
import { documentsWorld } from "./documents/run.ts"
import { mailWorld } from "./mail/run.ts"
import { shrink } from "./shrink.ts"
import type { Limits, Run, SimulatedWorld } from "./world.ts"

/** Every world that can be simulated, by its name. */
const WORLDS: ReadonlyArray<SimulatedWorld> = [mailWorld, deliveryWorld, documentsWorld]

const NAMES = WORLDS.map(({ name }) => name).join("|")

/** `npm run sim`: runs a world from one seed on. A failure prints the command that replays it. */
const USAGE = `Usage: npm run sim -- [--world ${NAMES}] [--seed N] [--runs M] [--jobs J] [--trace] [--shrink] [--bug NAME]

  --world   which part of the product (default: mail)
  --seed    the first seed (default: 1), --runs how many (default: 200), --jobs on how many threads (default: 1)
  --trace   prints what happened in each run
  --shrink  makes the first failure as small as it gets, and tells it in words
  --bug     plants a defect, to see it found:
${WORLDS.map(({ bugs, name }) => `            ${name}: ${bugs.join(", ")}`).join("\n")}`

/** A thread's share: every `jobs`-th seed from `first` on. */
interface Share {
  readonly world: string
  readonly first: number
  readonly end: number
  readonly jobs: number
  readonly bug: string | undefined
  readonly trace: boolean
}

interface Totals {
  readonly seen: ReadonlyMap<string, number>
  /** The seeds that failed. */
  readonly failed: ReadonlyArray<number>
}

const addTo = (seen: Map<string, number>, more: ReadonlyMap<string, number>) => {
  for (const [what, times] of more) seen.set(what, (seen.get(what) ?? 0) + times)
}

const worldOf = (name: string | undefined) => WORLDS.find((world) => world.name === name)

const replay = (world: SimulatedWorld, seed: number, bug: string | undefined) =>
  `npm run sim -- --world ${world.name} --seed ${seed} --runs 1 --trace${bug === undefined ? "" : ` --bug ${bug}`}`

const simulate = async ({ bug, end, first, jobs, trace, world: name }: Share): Promise<Totals> => {
  const world = worldOf(name) ?? WORLDS[0]!
  const seen = new Map<string, number>()
  const failed: Array<number> = []
  for (let seed = first; seed < end; seed += jobs) {
    const run = await world
      .simulate(seed, { limits: world.full, bug, story: trace })
      .catch((error: unknown): Pick<Run, "seen" | "story" | "violations"> => ({
        seen: new Map(),
        story: [],
        violations: [String(error)]
      }))
    addTo(seen, run.seen)
    if (trace) console.log(run.story.join("\n"))
    if (run.violations.length === 0) continue
    failed.push(seed)
    console.error(`seed ${seed}:\n${run.violations.map((violation) => `  ${violation}`).join("\n")}`)
    console.error(`  replay: ${replay(world, seed, bug)}`)
  }
  return { seen, failed }
}

const inWords = ({ faults, roughMinutes, size }: Limits) =>
  `size ${size}, ${roughMinutes} rough minutes, ${faults.length === 0 ? "no faults" : `faults: ${faults.join(", ")}`}`

/** Makes a failure as small as it gets, and prints its story. */
const tellSmallest = async (world: SimulatedWorld, seed: number, bug: string | undefined) => {
  const found = await shrink(world, seed, {
    bug,
    onStep: ({ limits, run }) =>
      console.error(
        `  smaller: seed ${run.seed}, size ${limits.size}, ${limits.roughMinutes} rough minutes, ${limits.faults.length} kinds of faults`
      )
  })
  if (found === undefined) return
  console.log(`\nThe smallest that fails: seed ${found.run.seed}, ${inWords(found.limits)}`)
  console.log([...found.run.story, "", ...found.run.violations].join("\n"))
}

const inThread = (share: Share): Promise<Totals> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: share })
    worker.once("message", resolve)
    worker.once("error", reject)
  })

const main = async () => {
  const options = {
    world: { type: "string", default: "mail" },
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "200" },
    jobs: { type: "string", default: "1" },
    bug: { type: "string" },
    trace: { type: "boolean", default: false },
    shrink: { type: "boolean", default: false },
    help: { type: "boolean", default: false }
  } as const
  const refuse = (reason: string) => {
    console.error(`${reason}\n\n${USAGE}`)
    return process.exit(2)
  }
  let values
  try {
    values = parseArgs({ options }).values
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
  if (values.help) return console.log(USAGE)
  const [first, runs, jobs] = [Number(values.seed), Number(values.runs), Number(values.jobs)]
  const { bug } = values
  const world = worldOf(values.world)
  if (world === undefined) return refuse(`There is no world "${values.world}".`)
  if (!Number.isInteger(first) || ![runs, jobs].every((count) => Number.isInteger(count) && count > 0))
    return refuse("Seeds, runs and jobs are whole numbers.")
  if (bug !== undefined && !world.bugs.includes(bug))
    return refuse(`The world "${world.name}" knows no bug "${bug}".`)

  const started = process.hrtime.bigint()
  const shares = Array.from({ length: jobs }, (_, job): Share => ({
    world: world.name,
    first: first + job,
    end: first + runs,
    jobs,
    bug,
    trace: values.trace
  }))
  const totals = await Promise.all(jobs === 1 ? shares.map(simulate) : shares.map(inThread))
  const seconds = Number(process.hrtime.bigint() - started) / 1e9
  const seen = new Map<string, number>()
  for (const total of totals) addTo(seen, total.seen)
  const failed = totals.flatMap((total) => total.failed)
  for (const [what, times] of [...seen].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${String(times).padStart(9)}  ${what}`)
  for (const [what, note] of Object.entries(world.notes ?? {})) if (seen.has(what)) console.log(`\n${note}\n`)
  const never = runs < 200 || bug !== undefined ? [] : world.mustHappen.filter((what) => !seen.has(what))
  if (never.length > 0) console.error(`never happened, and so was not tested: ${never.join(", ")}`)
  console.log(
    `${runs} runs of the ${world.name} world from seed ${first} on: ${failed.length} failed, ${(runs / seconds).toFixed(1)} runs/s`
  )
  const [smallest] = failed.sort((a, b) => a - b)
  if (values.shrink && smallest !== undefined) await tellSmallest(world, smallest, bug)
  return process.exit(failed.length + never.length > 0 ? 1 : 0)
}

if (isMainThread) await main()
else parentPort?.postMessage(await simulate(workerData as Share), [])
