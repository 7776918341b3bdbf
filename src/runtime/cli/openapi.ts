import { Console } from "effect"
import { Command } from "effect/cli"

import { openApiText } from "../../adapters/http/routes/api.ts"

/** `postlane openapi`. */
export const openapi = Command.make("openapi", {}, () => Console.log(openApiText().trimEnd())).pipe(
  Command.withDescription(
    "Print the OpenAPI document of the HTTP API, as a running Postlane serves it at /openapi.json."
  ),
  Command.withExamples([
    { command: "postlane openapi > openapi.json", description: "For a generator of clients" }
  ])
)
