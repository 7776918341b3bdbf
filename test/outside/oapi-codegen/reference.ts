import { writeFile } from "node:fs/promises"
import { join } from "node:path"

import type { Reference } from "../reference.ts"
import { goTool, must } from "../tools.ts"

const SPEC = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

export const oapiCodegen: Reference = {
  name: "oapi-codegen",
  version: "2.8.2",
  checks: "the OpenAPI document: a Go client is made of it, and it compiles",
  needs: ["go"],
  install: async ({ cache }) => void (await goTool(cache, SPEC, "oapi-codegen")),
  run: async ({ cache, root, work }) => {
    const program = await goTool(cache, SPEC, "oapi-codegen")
    const client = join(work, "client.go")
    await must(program, [
      "-package",
      "postlane",
      "-generate",
      "types,client",
      "-o",
      client,
      join(root, "public/openapi.json")
    ])
    await writeFile(join(work, "go.mod"), "module example.com/postlane\n\ngo 1.24\n")
    await must("go", ["mod", "tidy"], { cwd: work })
    await must("go", ["vet", "./..."], { cwd: work })
    return [{ name: "a client is made and compiles", outcome: "held" }]
  }
}
