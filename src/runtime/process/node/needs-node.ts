import { nodeTooOld } from "./node-version.ts"

/** What the library's entries import first: an old Node hears what is needed, before it fails at what it lacks. */
const refused = nodeTooOld(process.versions.node)
if (refused !== undefined) throw new Error(refused)
