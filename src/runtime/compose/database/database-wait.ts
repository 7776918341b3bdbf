import { Effect, Result, Schedule } from "effect"

import { openWaitingRoom } from "../../../adapters/http/server/waiting-room.ts"
import type { Settings } from "../../settings/settings.ts"
import { requireAnswer } from "./database-start.ts"

/** How often a database that does not answer is asked again. */
const ASK_EVERY = "1 second"

/**
 * Waits for the database of a server: at the start of a machine it may come later. One that refuses the server ends the start at once;
 * whether one that answers can be worked on is looked at next. Returns what runs right before the server listens.
 */
export const awaitDatabase = Effect.fnUntraced(function* (
  { database, embedded, http }: Pick<Settings, "database" | "embedded" | "http">,
  beforeListen: Effect.Effect<void>
) {
  if (embedded || database === undefined) return beforeListen
  const first = yield* Effect.result(requireAnswer(database))
  if (Result.isSuccess(first)) return beforeListen
  if (first.failure.isAway !== true) return yield* first.failure
  yield* beforeListen
  const room = yield* openWaitingRoom(http, "The database does not answer yet")
  yield* Effect.logWarning(
    `${first.failure.message} This process waits for it; meanwhile http://${http.host}:${http.port}/ready says that it is not ready.`
  )
  yield* Effect.retry(requireAnswer(database), {
    schedule: Schedule.spaced(ASK_EVERY),
    while: ({ isAway }) => isAway === true
  })
  yield* Effect.logInfo("the database answers: this process starts")
  return room.close
})
