import { setTimeout as sleep } from "node:timers/promises"

import { Effect } from "effect"

import type { Chance } from "../simulation/kernel.ts"
import type { Outcome } from "../support/vendors/fake-http.ts"
import { count } from "./journal.ts"
import type { Slot } from "./processes.ts"
import type { World } from "./world.ts"

/** A fault that was done to a process, and until when. */
export interface Hurt {
  readonly kind: "kill" | "freeze"
  readonly slot: string
  /** Which process of its slot it was. */
  readonly number: number
  readonly at: number
  until: number
}

/** What was done to the world. */
export interface FaultLog {
  readonly counts: Record<string, number>
  readonly hurts: Array<Hurt>
  /** Rolling restarts: from, until. */
  readonly rolls: Array<readonly [from: number, until: number]>
}

/** How often each slot is killed: leaders seldom, or nobody would lead for as long as a hand-over takes. */
const KILLS: Readonly<Record<string, number>> = {
  api: 5,
  "leader-1": 1,
  "leader-2": 1,
  "worker-1": 8,
  "worker-2": 8,
  retry: 6
}

/** Longer than every lease but the claims' of half a minute; some freezes outlast those, too. */
const FREEZES_MS = [4_000, 8_000, 15_000, 25_000]

const HOUR_MS = 3_600_000
/** How far a clock is off: less and more than signatures are believed for, and more than an expiry of minutes. */
const STEPS_MS = [-90_000, 90_000, -600_000, 600_000, -HOUR_MS, HOUR_MS, -5 * HOUR_MS, 5 * HOUR_MS]

const RESEND = ["ok", "ok", "ok", "ok", "ok", "ok", "429", "500", "503", "503", "reset", "hang"]
const RESEND_ACCEPTED = [
  "reset-accepted",
  "500-accepted",
  "hang-accepted",
  "504-accepted",
  "truncated-200-accepted",
  "slow"
]
const MODEL: ReadonlyArray<Outcome> = [
  "ok",
  "ok",
  "ok",
  "ok",
  "ok",
  "429",
  "500",
  "503",
  "reset",
  "reset-accepted"
]

const bag = (chance: Chance, from: ReadonlyArray<string>, length: number) =>
  Array.from({ length }, () => chance.pick(from))

/** What goes on, and where it is noted. */
export interface Weather {
  readonly world: World
  readonly chance: Chance
  readonly log: FaultLog
  readonly stops: AbortSignal
}

const alive = ({ world }: Weather): ReadonlyArray<Slot> =>
  world.processes.slots.filter(({ current, isFrozen }) => current !== undefined && !isFrozen)

/** Somebody to hurt; nobody while fewer than half are up, since a machine that only starts processes tests nothing else. */
const victim = (weather: Weather): Slot | undefined => {
  const up = alive(weather)
  if (up.length < weather.world.processes.slots.length / 2) return undefined
  const all = up.flatMap((slot) => Array.from<Slot>({ length: KILLS[slot.name] ?? 1 }).fill(slot))
  return weather.chance.pick(all)
}

const kill = async (weather: Weather): Promise<void> => {
  const slot = victim(weather)
  if (slot === undefined) return
  const at = Date.now()
  weather.log.hurts.push({ kind: "kill", slot: slot.name, number: slot.starts, at, until: at })
  count(weather.log.counts, `kills of ${slot.name.replace(/-\d$/, "")}`)
  count(weather.log.counts, "kills")
  await weather.world.processes.kill(slot)
}

const freeze = async (weather: Weather): Promise<void> => {
  const slot = victim(weather)
  if (slot === undefined) return
  const ms = weather.chance.pick(FREEZES_MS)
  const at = Date.now()
  const hurt: Hurt = { kind: "freeze", slot: slot.name, number: slot.starts, at, until: at + ms }
  weather.log.hurts.push(hurt)
  count(weather.log.counts, "freezes")
  await weather.world.processes.freeze(slot, ms)
  hurt.until = Date.now()
}

const restartDatabase = async (weather: Weather): Promise<void> => {
  const signal = weather.chance.pick(["SIGINT", "SIGQUIT"] as const)
  count(weather.log.counts, signal === "SIGINT" ? "database restarts, fast" : "database restarts, immediate")
  await weather.world.postgres.restart(signal)
}

const cutPooler = async ({ chance, log, world }: Weather): Promise<void> => {
  count(log.counts, "cuts of the pooler's connections")
  await world.pooler.cut(chance)
}

/** Next answers of the vendors; what was held is answered. */
const troubleVendors = async ({ chance, log, world }: Weather): Promise<void> => {
  count(log.counts, "turns of the vendors' answers")
  const [a, b] = [RESEND, RESEND_ACCEPTED].map((from) => bag(chance, from, 10))
  await world.resend.release()
  await world.resend.script([...a!, ...b!.slice(0, 3)].sort(() => chance.next() - 0.5))
  await world.ses.script(bag(chance, [...RESEND, ...RESEND_ACCEPTED.filter((one) => one !== "slow")], 6))
  await world.models.onDemand.script(
    Array.from({ length: 8 }, () => chance.pick(MODEL)),
    "ok"
  )
  await world.models.batch.script(Array.from({ length: 3 }, () => chance.pick(MODEL)))
}

const breakCloud = async ({ chance, log, world }: Weather): Promise<void> => {
  if (chance.bool(0.3)) {
    count(log.counts, "object store and queue: connections gone silent")
    return Effect.runPromise(world.cloud.freeze)
  }
  count(log.counts, "object store and queue: away for seconds")
  await Effect.runPromise(world.cloud.setRefusing(true))
  await sleep(chance.int(1_000, 5_000))
  await Effect.runPromise(world.cloud.setRefusing(false))
}

const fillDisk = async ({ chance, log, world }: Weather): Promise<void> => {
  if (world.disk === undefined) return
  count(log.counts, "disk of the workers full for seconds")
  world.disk.fill()
  await sleep(chance.int(2_000, 8_000))
  world.disk.empty()
}

/** The database's log is flushed slowly, as on a busy disk: each commit waits a tenth of a second before its flush. */
const slowDatabaseDisk = async ({ chance, log, world }: Weather): Promise<void> => {
  count(log.counts, "database's disk slow for seconds")
  await setUntilHeard(world, "alter system set commit_siblings = 0")
  await setUntilHeard(world, "alter system set commit_delay = 100000")
  await sleep(chance.int(3_000, 10_000))
  await setUntilHeard(world, "alter system reset commit_delay")
}

/** Changes a setting, however often the database is restarted meanwhile. */
const setUntilHeard = async ({ query }: World, statement: string): Promise<void> => {
  for (;;) {
    const isSet = await query(statement)
      .then(() => query("select pg_reload_conf()"))
      .then(
        () => true,
        () => false
      )
    if (isSet) return
    await sleep(200)
  }
}

/** The clock of one role is stepped, and put right after a while. */
const stepClock = async ({ chance, log, world }: Weather): Promise<void> => {
  const { name } = chance.pick(world.processes.slots)
  const ms = chance.pick(STEPS_MS)
  const [sign, size] = [ms < 0 ? "back" : "on", Math.abs(ms) >= HOUR_MS ? "hours" : "minutes"]
  count(log.counts, `clock of ${name.replace(/-\d$/, "")} stepped ${sign}, by ${size}`)
  world.clocks.set(name, ms)
  await sleep(chance.int(2_000, 20_000))
  world.clocks.set(name, 0)
}

/** Every process in turn: a new one first, then the old one is asked to stop. */
export const rollingRestart = async ({ log, world }: Weather): Promise<void> => {
  const from = Date.now()
  count(log.counts, "rolling restarts")
  for (const slot of world.processes.slots) await world.processes.roll(slot)
  log.rolls.push([from, Date.now()])
}

/** Repeats a fault about every `everyMs` until the weather ends. */
const repeat = async (
  weather: Weather,
  everyMs: number | (() => number),
  fault: (weather: Weather) => Promise<void>
) => {
  while (!weather.stops.aborted) {
    const mean = typeof everyMs === "number" ? everyMs : everyMs()
    const pause = weather.chance.int(mean / 2, mean * 1.5)
    await sleep(pause, undefined, { signal: weather.stops }).catch(() => undefined)
    if (!weather.stops.aborted) await fault(weather)
  }
}

/** All faults side by side until the weather ends, and every one of them lifted. While all are up they are killed twice as often. */
export const storm = async (weather: Weather, killEveryMs: number): Promise<void> => {
  const isQuiet = () => alive(weather).length === weather.world.processes.slots.length
  await Promise.all([
    repeat(weather, () => (isQuiet() ? killEveryMs / 2 : killEveryMs), kill),
    repeat(weather, 40_000, freeze),
    repeat(weather, 60_000, restartDatabase),
    repeat(weather, 25_000, cutPooler),
    repeat(weather, 3_000, troubleVendors),
    repeat(weather, 45_000, breakCloud),
    repeat(weather, 50_000, fillDisk),
    repeat(weather, 30_000, slowDatabaseDisk),
    repeat(weather, 8_000, stepClock)
  ])
  const { models, resend, ses } = weather.world
  await Promise.all([
    resend.script([]),
    ses.script([]),
    models.onDemand.always("ok"),
    models.batch.always("ok")
  ])
  await resend.release()
}
