import fc from "fast-check"

/**
 * Properties draw from fresh seeds on a developer's machine and in the nightly run. In continuous integration (`CI`) they take one
 * fixed seed, so that a change fails there for what it did and not for what chance found: chance's finds are the night's.
 */
const seed = process.env["PROPERTY_SEED"] ?? (process.env["CI"] === undefined ? undefined : "1")
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) })
