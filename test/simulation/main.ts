import { parseArgs } from "node:util"
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads"

import { BUGS, type Bug } from "./bugs.ts"
import { simulateMail } from "./mail.ts"

/**
 * `npm run sim -- --seed N --runs M [--jobs J] [--bug NAME] [--trace]`: M runs from seed N on, half of them with a database and
 * a queue that lose requests and answers, too, on J threads. A failure prints the seed that replays it.
 */
const USAGE = `Usage: npm run sim -- --seed N --runs M [--jobs J] [--trace] [--bug ${BUGS.join("|")}]`

/** A thread's share: every `jobs`-th seed from `first` on. */
interface Share {
  readonly first: number
  readonly end: number
  readonly jobs: number
  readonly bug: Bug | undefined
  readonly trace: boolean
}

interface Totals {
  readonly seen: ReadonlyMap<string, number>
  readonly failed: number
  readonly extraCopies: number
}

const addTo = (seen: Map<string, number>, more: ReadonlyMap<string, number>) => {
  for (const [what, times] of more) seen.set(what, (seen.get(what) ?? 0) + times)
}

const simulate = async ({ bug, end, first, jobs, trace }: Share): Promise<Totals> => {
  // No stack of a simulated failure is ever read, and taking them costs a tenth of a run.
  Error.stackTraceLimit = 0
  const seen = new Map<string, number>()
  let failed = 0
  let extraCopies = 0
  for (let seed = first; seed < end; seed += jobs) {
    const run = await simulateMail(seed, {
      storeFails: seed % 2 === 0,
      ...(bug === undefined ? {} : { bug })
    })
    addTo(seen, run.seen)
    extraCopies += run.extraCopies
    if (trace) console.log(run.trace)
    if (run.violations.length === 0) continue
    failed++
    console.error(`seed ${seed}:\n${run.violations.map((violation) => `  ${violation}`).join("\n")}`)
    console.error(
      `  replay: npm run sim -- --seed ${seed} --runs 1 --trace${bug === undefined ? "" : ` --bug ${bug}`}`
    )
  }
  return { seen, failed, extraCopies }
}

const inThread = (share: Share): Promise<Totals> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: share })
    worker.once("message", resolve)
    worker.once("error", reject)
  })

const main = async () => {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      runs: { type: "string", default: "200" },
      jobs: { type: "string", default: "1" },
      bug: { type: "string" },
      trace: { type: "boolean", default: false }
    }
  })
  const [first, runs, jobs] = [Number(values.seed), Number(values.runs), Number(values.jobs)]
  const bug = BUGS.find((name): name is Bug => name === values.bug)
  const counts =
    Number.isInteger(first) && [runs, jobs].every((count) => Number.isInteger(count) && count > 0)
  if (!counts || (values.bug !== undefined && bug === undefined)) {
    console.error(USAGE)
    process.exit(2)
  }

  const started = process.hrtime.bigint()
  const shares = Array.from({ length: jobs }, (_, job): Share => ({
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
  const sum = (count: (total: Totals) => number) => totals.reduce((all, total) => all + count(total), 0)
  const failed = sum((total) => total.failed)
  for (const [what, times] of [...seen].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${String(times).padStart(9)}  ${what}`)
  console.log(
    `${runs} runs from seed ${first} on, ${failed} failed, ${sum((total) => total.extraCopies)} extra copies from provider_b, ` +
      `${(runs / seconds).toFixed(1)} runs/s`
  )
  process.exit(failed > 0 ? 1 : 0)
}

if (isMainThread) await main()
else parentPort?.postMessage(await simulate(workerData as Share), [])
