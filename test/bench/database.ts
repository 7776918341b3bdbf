import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import * as Context from "effect/Context"

import { EmbeddedPostgres, layer } from "../../src/adapters/embedded-postgres/embedded-postgres.ts"
import { migrateDatabase } from "../../src/runtime/compose/database/database-start.ts"
import { servePeer } from "./process.ts"

/** The embedded PostgreSQL with its default settings on a new folder, migrated, until it is stopped. */
const folder = await mkdtemp(join(tmpdir(), "postlane-bench-"))
// PostgreSQL's system user must get in where this runs as root.
await chmod(folder, 0o755)
const scope = Scope.makeUnsafe()
const context = await Effect.runPromise(Scope.provide(Layer.build(layer(folder)), scope))
const { url } = Context.get(context, EmbeddedPostgres)
await Effect.runPromise(migrateDatabase({ url }))

process.once("SIGTERM", () => {
  void Effect.runPromise(Scope.close(scope, Exit.void))
    .then(() => rm(folder, { recursive: true, force: true }))
    .then(() => process.exit(0))
})
servePeer({ url: Redacted.value(url) }, () => ({}))
