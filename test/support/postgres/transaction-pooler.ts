import { randomInt } from "node:crypto"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** What a pooler in transaction mode keeps for its clients; it refuses every other startup parameter, as PgBouncer does. */
const KEPT = new Set(["user", "database", "client_encoding", "datestyle", "timezone", "application_name"])

const SSL_REQUEST = 80_877_103
const CANCEL_REQUEST = 80_877_102
const READY = "Z".charCodeAt(0)
/** Messages that the server answers with ReadyForQuery: Sync, Query. */
const ASKS_READY = new Set(["S".charCodeAt(0), "Q".charCodeAt(0)])
const TERMINATE = "X".charCodeAt(0)
const AUTHENTICATION_OK = Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 0])
const READY_IDLE = Buffer.from([READY, 0, 0, 0, 5, 73])

interface Server {
  readonly socket: Socket
  readonly pool: Pool
  /** Its ParameterStatus messages. */
  readonly parameters: Array<Buffer>
  /** Process id and secret, for a cancel request. */
  key: Buffer
  client: Client | undefined
  /** Its client's last transaction has ended. */
  isIdle: boolean
  /** Cancel requests under way: until they are over, the connection is nobody else's, whose statement they would hit. */
  cancels: number
}

interface Client {
  readonly socket: Socket
  readonly waiting: Array<Buffer>
  server: Server | undefined
  isQueued: boolean
  /** Answers of ReadyForQuery that are still to come. */
  unanswered: number
  /** Messages went out that no Sync has followed yet. */
  isOpen: boolean
}

/** Server connections of one user, database and session; `startup` opens one. */
interface Pool {
  readonly startup: Buffer
  readonly idle: Array<Server>
  readonly queue: Array<{ readonly take: (server: Server) => void; readonly fail: (said?: Buffer) => void }>
  size: number
}

const startupPacket = (parameters: ReadonlyMap<string, string>): Buffer => {
  const body = Buffer.from(`${[...parameters].flat().join("\0")}\0\0`)
  const head = Buffer.alloc(8)
  head.writeInt32BE(body.length + 8)
  head.writeInt32BE(196_608, 4)
  return Buffer.concat([head, body])
}

const errorResponse = (code: string, message: string): Buffer => {
  const body = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.from([69, 0, 0, 0, 0])
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** Cuts a stream into messages; the first ones of a client have no type. */
const messages = (isTyped: () => boolean, take: (message: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      const at = isTyped() ? 1 : 0
      if (rest.length < at + 4) return
      const end = at + rest.readInt32BE(at)
      if (rest.length < end) return
      const message = rest.subarray(0, end)
      rest = rest.subarray(end)
      take(message)
    }
  }
}

/** A pooler on 127.0.0.1 that hands out a server connection for the time of a transaction. */
export interface TransactionPooler {
  readonly port: number
  /** Transactions, or statements outside of one, so far. */
  readonly transactions: () => number
  /** Cuts connections of clients and of servers, whatever they are at: asked for each of them. */
  readonly cut: (isCut: () => boolean) => void
  readonly close: () => Promise<void>
}

/** For how long a client keeps a server connection; in statement mode a transaction is refused. */
type Mode = "session" | "transaction" | "statement"

/** What all connections of a pooler share. */
interface Shared {
  readonly mode: Mode
  readonly targetPort: number
  readonly servers: number
  readonly pools: Map<string, Pool>
  readonly clients: Map<string, Client>
  readonly sockets: Set<Socket>
  transactions: number
}

const remember = ({ sockets }: Shared, socket: Socket): void => {
  sockets.add(socket)
  socket.setNoDelay(true)
  socket.on("error", () => socket.destroy())
  socket.on("close", () => sockets.delete(socket))
}

/** The transaction is over: the connection goes to whom has waited longest. */
const release = (server: Server): void => {
  const { client, pool } = server
  if (client !== undefined) client.server = undefined
  server.client = undefined
  if (server.socket.destroyed) return
  const next = pool.queue.shift()
  if (next === undefined) pool.idle.push(server)
  else next.take(server)
}

const releaseIfDone = (server: Server): void => {
  const { cancels, client, isIdle } = server
  if (client !== undefined && client.unanswered === 0 && !client.isOpen && isIdle && cancels === 0)
    release(server)
}

const fromServer = (shared: Shared, server: Server, message: Buffer): void => {
  const { client } = server
  if (client === undefined) return
  client.socket.write(message)
  if (message[0] !== READY) return
  client.unanswered -= 1
  server.isIdle = message[5] === 73
  if (!server.isIdle) {
    if (shared.mode !== "statement") return
    client.socket.end(errorResponse("08P01", "transaction blocks not allowed in statement pooling mode"))
    return void server.socket.destroy()
  }
  shared.transactions += 1
  if (shared.mode !== "session") releaseIfDone(server)
}

/** Opens a connection to the server, and offers it to who waits. */
const open = (shared: Shared, pool: Pool): void => {
  pool.size += 1
  const socket = connect(shared.targetPort, "127.0.0.1", () => socket.write(pool.startup))
  remember(shared, socket)
  const server: Server = {
    socket,
    pool,
    parameters: [],
    key: Buffer.alloc(8),
    client: undefined,
    isIdle: true,
    cancels: 0
  }
  let isUp = false
  let said: Buffer | undefined
  const starting = (message: Buffer): void => {
    const type = String.fromCharCode(message[0] ?? 0)
    if (type === "S") server.parameters.push(message)
    else if (type === "K") server.key = message.subarray(5)
    else if (type === "E") said = message
    else if (type === "Z") {
      isUp = true
      release(server)
    }
  }
  socket.on(
    "data",
    messages(
      () => true,
      (message) => (isUp ? fromServer(shared, server, message) : starting(message))
    )
  )
  socket.on("close", () => {
    pool.size -= 1
    const at = pool.idle.indexOf(server)
    if (at !== -1) pool.idle.splice(at, 1)
    server.client?.socket.destroySoon()
    if (!isUp) pool.queue.shift()?.fail(said)
    else if (pool.queue.length > 0) open(shared, pool)
  })
}

const acquire = (
  shared: Shared,
  pool: Pool,
  take: (server: Server) => void,
  fail: (said?: Buffer) => void
) => {
  const idle = pool.idle.pop()
  if (idle !== undefined) return take(idle)
  pool.queue.push({ take, fail })
  if (pool.size < shared.servers) open(shared, pool)
}

/** The client's messages, once a connection is its own. */
const flush = (client: Client, server: Server): void => {
  for (const message of client.waiting.splice(0)) {
    client.isOpen = !ASKS_READY.has(message[0]!)
    if (!client.isOpen) client.unanswered += 1
    server.socket.write(message)
  }
}

const fromClient = (shared: Shared, pool: Pool, client: Client, message: Buffer): void => {
  if (message[0] === TERMINATE) return void client.socket.end()
  client.waiting.push(message)
  if (client.server !== undefined) return flush(client, client.server)
  if (client.isQueued) return
  client.isQueued = true
  const take = (server: Server) => {
    client.isQueued = false
    if (client.socket.destroyed) return release(server)
    server.client = client
    client.server = server
    flush(client, server)
  }
  acquire(shared, pool, take, (said) => client.socket.end(said ?? ""))
}

/** Sends a cancel request on to the server that works for the client now, if any. */
const cancel = (shared: Shared, key: string): void => {
  const server = shared.clients.get(key)?.server
  if (server === undefined) return
  server.cancels += 1
  const head = Buffer.from([0, 0, 0, 16, 0, 0, 0, 0])
  head.writeInt32BE(CANCEL_REQUEST, 4)
  const socket = connect(shared.targetPort, "127.0.0.1", () =>
    socket.write(Buffer.concat([head, server.key]))
  )
  remember(shared, socket)
  socket.on("close", () => {
    server.cancels -= 1
    if (shared.mode !== "session") releaseIfDone(server)
  })
}

const poolOf = ({ pools }: Shared, parameters: ReadonlyMap<string, string>): Pool => {
  const startup = startupPacket(new Map([...parameters].filter(([name]) => name !== "application_name")))
  const name = startup.toString("latin1")
  const pool = pools.get(name) ?? { startup, idle: [], queue: [], size: 0 }
  pools.set(name, pool)
  return pool
}

/** Greets a client with what a server connection says of itself; gives its pool. */
const welcome = (shared: Shared, client: Client, startup: Buffer): Pool | undefined => {
  const words = startup.subarray(8).toString().split("\0").slice(0, -2)
  const parameters = new Map<string, string>()
  for (let at = 0; at + 1 < words.length; at += 2) parameters.set(words[at]!.toLowerCase(), words[at + 1]!)
  const unknown = [...parameters.keys()].find((name) => !KEPT.has(name))
  if (unknown !== undefined) {
    client.socket.end(errorResponse("08P01", `unsupported startup parameter: ${unknown}`))
    return undefined
  }
  const pool = poolOf(shared, parameters)
  const key = Buffer.alloc(13)
  key.write("K")
  key.writeInt32BE(12, 1)
  key.writeInt32BE(randomInt(2 ** 31), 5)
  key.writeInt32BE(randomInt(2 ** 31), 9)
  const name = key.subarray(5).toString("hex")
  shared.clients.set(name, client)
  client.socket.on("close", () => shared.clients.delete(name))
  const take = (server: Server) => {
    client.socket.write(Buffer.concat([AUTHENTICATION_OK, ...server.parameters, key, READY_IDLE]))
    release(server)
  }
  acquire(shared, pool, take, (said) => client.socket.end(said ?? ""))
  return pool
}

const serve = (shared: Shared, socket: Socket): void => {
  remember(shared, socket)
  const client: Client = {
    socket,
    waiting: [],
    server: undefined,
    isQueued: false,
    unanswered: 0,
    isOpen: false
  }
  let pool: Pool | undefined
  const first = (message: Buffer): void => {
    const code = message.readInt32BE(4)
    if (code === SSL_REQUEST) socket.write("N")
    else if (code === CANCEL_REQUEST) {
      cancel(shared, message.subarray(8).toString("hex"))
      socket.end()
    } else pool = welcome(shared, client, message)
  }
  socket.on(
    "data",
    messages(
      () => pool !== undefined,
      (message) => (pool === undefined ? first(message) : fromClient(shared, pool, client, message))
    )
  )
  // What it was at is of no known state: the connection is not handed on.
  socket.on("close", () => client.server?.socket.destroy())
}

/** Pools connections to a server on this machine that trusts everybody. */
export const startTransactionPooler = async (
  targetPort: number,
  servers = 20,
  mode: Mode = "transaction"
): Promise<TransactionPooler> => {
  const shared: Shared = {
    mode,
    targetPort,
    servers,
    pools: new Map(),
    clients: new Map(),
    sockets: new Set(),
    transactions: 0
  }
  const listener = createServer((socket) => serve(shared, socket))
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    transactions: () => shared.transactions,
    cut: (isCut) => {
      for (const socket of shared.sockets) if (isCut()) socket.destroy()
    },
    close: () => {
      for (const socket of shared.sockets) socket.destroy()
      return new Promise((resolve) => listener.close(() => resolve()))
    }
  }
}
