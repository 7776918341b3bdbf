import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import type { Chance } from "../simulation/kernel.ts"
import { type Child, makeFolder } from "../support/processes/child.ts"
import { until } from "../support/until.ts"
import { type Arm, HURT } from "./batch-gate.ts"
import { type Course, makeBatchService } from "./batch-service-fake.ts"
import { TICKED } from "./batch-times.ts"
import {
  act,
  type Act,
  batchObjects,
  isAtRest,
  judge,
  parkJob,
  rowsOf,
  rowState,
  startBatchWorker
} from "./batch-world.ts"

type Step = readonly [step: string, ...whens: ReadonlyArray<Arm["when"]>]

const PREPARING: ReadonlyArray<Step> = [
  ["store claim", "after"],
  ["page", "within"],
  ["put shard", "before", "within", "after"],
  ["put manifest", "before", "within", "after"],
  ["store uploaded", "before", "after"],
  ["service create", "before", "after"],
  ["store submitted", "before", "after"],
  ["store claimPolls", "after"],
  ["service get", "before", "after"]
]
const ENDING: ReadonlyArray<Step> = [
  ["store end", "before", "after"],
  ["store resume", "before", "after"]
]
const COLLECTING: ReadonlyArray<Step> = [
  ["store beginCollect", "before", "after"],
  ["get manifest", "before", "within"],
  ["get output", "before", "within"],
  ["put results", "before", "within", "after"],
  ...ENDING
]
const BILLING: ReadonlyArray<Step> = [["get output", "before", "within"], ...ENDING]
const STOPPING: ReadonlyArray<Step> = [
  ["service stop", "before", "after"],
  ["store end", "before", "after"]
]

/** What becomes of a conversion's batch job, who acts meanwhile, and the steps that its driver takes. */
interface Scenario {
  readonly course: Course
  readonly act?: Act
  readonly steps: ReadonlyArray<Step>
}

export const SCENARIOS = {
  completes: { course: { share: 1, status: "Completed" }, steps: [...PREPARING, ...COLLECTING] },
  "half of it": {
    course: { share: 0.5, status: "PartiallyCompleted" },
    steps: [...PREPARING, ...COLLECTING]
  },
  "stops half way": { course: { share: 0.5, status: "Stopped" }, steps: BILLING },
  "expires half way": { course: { share: 0.5, status: "Expired" }, steps: BILLING },
  fails: { course: { share: 0, status: "Failed" }, steps: ENDING },
  hurried: { course: { share: 0.5, status: "InProgress" }, act: "hurry", steps: [...PREPARING, ...STOPPING] },
  cancelled: {
    course: { share: 0.5, status: "InProgress" },
    act: "cancel",
    steps: [...PREPARING, ...STOPPING]
  },
  late: {
    course: { share: 0.5, status: "InProgress" },
    act: "late",
    steps: [["store giveUp", "before", "after"], ["store resume", "before", "after"], ...STOPPING]
  }
} satisfies Readonly<Record<string, Scenario>>

/** Where a leader is hurt. */
export type Hurt = Omit<Arm, "id">

/** One conversion, where its leader is hurt, and where the one that took over is killed, if it is. */
export interface Round extends Hurt {
  readonly scenario: keyof typeof SCENARIOS
  readonly next?: Hurt
}

/** Steps that a conversion's driver takes more than once. */
const MANY: Readonly<Record<string, number>> = { page: 20, "put shard": 3, "get output": 3, "put results": 6 }

const hurtBy = (chance: Chance, steps: ReadonlyArray<Step>): Hurt => {
  const [step, ...whens] = chance.pick(steps)
  return {
    step,
    when: chance.pick(whens),
    nth: chance.int(1, (MANY[step] ?? 1) + 1),
    how: chance.bool(0.5) ? "SIGKILL" : "SIGSTOP"
  }
}

export const roundBy = (chance: Chance): Round => {
  const scenario = chance.pick(Object.keys(SCENARIOS) as ReadonlyArray<Round["scenario"]>)
  const { steps }: Scenario = SCENARIOS[scenario]
  const first = { scenario, ...hurtBy(chance, steps) }
  return chance.bool(0.4) ? { ...first, next: { ...hurtBy(chance, steps), how: "SIGKILL" } } : first
}

const hurtText = ({ how, nth, step, when }: Hurt): string => `${how} ${when} ${step} ${nth}`

export const summaryOf = ({ next, scenario, ...first }: Round): string =>
  [scenario, hurtText(first), ...(next === undefined ? [] : [hurtText(next)])].join(", ")

/** How a round went. */
export interface RoundResult {
  readonly violations: ReadonlyArray<string>
  /** Leaders that came to their step. */
  readonly hurts: number
}

interface Leader {
  readonly child: Child
  ended: boolean
}

/** Two leaders and a worker on one database and one folder of objects. Rounds come one after the other. */
export const makeBatchWorld = async (url: string) => {
  const { path, remove } = await makeFolder()
  const file = join(path, "arm")
  let scenario: Scenario = SCENARIOS.completes
  const service = makeBatchService(join(path, "batch"), () => scenario.course)
  await service.fake.listen()
  const env = { DB_URL: url, OBJECTS: path, ARM: file, BEDROCK: service.fake.url }
  const start = async () => {
    const child = await startBatchWorker("leader", env)
    const leader: Leader = { child, ended: false }
    void child.ended.then(() => (leader.ended = true))
    return leader
  }
  const leaders = await Promise.all([start(), start()])
  // Leaders alone are hurt: nobody starts the worker again.
  const worker = await startBatchWorker("worker", { ...env, ARM: "" })
  let arms = 0

  const arm = ({ how, nth, step, when }: Hurt) => {
    arms += 1
    writeFileSync(`${file}.new`, JSON.stringify({ id: arms, step, when, nth, how } satisfies Arm))
    renameSync(`${file}.new`, file)
  }

  const round = async (asked: Round): Promise<RoundResult> => {
    scenario = SCENARIOS[asked.scenario]
    const { act: wanted } = scenario
    const before = leaders.map(({ child }) => child.lines.length)
    arm(asked)
    const jobId = await parkJob(url)
    let hurts = 0
    /** Kills the next one, and starts another for each that is gone. */
    const goOn = async () => {
      if (hurts < (asked.next === undefined ? 1 : 2) && !existsSync(file)) {
        hurts += 1
        if (hurts === 1 && asked.next !== undefined) arm(asked.next)
      }
      for (const [at, { ended }] of leaders.entries()) {
        if (!ended) continue
        leaders[at] = await start()
        before[at] = 0
      }
    }
    if (wanted !== undefined) {
      const preparing = wanted !== "late" && PREPARING.some(([one]) => one === asked.step)
      await until("its owner may act", async () => {
        await goOn()
        const state = await rowState(url, jobId)
        return state === "submitted" || state === "closed" || (preparing && hurts > 0)
      })
      await act(url, jobId, wanted)
    }
    await until(`${summaryOf(asked)} is at rest`, async () => {
      await goOn()
      return isAtRest(url, jobId)
    })
    await goOn()
    rmSync(file, { force: true })
    const judged = () => judge(url, path, jobId, service, wanted === "cancel" ? "cancelled" : "completed")
    const violations = [...(await judged())]
    const frozen = leaders.find(
      ({ child: { lines }, ended }, at) => !ended && lines.slice(before[at]).includes(HURT)
    )
    if (frozen !== undefined) violations.push(...(await thaw(jobId, frozen)), ...(await judged()))
    return { violations: violations.map((one) => `${summaryOf(asked)}: ${one}`), hurts }
  }

  /** Wakes a leader that slept while another did its work: nothing of what that one left may change. */
  const thaw = async (jobId: string, leader: Leader): Promise<ReadonlyArray<string>> => {
    const { child } = leader
    const rows = await rowsOf(url, jobId)
    const objects = await batchObjects(path, jobId)
    const ticks = child.lines.length
    await until("its ticks have ended", () => {
      // Again and again: it says that it is hurt a moment before it stops.
      child.signal("SIGCONT")
      // One that killed itself has said so, too, and is seen to be gone only later.
      return leader.ended || child.lines.slice(ticks).includes(TICKED)
    })
    await sleep(300)
    const now = await rowsOf(url, jobId)
    const there = await batchObjects(path, jobId)
    const lost = [...objects].filter(([key, hash]) => there.get(key) !== hash).map(([key]) => key)
    return [
      ...(JSON.stringify(now) === JSON.stringify(rows)
        ? []
        : [`X1 it changed rows when it woke: ${JSON.stringify(rows)} ${JSON.stringify(now)}`]),
      ...(lost.length === 0 ? [] : [`B5 it changed objects when it woke: ${lost.join(", ")}`])
    ]
  }

  return {
    round,
    /** What its processes said to their error output. */
    said: () => [...leaders.map(({ child }) => child), worker].map(({ errors }) => errors()).join("\n---\n"),
    close: async () => {
      await Promise.all([...leaders.map(({ child }) => child), worker].map(({ destroy }) => destroy()))
      await service.fake.close()
      await remove()
    }
  }
}
