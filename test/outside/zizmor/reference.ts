import { type Artefact, judged, type Reference } from "../reference.ts"
import { pip, run } from "../tools.ts"

const SPEC = "zizmor==1.32.0"
const ARTEFACTS: ReadonlyArray<Artefact> = []

interface Finding {
  readonly ident: string
  readonly desc: string
  readonly locations: ReadonlyArray<{
    readonly symbolic: { readonly key: unknown }
    readonly concrete: { readonly location: { readonly start_point: { readonly row: number } } }
  }>
}

export const zizmor: Reference = {
  name: "zizmor",
  version: "1.32.0",
  checks: "the workflows of the repository, for what a stranger's pull request could do",
  needs: ["python3"],
  install: async ({ cache }) => void (await pip(cache, SPEC, "zizmor")),
  run: async ({ cache, root }) => {
    const program = await pip(cache, SPEC, "zizmor")
    const { stdout } = await run(program, ["--offline", "--format", "json", ".github/workflows"], {
      cwd: root
    })
    const complaints = (JSON.parse(stdout) as ReadonlyArray<Finding>).map(
      ({ desc, ident, locations: [first] }) =>
        `${ident} ${JSON.stringify(first?.symbolic.key)} line ${(first?.concrete.location.start_point.row ?? 0) + 1}: ${desc}`
    )
    return complaints.length === 0
      ? [{ name: ".github/workflows", outcome: "held" }]
      : judged(complaints, ARTEFACTS)
  }
}
