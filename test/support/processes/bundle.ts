import { mkdir, rm, symlink } from "node:fs/promises"
import { dirname, join } from "node:path"

import { bundlePrograms, copyAssets, root } from "../../../scripts/bundle.ts"
import { PROGRAMS } from "./bundled-programs.ts"
import { BUNDLED } from "./child.ts"

/**
 * Bundles what tests start as processes and threads, which then start in half of the processor time. `programs`: a folder three below
 * one of its own, which is laid out as the package is; tests that begin write theirs anew.
 */
export const bundle = async (programs: string = PROGRAMS): Promise<void> => {
  const folder = dirname(dirname(dirname(programs)))
  await rm(folder, { recursive: true, force: true })
  await mkdir(programs, { recursive: true })
  for (const name of ["package.json", "migrations"]) await symlink(join(root, name), join(folder, name))
  copyAssets(programs)
  await bundlePrograms(
    programs,
    BUNDLED.filter((file) => file !== "src/runtime/entries/cli.ts")
  )
  process.env["POSTLANE_TEST_PROGRAMS"] = programs
}
