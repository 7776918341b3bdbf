import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"

import type { Reference } from "../reference.ts"
import { must, run } from "../tools.ts"

export const systemd: Reference = {
  name: "systemd",
  version: "as installed",
  checks: "examples/deploy/postlane.service: no complaint of `verify`, and little exposure",
  needs: ["systemd-analyze"],
  install: async () => {},
  run: async ({ root, work }) => {
    const unit = await readFile(join(root, "examples/deploy/postlane.service"), "utf8")
    const path = join(work, "postlane.service")
    // Its programs and its user are the reader's.
    await writeFile(
      path,
      unit.replaceAll(/^ExecStart=\S+/gm, "ExecStart=/bin/true").replaceAll(/^User=.*/gm, "User=daemon")
    )
    const { code, stderr } = await run("systemd-analyze", ["verify", path])
    const exposure = await must("systemd-analyze", ["security", "--offline=true", "--no-pager", path])
    const level = Number(/exposure level for \S+: ([\d.]+)/.exec(exposure)?.[1] ?? 10)
    return [
      {
        name: "verify",
        outcome: code === 0 && stderr.trim() === "" ? "held" : "failed",
        detail: stderr.trim()
      },
      { name: `exposure ${level}, at most 3`, outcome: level <= 3 ? "held" : "failed" }
    ]
  }
}
