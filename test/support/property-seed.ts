import fc from "fast-check"

import { propertySeeds } from "./two-seeds.ts"

/**
 * Properties draw from fresh seeds on a developer's machine and in the nightly run. In continuous integration (`CI`) they take one
 * fixed seed, so that two runs of a change differ in nothing but the day, and some of the day's seed beside it (`two-seeds.ts`).
 */
const [seed] = propertySeeds()
if (seed !== undefined) fc.configureGlobal({ seed })
