import { randomInt } from "node:crypto"
import { createServer } from "node:net"

import { Effect } from "effect"

import { EmbeddedPostgresError } from "./error.ts"

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

/** The port of an earlier run where it is free (its URL may be written down somewhere), else another one. */
export const choosePort = Effect.fnUntraced(function* (wanted: number | undefined) {
  if (wanted !== undefined && (yield* isFree(wanted))) return wanted
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = randomInt(PORT_MIN, PORT_MAX)
    if (yield* isFree(port)) return port
  }
  return yield* new EmbeddedPostgresError({
    problem: "start",
    message: `No free port between ${PORT_MIN} and ${PORT_MAX} on 127.0.0.1. Stop what holds them, or set DB_URL.`
  })
})
