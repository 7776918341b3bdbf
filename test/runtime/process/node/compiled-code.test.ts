import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import { expect, it } from "vitest"

import { TEMPORARY } from "../../../support/temporary.ts"

const source = (path: string) => new URL(`../../../../src/${path}`, import.meta.url).href

/** Files of compiled code after a process whose thread for HTML has worked. */
const keptBy = (env: NodeJS.ProcessEnv, folder: string) => {
  execFileSync(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      `import { Effect } from "effect"
       import { keepCompiledCode } from "${source("runtime/process/node/compiled-code.ts")}"
       keepCompiledCode()
       const { AssemblyThread } = await import("${source("adapters/html/assembly-thread.ts")}")
       const thread = new AssemblyThread()
       await Effect.runPromise(thread.ask("clean", { html: "<p>Words</p>" }))
       await thread.stop()`
    ],
    { env: { PATH: process.env["PATH"], TMPDIR: folder, ...env } }
  )
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\/[0-9a-f]{8}$/.test(path)
  )
}

it("compiled code is kept, that of threads too, unless Node is to keep none", () => {
  const folder = mkdtempSync(join(TEMPORARY, "postlane-compiled-"))
  try {
    expect(keptBy({ NODE_DISABLE_COMPILE_CACHE: "1" }, folder)).toEqual([])
    // Its own are a few, and those of the reading and writing of HTML many.
    expect(keptBy({}, folder).length).toBeGreaterThan(20)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
