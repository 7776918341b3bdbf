import type { LookupFunction } from "node:net"

import { Pool } from "undici"

/** Receivers whose connections are kept while nothing is sent to them. */
const MAX_IDLE = 64

/** Connections to one receiver. */
const MAX_CONNECTIONS = 32

const CONNECT_MS = 10_000
const KEEP_ALIVE_MS = 4_000

/** A look-up that knows these addresses alone: the connection goes where was checked, whatever the name resolves to by then. */
const knowing =
  (addresses: ReadonlyArray<string>): LookupFunction =>
  (_, { all }, found) => {
    const entries = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
    if (all === true) found(null, entries)
    else found(null, entries[0]!.address, entries[0]!.family)
  }

interface Entry {
  readonly pool: Pool
  users: number
}

/** Connections to receivers, by their origin and the addresses that were checked. */
export const makeConnections = () => {
  const entries = new Map<string, Entry>()

  const evict = () => {
    const idle = [...entries].filter(([, { users }]) => users === 0)
    for (const [key, { pool }] of idle.slice(0, Math.max(0, idle.length - MAX_IDLE))) {
      entries.delete(key)
      void pool.destroy()
    }
  }

  return {
    /** Runs `use` on the connections of a receiver. */
    withPool: async <A>(
      { origin }: URL,
      addresses: ReadonlyArray<string>,
      use: (pool: Pool) => Promise<A>
    ): Promise<A> => {
      const key = [origin, ...addresses.toSorted()].join(" ")
      const entry = entries.get(key) ?? {
        pool: new Pool(origin, {
          connections: MAX_CONNECTIONS,
          connect: { lookup: knowing(addresses), timeout: CONNECT_MS },
          keepAliveTimeout: KEEP_ALIVE_MS,
          keepAliveMaxTimeout: KEEP_ALIVE_MS,
          allowH2: false
        }),
        users: 0
      }
      // At the end of the map: what was used last is evicted last.
      entries.delete(key)
      entries.set(key, entry)
      entry.users += 1
      try {
        return await use(entry.pool)
      } finally {
        entry.users -= 1
        evict()
      }
    },
    close: async () => {
      await Promise.all([...entries.values()].map(({ pool }) => pool.destroy()))
      entries.clear()
    }
  }
}
