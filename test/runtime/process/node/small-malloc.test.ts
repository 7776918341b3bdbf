import { spawn, spawnSync } from "node:child_process"
import { text } from "node:stream/consumers"

import { assert, describe, it } from "vitest"

const MODULE = new URL("../../../../src/runtime/process/node/small-malloc.ts", import.meta.url).href
const PROGRAM = `
  import { keepMallocSmall } from ${JSON.stringify(MODULE)}
  keepMallocSmall()
  console.log(JSON.stringify([process.pid, process.env.MALLOC_ARENA_MAX, process.env.MALLOC_MMAP_THRESHOLD_, process.execArgv.length, process.env.KEPT]))
`

const run = (env: Readonly<Record<string, string>>) => {
  const ran = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", PROGRAM], {
    encoding: "utf8",
    env: { ...env, KEPT: "kept" }
  })
  assert.strictEqual(ran.stderr, "")
  return { pid: ran.pid, said: JSON.parse(ran.stdout) as ReadonlyArray<unknown> }
}

describe.runIf(process.platform === "linux")("settings of the C library", () => {
  it("are set in the same process, with the same flags and environment", () => {
    const { pid, said } = run({})
    assert.deepStrictEqual(said, [pid, "2", "131072", 3, "kept"])
  })

  it("are left alone where a parent talks to the process, whose channel would be lost", async () => {
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", PROGRAM], {
      env: {},
      stdio: ["ignore", "pipe", "inherit", "ipc"]
    })
    assert.deepStrictEqual(JSON.parse(await text(child.stdout!)), [child.pid, null, null, 3, null])
  })

  it("are those of the environment", () => {
    assert.deepStrictEqual(run({ MALLOC_ARENA_MAX: "5" }).said.slice(1, 3), ["5", null])
    assert.deepStrictEqual(run({ MALLOC_MMAP_THRESHOLD_: "65536" }).said.slice(1, 3), ["2", "65536"])
  })
})
