import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** How many requests of one connection may wait for their turn (pipelining). The connection ends after those. */
export const MOST_WAITING = 32

/** How long requests may be begun in one turn of the event loop before the rest waits for the next turn, milliseconds. */
const TURN_MS = 20

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** A request that has not begun. */
interface Waiting {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly listener: Listener
}

/** What one connection has sent and not been answered; the first of them has begun. */
interface Line {
  readonly requests: Array<Waiting>
  /** Whether it has sent too many: what comes now is not looked at, and the connection ends after the last answer. */
  full: boolean
}

/**
 * Begins things as they come while this turn of the event loop has time for them, and the rest in order, some each turn: a
 * thousand connections with one cheap request each hold the loop no longer than one of them.
 */
const makeTurns = () => {
  const ready: Array<() => void> = []
  let turnBegan: number | undefined
  const endTurn = (): void => {
    turnBegan = undefined
    // At least one, whatever the clock says.
    do ready.shift()?.()
    while (ready.length > 0 && hasTime())
  }
  const hasTime = (): boolean => {
    if (turnBegan === undefined) {
      turnBegan = performance.now()
      setImmediate(endTurn)
    }
    return performance.now() - turnBegan < TURN_MS
  }
  return {
    now: (begin: () => void): void => {
      if (ready.length === 0 && hasTime()) begin()
      else {
        ready.push(begin)
        hasTime()
      }
    },
    later: (begin: () => void): void => {
      ready.push(begin)
      hasTime()
    }
  }
}

/** Events by which Node hands over a request. */
const EVENTS = ["request", "checkContinue"] as const

/**
 * Keeps the requests that arrive while the server listens and its routes are still being built, since they would never be
 * answered. The result runs `ready` and then passes them to the listeners other than those of `before`, which saw them on arrival.
 */
export const keepEarly = (server: Server, before: ReadonlySet<unknown>): ((ready: () => void) => void) => {
  const early: Array<{
    readonly event: string
    readonly request: IncomingMessage
    readonly response: ServerResponse
  }> = []
  const keepers = EVENTS.map((event) => {
    const keep: Listener = (request, response) => void early.push({ event, request, response })
    server.on(event, keep)
    return () => void server.off(event, keep)
  })
  return (ready) => {
    for (const forget of keepers) forget()
    ready()
    for (const { event, request, response } of early)
      for (const listener of server.listeners(event) as Array<Listener>)
        if (!before.has(listener) && !request.socket.destroyed) listener.call(server, request, response)
  }
}

/**
 * Has the requests of a connection take turns, one at a time, and the connections, too. Node hands over all requests that one
 * packet holds at once, thousands of them: answers go out in order anyway (RFC 9112, section 9.3.2), so that no answer is delayed,
 * and other connections get theirs (HTTP-12).
 *
 * Call it after the request listeners were added. The listeners of `before` see each request on arrival.
 */
export const takeTurns = (server: Server, before: ReadonlySet<unknown> = new Set()): void => {
  const turns = makeTurns()
  const lines = new WeakMap<Socket, Line>()

  const begin = ({ listener, request, response }: Waiting): void => {
    response.once("close", () => ended(request.socket))
    listener(request, response)
  }

  const ended = (socket: Socket): void => {
    const line = lines.get(socket)
    line?.requests.shift()
    const next = line?.requests[0]
    if (line === undefined || next === undefined || socket.destroyed) return void lines.delete(socket)
    turns.later(() => (socket.destroyed ? lines.delete(socket) : begin(next)))
  }

  const take = (waiting: Waiting): void => {
    const { socket } = waiting.request
    const line = lines.get(socket)
    if (line === undefined) {
      lines.set(socket, { requests: [waiting], full: false })
      return turns.now(() => (socket.destroyed ? lines.delete(socket) : begin(waiting)))
    }
    if (line.full) return
    line.requests.push(waiting)
    if (line.requests.length < MOST_WAITING) return
    line.full = true
    socket.pause()
    waiting.response.shouldKeepAlive = false
  }

  for (const event of EVENTS) {
    for (const listener of server.listeners(event) as Array<Listener>) {
      if (before.has(listener)) continue
      server.off(event, listener)
      server.on(event, (request: IncomingMessage, response: ServerResponse) =>
        take({ request, response, listener })
      )
    }
  }
}
