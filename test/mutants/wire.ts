/**
 * Which functions of the database this process calls: what its connections send is read on the way out. A prepared statement is sent
 * once, and bound by its name from then on.
 */
import { Socket } from "node:net"

export interface Wire {
  /** The statements that are sent from now on. */
  readonly note: () => ReadonlySet<string>
  /** The databases that were made or connected to, and not dropped. */
  readonly databases: ReadonlySet<string>
}

const MESSAGES = new Set(["P", "B", "D", "E", "S", "Q", "C", "H", "X"])

/** The texts of a message, each ended by a zero. */
const textsOf = (message: Buffer): ReadonlyArray<string> => message.toString("latin1").split("\0")

export const listen = (): Wire => {
  let noted = new Set<string>()
  const databases = new Set<string>()
  /** The prepared statements of each connection, by name. */
  const connections = new WeakMap<Socket, Map<string, string>>()
  const sent = (text: string) => {
    noted.add(text)
    const [, act, name] = /^(create|drop) database (?:if exists )?(\w+)/.exec(text) ?? []
    if (name === undefined) return
    if (act === "create") databases.add(name)
    else databases.delete(name)
  }
  const begin = (socket: Socket, chunk: Buffer) => {
    const parts = textsOf(chunk)
    const database = parts[parts.indexOf("database") + 1]
    if (!parts.includes("database") || database === undefined) return
    databases.add(database)
    connections.set(socket, new Map())
  }
  const read = (statements: Map<string, string>, chunk: Buffer) => {
    for (let at = 0; at + 5 <= chunk.length;) {
      const kind = String.fromCharCode(chunk[at]!)
      const size = chunk.readInt32BE(at + 1)
      if (!MESSAGES.has(kind) || size < 4) return
      const [first = "", second = ""] = textsOf(chunk.subarray(at + 5, at + 1 + size))
      if (kind === "Q") sent(first)
      if (kind === "P") statements.set(first, second)
      if (kind === "B") sent(statements.get(second) ?? "")
      at += 1 + size
    }
  }
  type Write = (this: Socket, ...args: ReadonlyArray<unknown>) => boolean
  const write = Reflect.get(Socket.prototype, "write") as Write
  const listening: Write = function (...args) {
    const [data] = args
    if (data instanceof Uint8Array) {
      const chunk = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
      const connection = connections.get(this)
      if (connection === undefined) begin(this, chunk)
      else read(connection, chunk)
    }
    return write.apply(this, [...args])
  }
  Reflect.set(Socket.prototype, "write", listening)
  return { databases, note: () => (noted = new Set()) }
}
