import { join } from "node:path"

import { type Artefact, judged, type Reference } from "../reference.ts"
import { must, pip, run } from "../tools.ts"

const SPEC = "openapi-python-client==0.29.1"

const ARTEFACTS: ReadonlyArray<Artefact> = [
  {
    pattern: /Unsupported content_type (?:image\/png|application\/zip|message\/rfc822)/,
    reason:
      "the generator reads JSON and text answers only; what it leaves out is a picture, an archive and a raw mail"
  }
]

export const openapiPythonClient: Reference = {
  name: "openapi-python-client",
  version: "0.29.1",
  checks: "the OpenAPI document: a typed Python client is made of it without a warning, and its modules load",
  needs: ["python3"],
  install: async ({ cache }) => void (await pip(cache, SPEC, "openapi-python-client")),
  run: async ({ cache, root, work }) => {
    const program = await pip(cache, SPEC, "openapi-python-client")
    const home = join(work, "client")
    const { code, stderr, stdout } = await run(program, [
      "generate",
      "--path",
      join(root, "public/openapi.json"),
      "--output-path",
      home,
      "--meta",
      "none"
    ])
    const said = `${stdout}\n${stderr}`
    if (code !== 0) throw new Error(said)
    const warnings = said
      .split(/\n(?=WARNING |ERROR |Unable to )/)
      .slice(1)
      .map((one) => one.replaceAll(/\s+/g, " ").slice(0, 300))
    const load =
      "import sys, pkgutil, importlib; sys.path.insert(0, sys.argv[1]); import client; " +
      "[importlib.import_module(m.name) for m in pkgutil.walk_packages(client.__path__, 'client.')]"
    await must(join(program, "..", "python"), ["-c", load, work])
    return [{ name: "a client is made and loads", outcome: "held" }, ...judged(warnings, ARTEFACTS)]
  }
}
