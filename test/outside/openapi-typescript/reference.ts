import { join } from "node:path"

import type { Reference } from "../reference.ts"
import { must, npmTool } from "../tools.ts"

const SPEC = "openapi-typescript@7.13.0"

export const openapiTypescript: Reference = {
  name: "openapi-typescript",
  version: "7.13.0",
  checks: "the OpenAPI document: types are made of it, and they compile",
  needs: ["npm"],
  install: async ({ cache }) => void (await npmTool(cache, SPEC, "openapi-typescript")),
  run: async ({ cache, root, work }) => {
    const program = await npmTool(cache, SPEC, "openapi-typescript")
    const types = join(work, "schema.d.ts")
    await must(program, [join(root, "public/openapi.json"), "-o", types])
    const tsc = join(root, "node_modules/typescript/bin/tsc")
    await must(process.execPath, [
      tsc,
      "--ignoreConfig",
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "false",
      "--types",
      "",
      types
    ])
    return [{ name: "types are made and compile", outcome: "held" }]
  }
}
