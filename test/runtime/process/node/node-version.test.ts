import { readFileSync } from "node:fs"

import { assert, describe, it } from "vitest"

import { nodeTooOld } from "../../../../src/runtime/process/node/node-version.ts"

describe("the guard against an old Node", () => {
  it.each(["0.10.48", "18.20.8", "20.20.2", "22.18.0"])("refuses %s in one sentence", (version) => {
    assert.match(nodeTooOld(version) ?? "", /^Postlane needs Node 22\.19 or newer, and this is [^\n]+$/)
  })

  it.each(["22.19.0", "22.21.1", "24.0.0", "26.1.0-nightly"])("takes %s", (version) => {
    assert.isUndefined(nodeTooOld(version))
  })

  it("knows the version that package.json asks for", () => {
    const manifest = readFileSync(new URL("../../../../package.json", import.meta.url), "utf8")
    const oldest = /"node": ">=([\d.]+)"/.exec(manifest)?.[1] ?? ""
    assert.isUndefined(nodeTooOld(oldest))
    assert.isDefined(nodeTooOld(oldest.replace(/\.(\d+)\./, (_, minor: string) => `.${Number(minor) - 1}.`)))
  })

  it("comes before everything that an old Node cannot load", () => {
    const importsOf = (file: string) => {
      const text = readFileSync(new URL(`../../../../src/runtime/${file}`, import.meta.url), "utf8")
      return [...text.matchAll(/^import (.*) from "(.+)"$/gm)].map(([, names, from]) => `${names} ${from}`)
    }
    assert.deepStrictEqual(importsOf("entries/cli.ts"), [
      "{ keepCompiledCode } ../process/node/compiled-code.ts",
      "{ nodeTooOld } ../process/node/node-version.ts"
    ])
    // An old Node has these modules, and ends at a name that they do not export.
    assert.deepStrictEqual(importsOf("process/node/compiled-code.ts"), [
      "nodeModule node:module",
      "{ dirname } node:path"
    ])
    assert.deepStrictEqual(importsOf("process/node/node-version.ts"), [])
  })
})
