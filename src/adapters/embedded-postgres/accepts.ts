import { connect } from "node:net"

import { Duration, Effect } from "effect"

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
