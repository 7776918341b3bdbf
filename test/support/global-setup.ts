import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { TestProject } from "vitest/node"

import { layerSingle, layerSqlClient } from "../../src/adapters/postgres/client.ts"
import { migrate } from "../../src/adapters/postgres/migrator.ts"
import { MIGRATIONS } from "../../src/runtime/process/package.ts"
import { startTestServer } from "./postgres/postgres-server.ts"
import { bundle } from "./processes/bundle.ts"
import { COMPILED } from "./processes/bundled-programs.ts"
import { propertySeeds } from "./two-seeds.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** The shared server; its database `postlane_template` is migrated and copied by each test file. */
    postgresUrl: string
  }
}

const client = (url: string) => layerSqlClient.pipe(Layer.provide(layerSingle({ url: Redacted.make(url) })))

const makeTemplate = async (url: string) => {
  const template = new URL(url)
  template.pathname = "/postlane_template"
  const create = SqlClient.SqlClient.use((sql) => sql.unsafe("create database postlane_template").unprepared)
  await Effect.runPromise(create.pipe(Effect.provide(client(url))))
  await Effect.runPromise(
    migrate(MIGRATIONS).pipe(Effect.provide([client(template.href), NodeServices.layer]))
  )
}

/** Starts one server for the whole run, and ends it after. */
export default async function setup(project: TestProject) {
  // Workers, and the processes that tests start, compile what they import once.
  process.env["NODE_COMPILE_CACHE"] ??= COMPILED
  const seeds = propertySeeds()
  if (seeds.length > 0) console.log(`Properties run on the seeds ${seeds.join(" and ")} (PROPERTY_SEED)`)
  const server = await startTestServer()
  try {
    await Promise.all([makeTemplate(server.url), bundle()])
  } catch (error) {
    await server.stop()
    throw error
  }
  project.provide("postgresUrl", server.url)
  project.onTestsRerun(() => bundle())
  return server.stop
}
