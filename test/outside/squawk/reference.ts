import { readdir } from "node:fs/promises"
import { join } from "node:path"

import { type Artefact, judged, type Reference } from "../reference.ts"
import { isAtHand, npmTool, run } from "../tools.ts"

const SPEC = "squawk-cli@2.66.0"

/** The last file of the baseline: those after it meet tables that are in use. */
export const BASELINE = "0012"

const ARTEFACTS: ReadonlyArray<Artefact> = [
  {
    pattern: /: require-lock-timeout:/,
    reason: "`migrate` sets it: it gives a lock up after 2 s and tries again"
  },
  {
    pattern: /: require-statement-timeout:/,
    reason: "`migrate` lifts it on purpose: what is slow under a lock, other rules of this tool find"
  },
  {
    pattern: /0016_provider_hangs\.sql:\d+: prefer-bigint-over-int:/,
    reason: "a count of time-outs in a row, which begins anew after a minute"
  }
]

interface Complaint {
  readonly file: string
  readonly line: number
  readonly rule_name: string
  readonly message: string
}

export const squawk: Reference = {
  name: "squawk",
  version: SPEC.split("@")[1] ?? "",
  checks: "no migration after the baseline locks a table that is in use for long",
  isAtHand: ({ cache }) => isAtHand(cache, SPEC),
  needs: ["npm"],
  install: async ({ cache }) => void (await npmTool(cache, SPEC, "squawk")),
  run: async ({ cache, root }) => {
    const files = (await readdir(join(root, "migrations")))
      .filter((name) => name.endsWith(".sql") && name.slice(0, 4) > BASELINE)
      .toSorted()
    const { stderr, stdout } = await run(
      await npmTool(cache, SPEC, "squawk"),
      ["--assume-in-transaction", "--pg-version", "15", "--reporter", "json", ...files],
      { cwd: join(root, "migrations") }
    )
    if (!stdout.startsWith("[")) throw new Error(`${stdout}\n${stderr}`)
    const complaints = (JSON.parse(stdout) as ReadonlyArray<Complaint>).map(
      ({ file, line, message, rule_name }) => `${file}:${line + 1}: ${rule_name}: ${message}`
    )
    return [
      { name: `${files.length} files are read`, outcome: files.length > 0 ? "held" : "failed" },
      ...judged(complaints, ARTEFACTS)
    ]
  }
}
