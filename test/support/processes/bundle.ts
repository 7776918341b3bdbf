import { mkdir, rm, symlink } from "node:fs/promises"
import { join } from "node:path"

import { bundlePrograms, copyAssets, root } from "../../../scripts/bundle.ts"
import { PACKAGE, PROGRAMS } from "./bundled-programs.ts"
import { BUNDLED } from "./child.ts"

/** Bundles what tests start as processes and threads, which then start in half of the processor time. */
export const bundle = async (): Promise<void> => {
  await rm(PACKAGE, { recursive: true, force: true })
  await mkdir(PROGRAMS, { recursive: true })
  for (const name of ["package.json", "migrations"]) await symlink(join(root, name), join(PACKAGE, name))
  copyAssets(PROGRAMS)
  await bundlePrograms(
    PROGRAMS,
    BUNDLED.filter((file) => file !== "src/runtime/cli.ts")
  )
  process.env["POSTLANE_TEST_PROGRAMS"] = PROGRAMS
}
