import { randomInt } from "node:crypto"
import { connect, createServer } from "node:net"

import { Duration, Effect } from "effect"

import { EmbeddedPostgresError } from "./error.ts"

const ANSWER_TIMEOUT = Duration.seconds(2)

/** PostgreSQL's start-up message, protocol 3.0: its length, the version, then name and value pairs up to an empty name. */
const startup = (): Buffer => {
  const body = Buffer.from("user\0postgres\0database\0postgres\0\0")
  const head = Buffer.alloc(8)
  head.writeInt32BE(head.length + body.length, 0)
  head.writeInt32BE(0x0003_0000, 4)
  return Buffer.concat([head, body])
}

/**
 * Whether the server on `port` takes connections. It asks for a password (`R`) only then; while it starts or recovers it
 * refuses (`E`, SQLSTATE 57P03). This does not depend on `postmaster.pid`, which a full disk keeps from being written.
 */
export const acceptsConnections = (port: number): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(startup()))
    const answer = (accepts: boolean) => {
      socket.destroy()
      resume(Effect.succeed(accepts))
    }
    socket.setTimeout(Duration.toMillis(ANSWER_TIMEOUT), () => answer(false))
    socket.once("data", (data) => answer(data[0] === "R".charCodeAt(0)))
    socket.once("error", () => answer(false))
    socket.once("close", () => answer(false))
    return Effect.sync(() => void socket.destroy())
  })

/**
 * Below the ports that systems give to outgoing connections (Linux from 32768, others from 49152): on one of those, a client
 * that tries again while the server is down would now and then be connected to itself.
 */
const PORT_MIN = 20_000
const PORT_MAX = 32_000

const TRIES_MAX = 100

/** Whether the port can be listened on, on loopback. */
const isFree = (port: number): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const probe = createServer()
    probe.once("error", () => resume(Effect.succeed(false)))
    probe.listen(port, "127.0.0.1", () => probe.close(() => resume(Effect.succeed(true))))
  })

/** A port that is probably free. */
export const newPort = (): number => randomInt(PORT_MIN, PORT_MAX)

/** The port of an earlier run where it is free (its URL may be written down somewhere), else another one. */
export const choosePort = Effect.fnUntraced(function* (wanted: number | undefined) {
  if (wanted !== undefined && (yield* isFree(wanted))) return wanted
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = newPort()
    if (yield* isFree(port)) return port
  }
  return yield* new EmbeddedPostgresError({
    problem: "start",
    message: `No free port between ${PORT_MIN} and ${PORT_MAX} on 127.0.0.1. Stop what holds them, or set DB_URL.`
  })
})
