import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"

import type { Reference } from "../reference.ts"
import { must, run } from "../tools.ts"

export const systemd: Reference = {
  name: "systemd",
  version: "as installed",
  checks: "the unit of docs/operate/install.md: no complaint of `verify`, and little exposure",
  needs: ["systemd-analyze"],
  install: async () => {},
  run: async ({ root, work }) => {
    const docs = await readFile(join(root, "docs/operate/install.md"), "utf8")
    const unit = /```ini\n(\[Unit\][\s\S]*?)```/.exec(docs)?.[1]
    if (unit === undefined) throw new Error("docs/operate/install.md has no unit")
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
