import { existsSync } from "node:fs"
import { chmod, mkdir, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"

import { programOf } from "../../support/processes/child.ts"
import type { Place, Reference } from "../reference.ts"
import { must, run } from "../tools.ts"

const SPECS = [
  "fastapi==0.115.12",
  "httpx==0.28.1",
  "pytest==8.3.5",
  "python-multipart==0.0.20",
  "typing-extensions==4.15.0"
]

const homeOf = ({ cache }: Pick<Place, "cache">) => join(cache, "back-office")

/** The tests of the FastAPI example, as its users run them; `npx postlane` is this checkout's. */
export const backOffice: Reference = {
  name: "back-office",
  version: "fastapi 0.115.12",
  checks: "the tests of examples/back-office, with clients/python as pip installs it",
  needs: ["python3"],
  install: async (place) => {
    const home = homeOf(place)
    if (existsSync(join(home, "bin", "pytest"))) return
    await must("python3", ["-m", "venv", home])
    await must(join(home, "bin", "pip"), ["install", "--quiet", "--disable-pip-version-check", ...SPECS])
  },
  run: async (place) => {
    const bin = join(homeOf(place), "bin")
    const install = ["install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"]
    await must(join(bin, "pip"), [...install, join(place.root, "clients/python")])
    const programs = join(place.work, "bin")
    await mkdir(programs)
    const npx = join(programs, "npx")
    const cli = programOf("src/runtime/entries/cli.ts")
    await writeFile(npx, `#!/bin/sh\nshift\nexec ${process.execPath} ${cli} "$@"\n`)
    await chmod(npx, 0o755)
    const env = { PATH: `${programs}${delimiter}${process.env["PATH"] ?? ""}`, PYTHONDONTWRITEBYTECODE: "1" }
    const args = ["-q", "-p", "no:cacheprovider", join(place.root, "examples/back-office")]
    const { code, stderr, stdout } = await run(join(bin, "pytest"), args, { cwd: place.work, env })
    const found = [...stdout.matchAll(/^(?:=+ )?(\d+) passed\b/gm)].at(-1)?.[1] ?? "no"
    return [
      code === 0 && Number(found) > 0
        ? { name: `${found} tests pass`, outcome: "held" }
        : { name: "its tests pass", outcome: "failed", detail: `${stdout}${stderr}`.slice(-3000) }
    ]
  }
}
