import { spawn, type ChildProcess } from "node:child_process"
import { open } from "node:fs/promises"

import { Deferred, Duration, Effect, Option } from "effect"

import type { Binaries } from "./binaries.ts"
import type { ClusterPlace } from "./cluster-place.ts"
import type { DataFolder } from "./data-folder.ts"
import { EmbeddedPostgresError, fileWork } from "./error.ts"
import { acceptsConnections } from "./port.ts"
import { clearLeftovers, readPostmaster, stopBySteps } from "./postmaster.ts"
import { runAs } from "./run-program.ts"
import { boundLog, logEnd, whyEnded } from "./server-log.ts"

const POLL = Duration.millis(20)

/** A start that takes longer is logged (it is recovering) and waited for while its process lives. */
const SLOW_START = Duration.seconds(10)

/** What a server runs on. */
export interface ServerPlace extends ClusterPlace {
  readonly binaries: Binaries
  readonly folder: DataFolder
  readonly port: number
}

/** A server process of ours. */
export interface Server {
  readonly pid: number
  /** Ends when the process has ended, with the reason for a person. */
  readonly ended: Effect.Effect<string>
  /** Stops it: cleanly within eight seconds, else at once. Ends when it is gone. */
  readonly stop: Effect.Effect<void>
}

/**
 * Everything else is PostgreSQL's default, `fsync` and `synchronous_commit` included. A failing statement is not logged and
 * errors are terse: statements and details hold addresses and messages. A crash ends the whole server, and it is started again
 * from here: left to itself it recovers in the same process, and where that fails (a full disk) PostgreSQL 18.4 can stay forever
 * without a startup process, refusing every connection.
 */
const serverArguments = ({ cluster, port }: ServerPlace): ReadonlyArray<string> => {
  const settings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    max_connections: "100",
    restart_after_crash: "off",
    cluster_name: "postlane",
    log_checkpoints: "off",
    log_error_verbosity: "terse",
    log_min_error_statement: "panic",
    logging_collector: "off"
  }
  return ["-D", cluster, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])]
}

/** Where the program ends without closing its scopes, the server gets SIGINT; nothing waits for it. */
const stopAtExit = (child: ChildProcess) => {
  const stop = () => child.kill("SIGINT")
  process.once("exit", stop)
  return () => process.removeListener("exit", stop)
}

const launch = Effect.fnUntraced(function* (place: ServerPlace) {
  const { account, binaries, cluster, folder } = place
  yield* boundLog(folder.log)
  const from = yield* logEnd(folder.log)
  const log = yield* fileWork(`open ${folder.log}`, () => open(folder.log, "a", 0o600))
  const exited = Deferred.makeUnsafe<string>()
  const pid = yield* Effect.sync(() => {
    // A separate session, so that Ctrl-C in the terminal reaches only this process, which stops the server last.
    const child = spawn(binaries.postgres, serverArguments(place), {
      ...runAs(account),
      detached: true,
      stdio: ["ignore", log.fd, log.fd]
    })
    const forget = stopAtExit(child)
    const end = (how: string) => {
      forget()
      Deferred.doneUnsafe(exited, Effect.succeed(how))
    }
    child.once("error", (error) => end(`it could not be started (${error.message})`))
    child.once("exit", (code, name) =>
      end(name === null ? `it ended with code ${code}` : `it was ended by ${name}`)
    )
    return child.pid
  }).pipe(Effect.ensuring(Effect.promise(() => log.close())))
  const gone = Deferred.await(exited)
  if (pid === undefined) {
    return yield* new EmbeddedPostgresError({
      problem: "start",
      message: `PostgreSQL is down: ${yield* gone}`
    })
  }
  const server: Server = {
    pid,
    ended: Effect.flatMap(gone, (how) => whyEnded(how, cluster, folder.log, from)),
    stop: Effect.suspend(() => (Deferred.isDoneUnsafe(exited) ? Effect.void : stopBySteps(pid, gone)))
  }
  return server
})

/** A server that has not written that it is ready is asked this often: on a full disk it cannot write it. */
const ASK_EVERY = Duration.seconds(1)

const untilReady = (server: Server, { cluster, port }: ServerPlace) => {
  const written = readPostmaster(cluster).pipe(
    Effect.map(Option.exists(({ pid, status }) => pid === server.pid && status === "ready")),
    // The file is written in steps; a read that fails meanwhile is no more than "not yet".
    Effect.catch(() => Effect.succeed(false)),
    Effect.tap((ready) => (ready ? Effect.void : Effect.sleep(POLL))),
    Effect.repeat({ until: (ready) => ready })
  )
  const answered = acceptsConnections(port).pipe(
    Effect.delay(ASK_EVERY),
    Effect.repeat({ until: (accepts) => accepts })
  )
  return Effect.raceFirst(written, answered)
}

const sayThatItIsSlow = Effect.logInfo("PostgreSQL is still recovering its database").pipe(
  Effect.delay(SLOW_START),
  Effect.forever
)

/**
 * Starts a server, after whatever an earlier one left behind is cleared, and waits until it takes connections. The server is
 * handed to `onLaunch` at once, so that it can be stopped while it is still starting. No limit on the wait: recovering a
 * database after a crash takes its time, and a server that gives up ends.
 */
export const startServer = Effect.fnUntraced(function* (
  place: ServerPlace,
  onLaunch: (server: Server) => void
) {
  yield* clearLeftovers(place.cluster)
  const server = yield* Effect.uninterruptible(
    Effect.tap(launch(place), (one) => Effect.sync(() => onLaunch(one)))
  )
  const ended = Effect.flatMap(server.ended, (message) =>
    Effect.fail(new EmbeddedPostgresError({ problem: "start", message: `PostgreSQL is down: ${message}` }))
  )
  yield* Effect.raceFirst(untilReady(server, place), Effect.raceFirst(ended, sayThatItIsSlow))
  return server
})
