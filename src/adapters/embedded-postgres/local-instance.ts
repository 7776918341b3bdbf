import { access } from "node:fs/promises"
import { resolve } from "node:path"

import { Effect, Option, type Redacted } from "effect"

import { acceptsConnections } from "./accepts.ts"
import { connectionUrl, placesIn, readConnection } from "./data-folder.ts"
import type { EmbeddedPostgresError } from "./error.ts"

/** Whether an embedded server has run on a data folder, and runs now. */
export type LocalInstance =
  | { readonly _tag: "None" }
  | { readonly _tag: "Stopped" }
  | { readonly _tag: "Running"; readonly url: Redacted.Redacted }

/** Looks at a data folder without making or changing anything in it. */
export const findLocalInstance = Effect.fnUntraced(function* (
  dataDir: string
): Effect.fn.Return<LocalInstance, EmbeddedPostgresError> {
  const folder = placesIn(resolve(dataDir))
  const connection = yield* readConnection(folder)
  if (Option.isNone(connection)) {
    const ran = yield* Effect.promise(() =>
      access(folder.folder).then(
        () => true,
        () => false
      )
    )
    return ran ? { _tag: "Stopped" } : { _tag: "None" }
  }
  return (yield* acceptsConnections(connection.value.port))
    ? { _tag: "Running", url: connectionUrl(connection.value) }
    : { _tag: "Stopped" }
})
