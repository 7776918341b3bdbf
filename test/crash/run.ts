import { readFile } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"

import { type Chance, makeChance } from "../simulation/kernel.ts"
import { logOf, type Postlane, startPostlane } from "../support/processes/child.ts"
import { LONGEST_WAIT_MS } from "../support/time-limits.ts"
import { judge, underWay, type Verdict } from "./oracle.ts"
import { type Answer, LEASE_MS, makeWorld, relay, type World } from "./world.ts"

export interface RunOptions {
  /** Chooses the faults, their victims and their moments. What the processes do in between is theirs. */
  readonly seed: number
  /** Kills, or pairs of them, one after the other. */
  readonly rounds: number
  readonly databaseUrl: string
  /** Freezes one of the processes for longer than its claims live. */
  readonly freeze: boolean
  /** Hurts the database once; where it is given, promises that need the database are let go. */
  readonly hurtDatabase?: () => Promise<void>
}

const CLIENTS = 6

/** Keys that one client has under way at once, most of them waiting for a dead process's claim to end. */
const KEYS_UNDER_WAY = 20

/** The most that a call is repeated after an answer that says it may be. */
const REPEATS = 4

/** Mails that are accepted before the load ends, however slow the machine is. */
const LEAST_ACCEPTED = 20

/** How long a call waits for its answer once nobody is killed any more. */
const CALM_PATIENCE_MS = 30_000

const RESEND_FAULTS = {
  ok: 60,
  "hang-accepted": 4,
  hang: 3,
  "reset-accepted": 5,
  "reset-before": 2,
  reset: 3,
  "500": 3,
  "500-accepted": 3,
  "503": 6,
  "429": 2,
  "422": 2,
  "504-accepted": 2,
  "truncated-200-accepted": 2,
  "html-200": 1,
  slow: 2
}
/** None that accepts long after it was asked: a copy that a provider without deduplication sends then cannot be judged. */
const SES_FAULTS: Readonly<Record<string, number>> = { ...RESEND_FAULTS, slow: 0 }

const drawOutcomes = (chance: Chance, weights: Readonly<Record<string, number>>, length: number) => {
  const bag = Object.entries(weights).flatMap(([outcome, weight]) =>
    Array.from<string>({ length: weight }).fill(outcome)
  )
  return Array.from({ length }, () => chance.pick(bag))
}

/** A place where one process runs at a time. */
interface Slot {
  current: Postlane | undefined
  frozen: boolean
  readonly all: Array<{ readonly process: Postlane; frozen: boolean }>
}

/** Starts a process; again, where it met a database that was away. */
const start = async (slot: Slot, world: World, tries = 1): Promise<void> => {
  const process = await startPostlane(world.env).catch((error: unknown) => {
    if (tries <= 1) throw error
    return undefined
  })
  if (process === undefined) {
    await sleep(500)
    return start(slot, world, tries - 1)
  }
  slot.current = process
  slot.all.push({ process, frozen: false })
}

const kill = async (slot: Slot): Promise<void> => {
  const { current } = slot
  slot.current = undefined
  await current?.destroy()
}

/** Calls with one key, now here, now there, until an answer is final. */
const callUntilFinal = async (
  key: string,
  chance: Chance,
  slots: ReadonlyArray<Slot>,
  answers: Array<Answer>,
  stops: AbortSignal,
  givesUp: AbortSignal
): Promise<void> => {
  const extra = chance.bool(0.1) ? { provider: "provider_b" } : {}
  let repeats = 0
  let after = chance.bool(0.2) ? 2 : 1
  while (!givesUp.aborted) {
    const url = chance.pick(slots).current?.url
    if (url === undefined) {
      await sleep(50)
      continue
    }
    const answer = await relay(url, key, extra, stops.aborted ? CALM_PATIENCE_MS : undefined)
    answers.push(answer)
    if (answer.status === 200) {
      // Some ask once more after they have their answer (S9).
      if (--after === 0) return
    } else if (answer.body.code === "EMAIL_FAILED") {
      if (answer.body.retryable !== true || ++repeats > REPEATS) return
    } else if (answer.body.code === "IDEMPOTENCY_CONFLICT") return
    else await sleep(chance.int(50, 400))
  }
}

const load = async (
  seed: number,
  slots: ReadonlyArray<Slot>,
  stops: AbortSignal,
  givesUp: AbortSignal
): Promise<ReadonlyMap<string, ReadonlyArray<Answer>>> => {
  const answers = new Map<string, Array<Answer>>()
  const client = async (number: number) => {
    const chance = makeChance(seed * 1000 + number)
    const pending = new Set<Promise<void>>()
    for (let serial = 0; !stops.aborted; serial++) {
      const key = `crash-${seed}-${number}-${serial}`
      const own: Array<Answer> = []
      answers.set(key, own)
      const call = callUntilFinal(key, chance, slots, own, stops, givesUp).finally(() => pending.delete(call))
      pending.add(call)
      await sleep(chance.int(5, 60))
      if (pending.size >= KEYS_UNDER_WAY) await Promise.race(pending)
    }
    await Promise.all(pending)
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
  return answers
}

/** Two processes on one database under load, killed again and again; then everything comes to rest and is judged. */
export const crashRun = async (options: RunOptions): Promise<Verdict> => {
  const { databaseUrl, hurtDatabase, seed } = options
  const chance = makeChance(seed)
  const world = await makeWorld(databaseUrl)
  const slots: ReadonlyArray<Slot> = [0, 1].map(() => ({ current: undefined, frozen: false, all: [] }))
  try {
    await Promise.all(slots.map((slot) => start(slot, world)))
    await world.resend.script(drawOutcomes(chance, RESEND_FAULTS, 2_000))
    await world.ses.script(drawOutcomes(chance, SES_FAULTS, 2_000))
    const stops = new AbortController()
    const givesUp = new AbortController()
    const loaded = load(seed, slots, stops.signal, givesUp.signal)

    let kills = 0
    const restarts: Array<Promise<void>> = []
    const failures: Array<unknown> = []
    const until = async (holds: () => boolean | Promise<boolean>) => {
      while (failures.length === 0 && !(await holds())) await sleep(50)
      if (failures.length > 0) throw failures[0]
    }
    const alive = () => slots.filter(({ current, frozen }) => current !== undefined && !frozen)
    let thaw: Promise<void> | undefined
    for (let round = 0; round < options.rounds; round++) {
      await sleep(chance.int(200, 1_200))
      await world.resend.release()
      if (hurtDatabase !== undefined && chance.bool(0.5)) await hurtDatabase()
      if (options.freeze && thaw === undefined) {
        await until(() => alive().length > 0)
        const slot = chance.pick(alive())
        const frozen = slot.all.at(-1)
        slot.frozen = true
        if (frozen !== undefined) frozen.frozen = true
        slot.current?.signal("SIGSTOP")
        const wake = async () => {
          await sleep(LEASE_MS + 1_000)
          slot.current?.signal("SIGCONT")
          slot.frozen = false
        }
        thaw = wake()
      }
      // The next kill does not wait for a restart; it only needs somebody to kill.
      await until(() => alive().length > 0)
      const victims = chance.bool(0.25) ? alive() : [chance.pick(alive())]
      kills += victims.length
      await Promise.all(victims.map(kill))
      for (const slot of victims) {
        const pause = chance.int(0, 400)
        restarts.push(
          sleep(pause)
            .then(() => start(slot, world, hurtDatabase === undefined ? 1 : 10))
            .catch((error: unknown) => void failures.push(error))
        )
      }
    }
    await Promise.all(restarts)
    if (failures.length > 0) throw failures[0]

    await until(async () => (await readFile(world.resend.log, "utf8")).split("\n").length > LEAST_ACCEPTED)

    // Calls that take over from the dead meet proofs of non-acceptance, which must not make them fail over (S2).
    await world.resend.script(drawOutcomes(chance, { ok: 1, "503": 1 }, 2_000))
    await world.ses.script([])
    await world.resend.release()
    stops.abort()
    const calm = sleep(LEASE_MS + 1_000).then(() => world.resend.script([]))
    const deadline = Date.now() + LONGEST_WAIT_MS
    const late = setTimeout(() => givesUp.abort(), LONGEST_WAIT_MS)
    const [answers] = await Promise.all([loaded, thaw, calm])
    clearTimeout(late)
    while (Date.now() < deadline && (await underWay(databaseUrl)) > 0) await sleep(200)

    const degraded = slots
      .flatMap(({ all }) => all)
      .filter(({ frozen }) => !frozen)
      .flatMap(({ process }) => logOf(process))
      .filter(({ message }) => message.startsWith("mail store: ")).length
    const { counts, violations } = await judge({
      world,
      databaseUrl,
      answers,
      databaseHeld: degraded === 0 && hurtDatabase === undefined,
      froze: options.freeze
    })
    return {
      violations,
      counts: {
        ...counts,
        kills,
        freezes: thaw === undefined ? 0 : 1,
        "degraded calls to the database": degraded
      }
    }
  } finally {
    await Promise.all(slots.flatMap(({ all }) => all).map(({ process }) => process.destroy()))
    await world.close()
  }
}
