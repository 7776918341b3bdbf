import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

import { ManagedRuntime } from "effect"
import { afterAll, assert, describe, it, onTestFinished } from "vitest"

import { startersOf } from "../../../src/runtime/process/starter.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { makeFolder, programOf } from "../../support/processes/child.ts"

const ROOT = fileURLToPath(new URL("../../../", import.meta.url))

/** What npm does: runs the script in a shell, tells its pid, and lives as long as that. */
const NPM = `
const { spawn } = require("node:child_process")
const shell = spawn("/bin/sh", ["-c", process.argv[1]], { stdio: ["ignore", "inherit", "inherit"] })
console.log(JSON.stringify({ shell: shell.pid }))
shell.on("exit", (code) => process.exit(code))
`

describe("a server that npm start started", () => {
  const postgres = ManagedRuntime.make(layerPostgres)
  afterAll(() => postgres.dispose())

  it.each(["npm", "shell"] as const)("ends cleanly where the %s above it is killed", async (killed) => {
    const { url } = await postgres.runPromise(TestDatabase)
    const folder = await makeFolder()
    const npm = spawn(
      process.execPath,
      // The shell stays above the server: it has something left to do.
      ["-e", NPM, `"${process.execPath}" ${programOf("src/runtime/entries/start.ts")}; exit $?`],
      {
        cwd: ROOT,
        env: {
          PATH: process.env["PATH"],
          npm_lifecycle_event: "start",
          DB_URL: url,
          POSTLANE_DATA_DIR: folder.path,
          POSTLANE_ROLES: "api",
          PORT: "0"
        },
        stdio: ["ignore", "pipe", "inherit"],
        // A group of its own, so that a test that fails leaves nobody behind.
        detached: true
      }
    )
    onTestFinished(() => {
      try {
        process.kill(-npm.pid!, "SIGKILL")
      } catch (error) {
        assert.propertyVal(error, "code", "ESRCH")
      }
    })
    const lines: Array<string> = []
    // The server holds this output for as long as it lives.
    const allGone = once(npm.stdout, "close")
    let shell: number | undefined
    for await (const line of createInterface({ input: npm.stdout })) {
      lines.push(line)
      shell ??= line.startsWith('{"shell"') ? Number(JSON.parse(line).shell) : undefined
      if (line.includes("Postlane is up")) process.kill(killed === "npm" ? npm.pid! : shell!, "SIGKILL")
    }
    await allGone
    assert.include(lines.join("\n"), "npm, which started this process, is gone")
    assert.notInclude(lines.join("\n"), "crashed")
    await folder.remove()
  })
})

it("a server that something else started looks after nobody", () => {
  assert.deepStrictEqual(startersOf({}, process.pid), [])
  assert.deepStrictEqual(startersOf({ npm_lifecycle_event: "serve" }, process.pid), [])
  // Started by npm without a shell between them.
  assert.deepStrictEqual(startersOf({ npm_lifecycle_event: "start" }, process.pid), [process.pid])
  assert.deepStrictEqual(startersOf({ npm_lifecycle_event: "npx" }, process.pid), [process.pid])
})
