import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

import { networkOf } from "../../../domain/networks.ts"

/** Limits on connections. */
export interface ConnectionLimits {
  /** Connections at once. */
  readonly most: number
  /** Of one address (of one IPv6 network) that is no trusted proxy. */
  readonly ofClient: number
  /** Whether an address is a proxy's, behind which many clients are. */
  readonly isProxy: (address: string) => boolean
}

/** Connections at once of one client: browsers of an office behind one address. */
export const MOST_OF_CLIENT = 256

/** A connection, and the requests on it that have no answer yet. */
interface Open {
  readonly socket: Socket
  readonly requests: Set<IncomingMessage>
}

/** True when closing the connection loses no answer: it has no request, or the last one is not complete. */
const canEnd = ({ requests }: Open): boolean => {
  for (const request of requests) if (request.complete) return false
  return true
}

/**
 * Limits connections in all and those of one client (H3). When all places are taken, the client that holds the most loses one on
 * which no request is being worked on; a client that already holds the most is refused. So a client cannot shut out others by
 * holding connections (HTTP-13).
 */
export const limitConnections = (
  server: Server,
  { isProxy, most, ofClient }: ConnectionLimits,
  onRefused: () => void
): void => {
  /** Connections by client, oldest first. */
  const clients = new Map<string, Set<Open>>()
  const bySocket = new WeakMap<Socket, Open>()
  let total = 0

  const largest = (): Set<Open> | undefined => {
    let found: Set<Open> | undefined
    for (const open of clients.values()) if (open.size > (found?.size ?? 0)) found = open
    return found
  }

  /** Whether there is a place, or one was made. */
  const hasPlace = (own: number): boolean => {
    if (total < most) return true
    const group = largest()
    if (group === undefined || group.size <= own + 1) return false
    for (const open of group) {
      if (!canEnd(open)) continue
      open.socket.destroy()
      return true
    }
    return false
  }

  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? ""
    const client = networkOf(address)
    const own = clients.get(client)?.size ?? 0
    if ((own >= ofClient && !isProxy(address)) || !hasPlace(own)) {
      onRefused()
      return void socket.destroy()
    }
    const open: Open = { socket, requests: new Set() }
    const group = clients.get(client) ?? new Set()
    clients.set(client, group.add(open))
    bySocket.set(socket, open)
    total += 1
    socket.once("close", () => {
      total -= 1
      group.delete(open)
      if (group.size === 0) clients.delete(client)
    })
  })

  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const requests = bySocket.get(request.socket)?.requests.add(request)
    response.once("close", () => requests?.delete(request))
  })
}
