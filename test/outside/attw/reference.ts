import { packed } from "../package.ts"
import { type Artefact, judged, type Reference } from "../reference.ts"
import { npmTool, run } from "../tools.ts"

const SPEC = "@arethetypeswrong/cli@0.18.5"
const ARTEFACTS: ReadonlyArray<Artefact> = []

interface Answer {
  readonly analysis: {
    readonly entrypoints: Readonly<Record<string, unknown>>
    readonly problems: ReadonlyArray<{
      readonly kind: string
      readonly entrypoint?: string
      readonly resolutionKind?: string
    }>
  }
}

export const attw: Reference = {
  name: "attw",
  version: "0.18.5",
  checks: "the types of each entry of the package, as each kind of import resolves them",
  needs: ["npm"],
  install: async ({ cache }) => void (await npmTool(cache, SPEC, "attw")),
  run: async (place) => {
    const program = await npmTool(place.cache, SPEC, "attw")
    // The package is of ES modules alone, which `require` of an older Node does not load: it says so.
    const args = [await packed(place), "--format", "json", "--profile", "esm-only"]
    const { analysis } = JSON.parse((await run(program, args)).stdout) as Answer
    const complaints = analysis.problems
      .filter(({ resolutionKind = "" }) => !["node10", "node16-cjs"].includes(resolutionKind))
      .map(({ entrypoint = "", kind, resolutionKind = "" }) => `${kind} ${entrypoint} ${resolutionKind}`)
    const clean = Object.keys(analysis.entrypoints)
      .filter((entry) => !complaints.some((complaint) => complaint.includes(` ${entry} `)))
      .map((name) => ({ name, outcome: "held" as const }))
    return [...clean, ...judged(complaints, ARTEFACTS)]
  }
}
