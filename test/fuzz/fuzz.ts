import { setTimeout as sleep } from "node:timers/promises"

import * as fc from "fast-check"

import { MAX_STALL_MS, watchLoop } from "../hostile/stalls.ts"
import { type Coverage, watchCoverage } from "./coverage.ts"
import { type Chance, chanceOf, mutate } from "./mutate.ts"
import { Broken, type Opened, type Serve, type Target } from "./target.ts"

/** An input that did what none may. */
export interface Finding {
  readonly what: string
  readonly input: Buffer
}

/** What came of fuzzing one target. */
export interface Report {
  readonly inputs: number
  /** How often each class of answer came. */
  readonly classes: ReadonlyMap<string, number>
  /** Blocks of our own code that ran, where they can be seen. */
  readonly covered: number
  /** Inputs that reached something new. */
  readonly pool: number
  readonly longestStallMs: number
  readonly longestAnswerMs: number
  readonly peakMb: number
  readonly findings: ReadonlyArray<Finding>
}

interface Outcome {
  /** The class of the answer; undefined where it was none that may be. */
  readonly answer: string | undefined
  readonly what: string
  readonly stallMs: number
  readonly tookMs: number
  readonly residentMb: number
}

const MB = 1024 * 1024
/**
 * A stall, a late answer or a time-out counts if the input causes it each time: the first may have compiled something or collected
 * garbage, and a machine that is busy with something else keeps every input waiting.
 */
const TIMES = 3
/** What is said where something was waited for: our database, another process, a connection. */
const WAITED = /no answer within|tim(?:ed|e) ?-?out|ETIMEDOUT|ECONNRESET/i
/** Looks, at most, whether timers fire in time again. */
const LOOKS = 20
/** Inputs between two looks at the coverage, which each take some milliseconds. */
const BATCH = 25
const MAX_POOL = 3_000
const MAX_FINDINGS = 10
/** Tries to make a finding smaller, and how long they may take, milliseconds: one that hangs takes long each time. */
const SHRINK_TRIES = 150
const SHRINK_MS = 60_000

/** Waits until timers fire in time, for a while. */
const untilMachineIsFree = async (): Promise<void> => {
  for (let look = 0; look < LOOKS; look++) {
    const at = performance.now()
    await sleep(50)
    if (performance.now() - at < 100) return
  }
}

/** One target, opened, and opened again after an input broke it. */
export class Attack {
  readonly #target: Target
  readonly #serve: Serve
  readonly #loop = watchLoop()
  #opened: Opened | undefined
  /** What no promise of ours has caught. */
  #escaped: Array<string> = []
  readonly #escape = (cause: unknown) => void this.#escaped.push(`uncaught: ${String(cause)}`)

  constructor(target: Target, serve: Serve) {
    this.#target = target
    this.#serve = serve
    process.on("uncaughtException", this.#escape).on("unhandledRejection", this.#escape)
  }

  /** What an input does: the answer, and what it took. */
  async run(input: Buffer): Promise<Outcome> {
    let outcome = await this.#once(input)
    const { limitMs, memoryMb } = this.#target
    const mayBeTheMachine = ({ answer, stallMs, tookMs, what }: Outcome) =>
      stallMs > MAX_STALL_MS || tookMs > limitMs || (answer === undefined && WAITED.test(what))
    for (let again = 1; again < TIMES && mayBeTheMachine(outcome); again++) {
      if (outcome.answer === undefined) {
        await this.#reopen()
        await untilMachineIsFree()
      }
      const next = await this.#once(input)
      if (!mayBeTheMachine(next) || next.stallMs < outcome.stallMs || next.answer === undefined)
        outcome = next
    }
    const over =
      outcome.stallMs > MAX_STALL_MS
        ? `H1: it stalls the event loop for ${Math.round(outcome.stallMs)} ms`
        : outcome.residentMb > memoryMb
          ? `H1: it takes ${Math.round(outcome.residentMb)} MB of ${memoryMb}`
          : outcome.tookMs > limitMs
            ? `H2: no answer within ${limitMs} ms`
            : undefined
    if (over === undefined && outcome.answer !== undefined) return outcome
    // What it left behind says nothing about the next.
    await this.#reopen()
    return { ...outcome, answer: undefined, what: over ?? outcome.what }
  }

  async #once(input: Buffer): Promise<Outcome> {
    const opened = (this.#opened ??= await this.#target.open(this.#serve))
    this.#escaped = []
    const began = performance.now()
    let end = { answer: undefined as string | undefined, what: "" }
    const attack = async () => {
      end = await this.#ending(opened, input)
    }
    this.#loop.reset()
    let measured
    try {
      measured = await opened.measure?.(attack)
      if (opened.measure === undefined) await attack()
    } catch (cause) {
      end = { answer: undefined, what: `crash: ${String(cause)}` }
    }
    const tookMs = performance.now() - began
    const stallMs = measured?.stall ?? this.#loop.longest()
    const residentMb = (measured?.resident ?? process.memoryUsage.rss()) / MB
    const [escaped] = this.#escaped
    return {
      ...end,
      ...(escaped === undefined ? {} : { answer: undefined, what: escaped }),
      stallMs,
      tookMs,
      residentMb
    }
  }

  async #ending(opened: Opened, input: Buffer) {
    let alarm: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const { limitMs } = this.#target
      alarm = setTimeout(() => reject(new Broken(`H2: no answer within ${limitMs} ms`)), limitMs)
    })
    try {
      return { answer: await Promise.race([opened.answer(input), late]), what: "" }
    } catch (cause) {
      const what =
        cause instanceof Error
          ? cause instanceof Broken
            ? cause.message
            : (cause.stack ?? cause.message)
          : String(cause)
      return { answer: undefined, what }
    } finally {
      clearTimeout(alarm)
    }
  }

  async #reopen() {
    const before = this.#opened
    this.#opened = undefined
    await before?.close().catch(() => undefined)
  }

  async close() {
    this.#loop.stop()
    await this.#reopen()
    process.off("uncaughtException", this.#escape).off("unhandledRejection", this.#escape)
  }
}

/** The first line, without what differs each time. */
const kindOf = (what: string): string => what.split("\n", 1)[0]!.replaceAll(/\d+/g, "#").slice(0, 200)

/** Leaves out what a finding does not need, half by half, then smaller pieces. */
const smaller = async (attack: Attack, found: Finding): Promise<Finding> => {
  let best = found
  let tries = SHRINK_TRIES
  const end = performance.now() + SHRINK_MS
  for (
    let size = Math.ceil(found.input.length / 2);
    size >= 1 && tries > 0;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < best.input.length && tries > 0 && performance.now() < end; tries--) {
      const input = Buffer.concat([best.input.subarray(0, at), best.input.subarray(at + size)])
      const { answer, what } = await attack.run(input)
      if (answer === undefined && kindOf(what) === kindOf(best.what)) best = { what, input }
      else at += size
    }
  }
  return best
}

/** Inputs worth changing: each reached something that none before it had. */
class Pool {
  readonly inputs: Array<Buffer>
  readonly #of = new Map<string, number>()
  readonly #chance: Chance

  constructor(seeds: ReadonlyArray<Buffer>, chance: Chance) {
    this.inputs = [...seeds]
    this.#chance = chance
  }

  /** Keeps it for what it reached: in place of a longer one, whose changes would mostly miss what matters. */
  keep(reached: string, input: Buffer): void {
    const before = this.#of.get(reached)
    if (before !== undefined && this.inputs[before]!.length <= input.length) return
    const at = before ?? (this.inputs.length < MAX_POOL ? this.inputs.length : this.#chance(MAX_POOL))
    this.inputs[at] = input
    this.#of.set(reached, at)
  }

  /** Any, the newest twice as often. */
  any(): Buffer {
    const { length } = this.inputs
    const from = this.#chance(2) === 0 ? Math.floor(length / 2) : 0
    return this.inputs[from + this.#chance(length - from)] ?? Buffer.alloc(0)
  }
}

/** How long and from which seed; `until` says when it is enough. */
export interface Plan {
  readonly seed: number
  readonly enough: (inputs: number) => boolean
  /** Called at once with a finding, and again with what is left of it. */
  readonly onFound?: (finding: Finding, before?: Finding) => void
}

/** What has been reached so far. */
class Reached {
  readonly classes = new Map<string, number>()
  readonly blocks = new Set<string>()
  inputs = 0
  longestStallMs = 0
  longestAnswerMs = 0
  peakMb = 0

  count({ answer, residentMb, stallMs, tookMs }: Outcome): void {
    this.inputs++
    this.longestStallMs = Math.max(this.longestStallMs, stallMs)
    this.longestAnswerMs = Math.max(this.longestAnswerMs, tookMs)
    this.peakMb = Math.max(this.peakMb, residentMb)
    if (answer !== undefined) this.classes.set(answer, (this.classes.get(answer) ?? 0) + 1)
  }

  /** Blocks that have not been seen, now counted. */
  fresh(blocks: ReadonlySet<string>): ReadonlyArray<string> {
    const fresh = [...blocks].filter((block) => !this.blocks.has(block))
    for (const block of fresh) this.blocks.add(block)
    return fresh
  }
}

/** Keeps those of a batch that ran one of the fresh blocks. */
const keepFresh = async ({
  attack,
  batch,
  coverage,
  pool,
  reached
}: {
  readonly attack: Attack
  readonly batch: ReadonlyArray<Buffer>
  readonly coverage: Coverage
  readonly pool: Pool
  readonly reached: Reached
}) => {
  const left = new Set(reached.fresh(await coverage.take()))
  for (const input of batch) {
    if (left.size === 0) return
    await attack.run(input)
    const ran = await coverage.take()
    for (const block of [...left].filter((one) => ran.has(one))) {
      left.delete(block)
      pool.keep(block, input)
    }
  }
}

/** Fuzzes a target until it is enough. */
export const fuzz = async (
  target: Target,
  serve: Serve,
  { enough, onFound, seed }: Plan
): Promise<Report> => {
  const chance = chanceOf(seed)
  const pool = new Pool(target.seeds(), chance)
  const reached = new Reached()
  const findings = new Map<string, Finding>()
  const attack = new Attack(target, serve)
  const coverage = target.guided ? await watchCoverage() : undefined
  const next = (): ReadonlyArray<Buffer> =>
    reached.inputs === 0
      ? pool.inputs.slice()
      : [
          ...fc.sample(target.made, { seed: chance(2 ** 31), numRuns: BATCH }),
          ...Array.from({ length: BATCH }, () =>
            mutate(pool.any(), { chance, other: pool.any(), words: target.words })
          )
        ]
  try {
    while (!enough(reached.inputs) && findings.size < MAX_FINDINGS) {
      const batch = next()
      for (const input of batch) {
        if (enough(reached.inputs)) break
        const outcome = await attack.run(input)
        reached.count(outcome)
        if (outcome.answer !== undefined) pool.keep(outcome.answer, input)
        const kind = kindOf(outcome.what)
        if (outcome.answer !== undefined || findings.has(kind)) continue
        const found = { what: outcome.what, input }
        onFound?.(found)
        const small = await smaller(attack, found)
        findings.set(kind, small)
        if (small !== found) onFound?.(small, found)
      }
      if (coverage !== undefined) await keepFresh({ attack, batch, coverage, pool, reached })
    }
  } finally {
    await attack.close()
    coverage?.stop()
  }
  const { blocks, classes, inputs, longestAnswerMs, longestStallMs, peakMb } = reached
  return {
    inputs,
    classes,
    covered: blocks.size,
    pool: pool.inputs.length,
    longestStallMs,
    longestAnswerMs,
    peakMb,
    findings: [...findings.values()]
  }
}
