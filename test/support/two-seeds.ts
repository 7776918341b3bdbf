/**
 * `fast-check` as tests import it in continuous integration (`vitest.config.ts`): each property runs on the fixed seed, and a quarter as
 * often on the day's. What fails on that one says its seed: `PROPERTY_SEED` of that number runs it again.
 */
import * as fc from "fast-check"

export * from "fast-check"

const FIXED = "1"
const given = process.env["PROPERTY_SEED"]
const inIntegration = process.env["CI"] !== undefined

/** The day in UTC, as a number: 20261128. */
const today = () => Number(new Date().toISOString().slice(0, 10).replaceAll("-", ""))

/** What a run of the tests draws its properties from; none: fresh ones. The workers have them from the process that starts them. */
export const propertySeeds = (): ReadonlyArray<number> => {
  if (given !== undefined) return [Number(given)]
  return inIntegration ? [Number(FIXED), Number((process.env["PROPERTY_DAY"] ??= String(today())))] : []
}

const [, ofDay] = propertySeeds()

export function assert<Ts>(property: fc.IAsyncProperty<Ts>, parameters?: fc.Parameters<Ts>): Promise<void>
export function assert<Ts>(property: fc.IProperty<Ts>, parameters?: fc.Parameters<Ts>): void
export function assert<Ts>(
  property: fc.IAsyncProperty<Ts> | fc.IProperty<Ts>,
  parameters: fc.Parameters<Ts> = {}
): Promise<void> | void {
  const first = fc.assert(property, parameters)
  if (ofDay === undefined || parameters.seed !== undefined) return first
  const runs = parameters.numRuns ?? fc.readConfigureGlobal().numRuns ?? 100
  const again = () => fc.assert(property, { ...parameters, seed: ofDay, numRuns: Math.ceil(runs / 4) })
  return first instanceof Promise ? first.then(again) : again()
}

export default { ...fc, assert }
