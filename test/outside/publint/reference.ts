import { packed } from "../package.ts"
import { type Artefact, judged, type Reference } from "../reference.ts"
import { isAtHand, npmTool, run } from "../tools.ts"

const SPEC = "publint@0.3.25"
const ARTEFACTS: ReadonlyArray<Artefact> = []

export const publint: Reference = {
  name: "publint",
  version: "0.3.25",
  checks: "the package as it would be published: its entries, their conditions and files",
  isAtHand: ({ cache }) => isAtHand(cache, SPEC),
  needs: ["npm"],
  install: async ({ cache }) => void (await npmTool(cache, SPEC, "publint")),
  run: async (place) => {
    const program = await npmTool(place.cache, SPEC, "publint")
    const { code, stdout } = await run(program, ["run", await packed(place), "--strict"], {
      env: { NO_COLOR: "1" }
    })
    const complaints = stdout.split("\n").filter((line) => /^\s*\d+\. /.test(line))
    if (code !== 0 && complaints.length === 0) throw new Error(stdout)
    return complaints.length === 0
      ? [{ name: "the package", outcome: "held" }]
      : judged(complaints, ARTEFACTS)
  }
}
