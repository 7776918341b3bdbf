import type { Limits, Run, SimulatedWorld } from "./world.ts"

/** A failing run, and the limits that it needs. */
export interface Failing {
  readonly limits: Limits
  readonly run: Run
}

/** How many other seeds are tried where a smaller world does not fail on the same one. */
const OTHER_SEEDS = 40

const idsOf = (run: Run): ReadonlyArray<string> => run.violations.map((text) => text.split(":")[0] ?? text)

/** Limits that are one step smaller, the boldest first. */
const smaller = ({ faults, roughMinutes, size }: Limits): ReadonlyArray<Limits> => [
  ...[1, Math.floor(size / 2), size - 1]
    .filter((next, at, all) => next >= 1 && next < size && all.indexOf(next) === at)
    .map((next) => ({ faults, roughMinutes, size: next })),
  ...faults.map((fault) => ({ faults: faults.filter((one) => one !== fault), roughMinutes, size })),
  ...(roughMinutes > 1 ? [{ faults, roughMinutes: Math.max(1, Math.floor(roughMinutes / 2)), size }] : [])
]

/**
 * Looks for the smallest world, the fewest faults and the shortest time that still break one of the same invariants. A
 * smaller world draws other chances, so that other seeds are tried, too; the one that fails is in the answer.
 */
export const shrink = async (
  world: SimulatedWorld,
  seed: number,
  options: { readonly bug?: string | undefined; readonly onStep?: (found: Failing) => void }
): Promise<Failing | undefined> => {
  const simulate = (one: number, limits: Limits, story: boolean) =>
    world.simulate(one, { limits, bug: options.bug, story })
  const first = await simulate(seed, world.full, true)
  if (first.violations.length === 0) return undefined
  const wanted = new Set(idsOf(first))
  let found: Failing = { limits: world.full, run: first }

  const failsWithin = async (limits: Limits): Promise<Failing | undefined> => {
    for (let more = 0; more <= OTHER_SEEDS; more++) {
      const run = await simulate(found.run.seed + more, limits, true)
      if (idsOf(run).some((id) => wanted.has(id))) return { limits, run }
    }
    return undefined
  }
  const step = async (): Promise<Failing | undefined> => {
    for (const limits of smaller(found.limits)) {
      const next = await failsWithin(limits)
      if (next !== undefined) return next
    }
    return undefined
  }
  for (let next = await step(); next !== undefined; next = await step()) {
    found = next
    options.onStep?.(found)
  }
  return found
}
