import type { Socket } from "node:net"

import { networkOf } from "../../domain/networks.ts"
import { type Open, placeFor } from "./connections.ts"
import type { Trust } from "./peer-trust.ts"

/** Mails that an untrusted peer may begin within an hour, each refused; beyond that it gets no answer. */
const MAX_TRIES = 20

/** Bytes that an untrusted peer may send over one connection: commands, and no mail. */
const MAX_STRANGER_BYTES = 16 * 1024

const HOUR_MS = 3_600_000

/** Addresses that are counted at once; beyond that the oldest are dropped. */
const MAX_ADDRESSES = 10_000

/** Counts what each peer does within an hour. `now` in milliseconds. */
export const makePeerRate = (limitAnHour: number, now: () => number) => {
  /** In the order in which their hours began. */
  const counts = new Map<string, { readonly since: number; count: number }>()

  const forget = (at: number) => {
    for (const [address, { since }] of counts) {
      if (at - since < HOUR_MS && counts.size < MAX_ADDRESSES) return
      counts.delete(address)
    }
  }

  /** How many are counted of a peer's hour that is not over. */
  const counted = (peer: string): number => {
    forget(now())
    return counts.get(peer)?.count ?? 0
  }

  return {
    /** Counts one; false where it is one too many. */
    take: (peer: string): boolean => {
      const before = counted(peer)
      if (before === 0) counts.set(peer, { since: now(), count: 1 })
      else counts.get(peer)!.count = before + 1
      return before < limitAnHour
    },
    /** Whether the next one would be too many. */
    isOver: (peer: string): boolean => counted(peer) >= limitAnHour
  }
}

/** A connection that is open, and what is known of its peer. */
interface Connection extends Open {
  readonly socket: Socket
  /** Not found to be trusted, so far. */
  stranger: boolean
}

/** The addresses and ports of a connection, in the form of a socket or of a session. */
interface Peer {
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
}

const keyOf = ({ remoteAddress = "", remotePort }: Peer): string =>
  `${remoteAddress.replace(/^::ffff:/i, "")} ${remotePort}`

/** How the gate is set up. */
interface GateOptions {
  /** What the server calls itself. */
  readonly name: string
  readonly isKnown: (address: string) => boolean
  /** How long a connection may last, milliseconds. */
  readonly connectionMs: number
  /** A connection was turned away. */
  readonly onRefused: () => void
  /** Milliseconds. */
  readonly now: () => number
}

/** Limits who may connect and what untrusted peers may do, so that no peer can use up what others need (H3). */
export const makeGate = ({ connectionMs, isKnown, name, now, onRefused }: GateOptions) => {
  /** Oldest first. */
  const open = new Map<string, Connection>()
  const tries = makePeerRate(MAX_TRIES, now)

  const turnAway = (socket: Socket): void => {
    onRefused()
    socket.write(`421 ${name} Too many connections, please try again later\r\n`)
    socket.destroySoon()
  }

  /** Cuts an untrusted peer that sends more than the commands of some mails. */
  const meter = (socket: Socket, connection: Connection): void => {
    let bytes = 0
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (!connection.stranger || bytes <= MAX_STRANGER_BYTES) return
      tries.take(connection.network)
      socket.destroy()
    })
  }

  const placed = (connection: Connection): boolean => {
    if (connection.stranger && tries.isOver(connection.network)) return false
    const place = placeFor(open.values(), connection)
    if (place.kind === "served" && place.instead !== undefined) {
      open.delete(keyOf(place.instead.socket))
      turnAway(place.instead.socket)
    }
    return place.kind === "served"
  }

  return {
    /** A client has connected. */
    admit: (socket: Socket): void => {
      const address = socket.remoteAddress ?? ""
      const known = isKnown(address)
      const connection = { socket, network: networkOf(address), known, stranger: !known, busy: false }
      if (!placed(connection)) return turnAway(socket)
      const key = keyOf(socket)
      const timer = setTimeout(() => socket.destroy(), connectionMs)
      open.set(key, connection)
      socket.once("close", () => {
        clearTimeout(timer)
        if (open.get(key) === connection) open.delete(key)
      })
      meter(socket, connection)
    },
    /** A connection is encrypted from now on. */
    secured: (peer: Peer, socket: Socket): void => {
      const connection = open.get(keyOf(peer))
      if (connection !== undefined) meter(socket, connection)
    },
    of: (peer: Peer): Connection | undefined => open.get(keyOf(peer)),
    /** Records the identity of a connection's client. Returns false when it has tried too often. */
    found: (peer: Peer, trust: Trust): boolean => {
      const connection = open.get(keyOf(peer))
      if (connection !== undefined) connection.stranger = trust !== "trusted"
      // The DNS does not answer: that is not the client's fault.
      return trust !== "stranger" || tries.take(networkOf(peer.remoteAddress ?? ""))
    }
  }
}
