import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { assert, describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const textOf = (path: string) => readFileSync(`${root}/${path}`, "utf8")

describe("the files to deploy with", () => {
  it.each(["nginx.conf", "Caddyfile", "haproxy.cfg"])("%s closes what is for operators", (name) => {
    for (const path of ["dev", "metrics"])
      expect(textOf(`examples/deploy/${name}`)).toMatch(new RegExp(String.raw`[/(|]${path}\b`))
  })

  it("the unit starts again for ever, after the network, and may do little", () => {
    const unit = new Set(textOf("examples/deploy/postlane.service").split("\n"))
    const wanted = [
      "After=network-online.target postgresql.service",
      "Restart=always",
      "NoNewPrivileges=yes",
      "ProtectSystem=strict",
      "CapabilityBoundingSet="
    ]
    expect(wanted.filter((line) => !unit.has(line))).toEqual([])
    // systemd gives up after five starts within ten seconds.
    const pause = [...unit].find((line) => line.startsWith("RestartSec="))
    expect(Number(pause?.split("=")[1])).toBeGreaterThan(2)
    // Node's compiler writes what it runs.
    expect([...unit].filter((line) => line.startsWith("MemoryDenyWriteExecute"))).toEqual([])
  })
})

it("the workflow names each action by its commit: a tag can be moved", () => {
  const uses = globSync(".github/workflows/*.yml", { cwd: root }).flatMap((path) =>
    [...textOf(path).matchAll(/^\s*(?:- )?uses: *(.*)$/gm)].map(([, action = ""]) => action)
  )
  assert.isAbove(uses.length, 0)
  expect(uses.filter((action) => !/^[\w.-]+\/[\w./-]+@[\da-f]{40} # v\d/.test(action))).toEqual([])
})
