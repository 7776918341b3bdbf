import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

import { packed } from "../package.ts"
import { type Artefact, judged, type Reference } from "../reference.ts"
import { isAtHand, npmPackage } from "../tools.ts"

const SPEC = "@arethetypeswrong/core@0.18.5"
const ARTEFACTS: ReadonlyArray<Artefact> = []

/** What is used of the library that the tool's own program runs. */
interface Library {
  readonly createPackageFromTarballData: (bytes: Uint8Array) => unknown
  readonly checkPackage: (given: unknown) => Promise<Analysis>
}

interface Analysis {
  readonly entrypoints: Readonly<Record<string, unknown>>
  readonly problems: ReadonlyArray<{
    readonly kind: string
    readonly entrypoint?: string
    readonly resolutionKind?: string
  }>
}

export const attw: Reference = {
  name: "attw",
  version: "0.18.5",
  checks: "the types of each entry of the package, as each kind of import resolves them",
  isAtHand: ({ cache }) => isAtHand(cache, SPEC),
  needs: ["npm"],
  install: async ({ cache }) => void (await npmPackage(cache, SPEC)),
  run: async (place) => {
    const home = await npmPackage(place.cache, SPEC)
    const file = join(home, "node_modules/@arethetypeswrong/core/dist/index.js")
    const { checkPackage, createPackageFromTarballData } = (await import(pathToFileURL(file).href)) as Library
    const archive = new Uint8Array(await readFile(await packed(place)))
    const analysis = await checkPackage(createPackageFromTarballData(archive))
    // The package is of ES modules alone, which `require` of an older Node does not load: it says so.
    const complaints = analysis.problems
      .filter(({ resolutionKind = "" }) => !["node10", "node16-cjs"].includes(resolutionKind))
      .map(({ entrypoint = "", kind, resolutionKind = "" }) => `${kind} ${entrypoint} ${resolutionKind}`)
    const clean = Object.keys(analysis.entrypoints)
      .filter((entry) => !complaints.some((complaint) => complaint.includes(` ${entry} `)))
      .map((name) => ({ name, outcome: "held" as const }))
    return [...clean, ...judged(complaints, ARTEFACTS)]
  }
}
