import { spawn, spawnSync } from "node:child_process"
import { text } from "node:stream/consumers"

import { assert, describe, it } from "vitest"

const MODULE = new URL("../../../src/runtime/process/few-arenas.ts", import.meta.url).href
const PROGRAM = `
  import { keepArenasFew } from ${JSON.stringify(MODULE)}
  keepArenasFew()
  console.log(JSON.stringify([process.pid, process.env.MALLOC_ARENA_MAX, process.execArgv.length, process.env.KEPT]))
`

const run = (env: Readonly<Record<string, string>>) => {
  const ran = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", PROGRAM], {
    encoding: "utf8",
    env: { ...env, KEPT: "kept" }
  })
  assert.strictEqual(ran.stderr, "")
  return { pid: ran.pid, said: JSON.parse(ran.stdout) as ReadonlyArray<unknown> }
}

describe.runIf(process.platform === "linux")("arenas of the C library", () => {
  it("are two, in the same process with the same flags and environment", () => {
    const { pid, said } = run({})
    assert.deepStrictEqual(said, [pid, "2", 3, "kept"])
  })

  it("are left alone where a parent talks to the process, whose channel would be lost", async () => {
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", PROGRAM], {
      env: {},
      stdio: ["ignore", "pipe", "inherit", "ipc"]
    })
    assert.deepStrictEqual(JSON.parse(await text(child.stdout!)), [child.pid, null, 3, null])
  })

  it("are as many as the environment says", () => {
    assert.strictEqual(run({ MALLOC_ARENA_MAX: "5" }).said[1], "5")
  })
})
