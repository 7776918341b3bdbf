import { join } from "node:path"

import type { Reference } from "../reference.ts"
import { run } from "../tools.ts"

export const promtool: Reference = {
  name: "promtool",
  version: "as installed",
  checks: "the alerting rules of docs/operate/prometheus, and their tests",
  needs: ["promtool"],
  install: async () => {},
  run: async ({ root }) => {
    const cwd = join(root, "docs/operate/prometheus")
    const told = async (name: string, args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await run("promtool", args, { cwd })
      return {
        name,
        outcome: code === 0 ? ("held" as const) : ("failed" as const),
        detail: `${stdout}${stderr}`.trim()
      }
    }
    return [
      await told("check rules", ["check", "rules", "rules.yml"]),
      await told("test rules", ["test", "rules", "rules.test.yml"])
    ]
  }
}
