#!/usr/bin/env node
import { keepCompiledCode } from "../process/node/compiled-code.ts"
import { nodeTooOld } from "../process/node/node-version.ts"

const refused = nodeTooOld(process.versions.node)
if (refused === undefined) {
  keepCompiledCode()
  const { main } = await import("../cli/main.ts")
  main()
} else {
  process.stderr.write(`${refused}\n`)
  process.exitCode = 1
}
