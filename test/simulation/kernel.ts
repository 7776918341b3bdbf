import { Effect, Layer, Logger, Random, Scheduler } from "effect"
import { TestClock } from "effect/testing"

/** A seeded source of chance (splitmix64). */
export interface Chance {
  /** In [0, 1). */
  readonly next: () => number
  /** In [low, high). */
  readonly int: (low: number, high: number) => number
  readonly bool: (probability: number) => boolean
  readonly pick: <A>(from: ReadonlyArray<A>) => A
}

/** Makes a chance from a seed. */
export const makeChance = (seed: number): Chance => {
  const mask = (1n << 64n) - 1n
  let state = (BigInt(seed) * 0x9e3779b97f4a7c15n + 1n) & mask
  const next = () => {
    state = (state + 0x9e3779b97f4a7c15n) & mask
    let mixed = state
    mixed = ((mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n) & mask
    mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & mask
    return Number((mixed ^ (mixed >> 31n)) >> 11n) / 2 ** 53
  }
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low))
  return {
    next,
    int,
    bool: (probability) => next() < probability,
    pick: (from) => from[int(0, from.length)]!
  }
}

/** Runs one task at a time, chosen by the seed, and preempts fibers at random: every interleaving is some seed's. */
class SeededScheduler implements Scheduler.Scheduler {
  readonly executionMode = "async"
  private readonly tasks: Array<() => void> = []
  private running = false
  private readonly chance: Chance

  constructor(chance: Chance) {
    this.chance = chance
  }

  shouldYield(fiber: { readonly currentOpCount: number }): boolean {
    return fiber.currentOpCount >= 64 && this.chance.bool(0.05)
  }

  makeDispatcher() {
    return {
      scheduleTask: (task: () => void) => {
        this.tasks.push(task)
        if (this.running) return
        this.running = true
        setImmediate(() => this.drain())
      },
      flush: () => this.drain()
    }
  }

  private drain() {
    while (this.tasks.length > 0) this.tasks.splice(this.chance.int(0, this.tasks.length), 1)[0]!()
    this.running = false
  }
}

/** Runs a program on virtual time, with the order of its fibers and all chance from the seed. */
export const runSeeded = <A, E>(seed: number, program: Effect.Effect<A, E>): Promise<A> => {
  const scheduler = new SeededScheduler(makeChance(seed))
  return Effect.runPromise(
    program.pipe(
      Effect.provide(TestClock.layer({ warningDelay: "1 hour" })),
      Effect.provide(Layer.succeed(Scheduler.Scheduler, scheduler)),
      Effect.provideService(Scheduler.Scheduler, scheduler),
      Effect.provide(Logger.layer([])),
      Random.withSeed(String(seed))
    ),
    { scheduler }
  )
}
