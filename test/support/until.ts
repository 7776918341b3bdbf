import { setTimeout as sleep } from "node:timers/promises"

import { Effect } from "effect"

import { LONGEST_WAIT_MS } from "./time-limits.ts"

/** Pause between two looks, milliseconds. */
const LOOK_EVERY_MS = 20

const isFound = <A>(found: A): found is Exclude<A, false | undefined> =>
  found !== undefined && found !== false

const neverCame = (what: string) => new Error(`It never came that ${what}`)

/** Waits until `look` finds something that is neither undefined nor false, and returns it. `what` names it where it never comes. */
export const until = async <A>(
  what: string,
  look: () => A | Promise<A>
): Promise<Exclude<A, false | undefined>> => {
  const deadline = performance.now() + LONGEST_WAIT_MS
  for (;;) {
    const found = await look()
    if (isFound(found)) return found
    if (performance.now() > deadline) throw neverCame(what)
    await sleep(LOOK_EVERY_MS)
  }
}

/** `until` for an effect, by the machine's clock also where the test's is virtual. */
export const untilFound = <A, E, R>(
  what: string,
  look: Effect.Effect<A, E, R>
): Effect.Effect<Exclude<A, false | undefined>, E, R> =>
  Effect.gen(function* () {
    const deadline = performance.now() + LONGEST_WAIT_MS
    for (;;) {
      const found = yield* look
      if (isFound(found)) return found
      if (performance.now() > deadline) return yield* Effect.die(neverCame(what))
      yield* Effect.promise(() => sleep(LOOK_EVERY_MS))
    }
  })
