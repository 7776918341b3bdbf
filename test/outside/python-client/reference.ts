import { existsSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"

import { startAttacked } from "../../hostile/server.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { checksIn } from "../installation.ts"
import type { Check, Place, Reference } from "../reference.ts"
import { must, run } from "../tools.ts"

const SPECS = ["httpx==0.28.1", "typing-extensions==4.15.0", "mypy==1.18.2"]

const homeOf = ({ cache }: Pick<Place, "cache">) => join(cache, "python-client")

const CREDENTIALS = {
  OWNER_TOKEN: "outside-owner-token",
  PROXY_SHARED_SECRET: "outside-proxy-secret",
  ADMIN_TOKEN: "outside-admin-token"
}

/** Our own client, on others' ground: Python, httpx and mypy. */
export const pythonClient: Reference = {
  name: "python-client",
  version: "httpx 0.28.1",
  checks: "clients/python as pip installs it, under mypy --strict and against a running server",
  needs: ["python3"],
  install: async (place) => {
    const home = homeOf(place)
    if (!existsSync(join(home, "bin", "mypy"))) {
      await must("python3", ["-m", "venv", home])
      await must(join(home, "bin", "pip"), ["install", "--quiet", "--disable-pip-version-check", ...SPECS])
    }
  },
  run: async (place) => {
    const bin = join(homeOf(place), "bin")
    const source = join(place.root, "clients/python")
    const install = ["install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"]
    await must(join(bin, "pip"), [...install, source])
    const typed = await run(join(bin, "mypy"), [
      "--strict",
      "--cache-dir",
      place.work,
      join(source, "src/postlane")
    ])
    const types: Check =
      typed.code === 0
        ? { name: "its types hold", outcome: "held" }
        : { name: "its types hold", outcome: "failed", detail: typed.stdout }
    const pdf = join(place.work, "report.pdf")
    await writeFile(pdf, numbered(3))
    const server = await startAttacked(CREDENTIALS)
    try {
      const trial = join(place.root, "test/outside/python-client/trial.py")
      const { ADMIN_TOKEN, OWNER_TOKEN, PROXY_SHARED_SECRET } = CREDENTIALS
      const args = [trial, server.url, OWNER_TOKEN, PROXY_SHARED_SECRET, ADMIN_TOKEN, pdf]
      return [types, ...checksIn(await run(join(bin, "python"), args))]
    } finally {
      await server.stop()
    }
  }
}
