import { copyFile, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { walked } from "../generated-client.ts"
import type { Reference } from "../reference.ts"
import { goTool, must, run } from "../tools.ts"

const SPEC = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

/** What the clients that it makes are built with. */
const MODULES = `module example.com/shop

go 1.24

require (
	github.com/google/uuid v1.6.0
	github.com/oapi-codegen/runtime v1.9.0
)
`

export const oapiCodegen: Reference = {
  name: "oapi-codegen",
  version: "2.8.2",
  checks:
    "the OpenAPI document: a Go client is made of it, compiles, and sends, is refused, pages the log, uploads, converts and fetches the result",
  needs: ["go"],
  install: async ({ cache }) => void (await goTool(cache, SPEC, "oapi-codegen")),
  run: async (place) => {
    const { cache, root, work } = place
    const program = await goTool(cache, SPEC, "oapi-codegen")
    const client = join(work, "postlane")
    await mkdir(client)
    const args = ["-package", "postlane", "-generate", "types,client", "-o", join(client, "client.go")]
    await must(program, [...args, join(root, "public/openapi.json")])
    await writeFile(join(work, "go.mod"), MODULES)
    await copyFile(join(root, "test/outside/oapi-codegen/trial.go"), join(work, "main.go"))
    await must("go", ["mod", "tidy"], { cwd: work })
    await must("go", ["vet", "./..."], { cwd: work })
    await must("go", ["build", "-o", "trial", "."], { cwd: work })
    return [
      { name: "a client is made and compiles", outcome: "held" },
      ...(await walked(place, {
        language: "Go",
        go: (env) => run(join(work, "trial"), [], { cwd: work, env })
      }))
    ]
  }
}
