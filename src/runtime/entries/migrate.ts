import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Result } from "effect"

import { migrateDatabase, shownUrl } from "../compose/database/database-start.ts"
import { CannotStart, endWithWords } from "../process/run-program.ts"
import { decodeSettings, formatProblems } from "../settings/settings.ts"

/** `npm run migrate`: applies the numbered migrations to `DB_URL`. */
const program = Effect.gen(function* () {
  const decoded = decodeSettings({ DB_URL: process.env["DB_URL"], ...process.env }, { embedded: true })
  if (Result.isFailure(decoded)) {
    return yield* new CannotStart({
      message: `These settings are wrong:\n${formatProblems(decoded.failure)}`
    })
  }
  const { database } = decoded.success
  if (database === undefined) {
    return yield* new CannotStart({
      message:
        "DB_URL is unset: set it to postgres://user@host:port/database, and the password in DB_SECRET_KEY"
    })
  }
  const applied = yield* migrateDatabase(database)
  yield* Console.log(
    applied.length === 0
      ? `${shownUrl(database.url)} is up to date`
      : `${shownUrl(database.url)}: applied ${applied.join(", ")}`
  )
})

NodeRuntime.runMain(endWithWords(program), { disableErrorReporting: true })
