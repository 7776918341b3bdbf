import { Clock, Duration, Effect, Random, References, Scheduler } from "effect"

/** A seeded source of chance (sfc32: every task and every fault draws from it, and 32 bits at a time are fast). */
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
  let a = seed | 0
  let b = Math.floor(seed / 2 ** 32) | 0
  let c = 0x9e3779b9 | 0
  let count = 1
  const draw = () => {
    const mixed = (a + b + count) | 0
    count = (count + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + mixed) | 0
    return mixed >>> 0
  }
  for (let warmUp = 0; warmUp < 15; warmUp++) draw()
  const next = () => ((draw() >>> 5) * 2 ** 26 + (draw() >>> 6)) / 2 ** 53
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low))
  return {
    next,
    int,
    bool: (probability) => next() < probability,
    pick: (from) => from[int(0, from.length)]!
  }
}

/** A clock that also wakes plain functions: no fiber and no effect for a simulated wait. */
export interface SimClock extends Clock.Clock {
  /** Runs `wake` after so many milliseconds, as a task of its own. */
  readonly after: (millis: number, wake: () => void) => void
}

/** A clock's sleep on its `after`. A fiber that was interrupted ignores its wake-up: to cancel that would cost more. */
export const sleepOn =
  (after: SimClock["after"]) =>
  (duration: Duration.Duration): Effect.Effect<void> => {
    const millis = Duration.toMillis(duration)
    if (millis <= 0) return Effect.yieldNow
    if (!Number.isFinite(millis)) return Effect.never
    return Effect.callback<void>((resume) => after(millis, () => resume(Effect.void)))
  }

/** Somebody who sleeps until a moment. */
interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** The sleepers, the earliest first (a binary heap). */
class Sleepers {
  private readonly heap: Array<Sleeper> = []

  add(sleeper: Sleeper) {
    const { heap } = this
    let at = heap.length
    heap.push(sleeper)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (heap[parent]!.at <= sleeper.at) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = sleeper
  }

  /** The earliest. */
  first(): Sleeper | undefined {
    return this.heap[0]
  }

  take(): void {
    const { heap } = this
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++
      if (heap[child]!.at >= last.at) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
  }
}

/** Far more tasks than any run has that ends. */
const MOST_TASKS = 5_000_000

/**
 * Runs one task at a time, chosen by the seed, and preempts fibers at random: every interleaving is some seed's. Its time
 * stands still while anybody can run, and then jumps to the next who wakes; all who wake at one moment run in any order.
 */
class Kernel implements Scheduler.Scheduler {
  readonly executionMode = "async"
  readonly clock: SimClock
  private readonly tasks: Array<() => void> = []
  private readonly sleepers = new Sleepers()
  private readonly chance: Chance
  private now = 0
  private running = false
  private ended = false
  private left: number
  private readonly stop: (reason: string) => void

  /** `stop` gets the reason why the program will not end, once that is known. */
  constructor(chance: Chance, mostTasks: number, stop: (reason: string) => void) {
    this.chance = chance
    this.left = mostTasks
    this.stop = stop
    const millis = () => this.now
    const nanos = () => BigInt(Math.round(this.now * 1e6))
    this.clock = {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      after: (wait, wake) => this.after(wait, wake),
      sleep: sleepOn((wait, wake) => this.after(wait, wake))
    }
  }

  shouldYield(fiber: { readonly currentOpCount: number }): boolean {
    return fiber.currentOpCount >= 64 && this.chance.bool(0.05)
  }

  makeDispatcher() {
    return {
      scheduleTask: (task: () => void) => {
        this.tasks.push(task)
        this.start()
      },
      flush: () => this.drain()
    }
  }

  /** Begins, unless it has. */
  start() {
    if (this.running) return
    this.running = true
    setImmediate(() => this.run())
  }

  /** From now on nobody wakes any more. */
  end() {
    this.ended = true
  }

  private after(millis: number, wake: () => void): void {
    this.sleepers.add({ at: this.now + millis, wake })
  }

  private run() {
    do this.drain()
    while (!this.ended && this.left > 0 && this.passTime())
    this.running = false
    if (this.left <= 0) this.stop("it goes on for ever")
    else if (!this.ended) this.stop("nobody can run, and nobody will ever wake")
  }

  private drain() {
    const { chance, tasks } = this
    while (tasks.length > 0 && this.left-- > 0) {
      const at = chance.int(0, tasks.length)
      const task = tasks[at]!
      const last = tasks.pop()!
      if (at < tasks.length) tasks[at] = last
      task()
    }
  }

  private passTime(): boolean {
    const next = this.sleepers.first()
    if (next === undefined) return false
    this.now = next.at
    for (let due = this.sleepers.first(); due?.at === this.now; due = this.sleepers.first()) {
      this.sleepers.take()
      this.tasks.push(due.wake)
    }
    return true
  }
}

/** Runs a program on virtual time, with the order of its fibers and all chance from the seed. It fails where the program has no end. */
export const runSeeded = <A, E>(
  seed: number,
  program: (clock: SimClock) => Effect.Effect<A, E>,
  { mostTasks = MOST_TASKS }: { readonly mostTasks?: number } = {}
): Promise<A> => {
  const endless = Promise.withResolvers<never>()
  const kernel = new Kernel(makeChance(seed), mostTasks, (reason) =>
    endless.reject(new Error(`the run of seed ${seed} does not end: ${reason}`))
  )
  const random = makeChance(seed + 9_000_011)
  // No stack of a simulated failure is ever read, and taking them costs a tenth of a run.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  const run = Effect.runPromise(
    program(kernel.clock).pipe(
      Effect.ensuring(Effect.sync(() => kernel.end())),
      Effect.provideService(Clock.Clock, kernel.clock),
      Effect.provideService(Scheduler.Scheduler, kernel),
      Effect.provideService(References.MinimumLogLevel, "None"),
      Effect.provideService(Random.Random, {
        nextDoubleUnsafe: random.next,
        nextIntUnsafe: () => random.int(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
      })
    ),
    { scheduler: kernel }
  )
  kernel.start()
  return Promise.race([run, endless.promise]).finally(() => {
    Error.stackTraceLimit = stackTraceLimit
  })
}
