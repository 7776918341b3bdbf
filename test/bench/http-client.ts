import { connect, type Socket } from "node:net"

/** Answers of a keep-alive connection, one at a time. */
interface Connection {
  readonly socket: Socket
  received: string
  answer: ((text: string) => void) | undefined
  fail: (error: Error) => void
}

/** Length of the first whole answer in `text`, 0 where it is not whole yet. Bodies are ASCII here. */
const answerLength = (text: string): number => {
  const head = text.indexOf("\r\n\r\n")
  if (head === -1) return 0
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head + 2))?.[1]
  if (length === undefined) throw new Error(`an answer without a length: ${text.slice(0, head)}`)
  const whole = head + 4 + Number(length)
  return text.length >= whole ? whole : 0
}

/**
 * Posts JSON over kept connections, as a load generator does: it costs a fifth of `node:http`, so that two cores are left to
 * what is measured. Fails on anything but a 200.
 */
export const makeHttpClient = (
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>
): {
  readonly post: (body: string, headers?: Readonly<Record<string, string>>) => Promise<string>
  readonly close: () => void
} => {
  const idle: Array<Connection> = []
  const all = new Set<Connection>()
  const linesOf = (fields: Readonly<Record<string, string>>) =>
    Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")
  const fixed = linesOf({ host: `127.0.0.1:${port}`, "content-type": "application/json", ...headers })

  const open = (): Connection => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true })
    const connection: Connection = { socket, received: "", answer: undefined, fail: () => undefined }
    socket.setEncoding("latin1")
    socket.on("data", (text: Buffer | string) => {
      connection.received += String(text)
      const length = answerLength(connection.received)
      if (length === 0) return
      const whole = connection.received.slice(0, length)
      connection.received = connection.received.slice(length)
      connection.answer?.(whole)
    })
    socket.on("error", (error) => connection.fail(error))
    socket.on("close", () => {
      // The server closes what has been idle for long.
      const at = idle.indexOf(connection)
      if (at !== -1) idle.splice(at, 1)
      all.delete(connection)
      connection.fail(new Error("the connection was closed"))
    })
    all.add(connection)
    return connection
  }

  const send = (connection: Connection, request: string): Promise<string> =>
    new Promise((resolve, reject) => {
      connection.fail = reject
      connection.answer = (text) => {
        idle.push(connection)
        if (text.startsWith("HTTP/1.1 200 ")) resolve(text)
        else reject(new Error(text))
      }
      connection.socket.write(request)
    })

  return {
    post: (body, more = {}) => {
      const length = Buffer.byteLength(body)
      const request = `POST ${path} HTTP/1.1\r\n${fixed}${linesOf(more)}content-length: ${length}\r\n\r\n${body}`
      const kept = idle.pop()
      if (kept === undefined) return send(open(), request)
      // The server may close a connection that was idle for long just as it is used again.
      return send(kept, request).catch((error: unknown) => {
        if (kept.socket.destroyed && kept.received === "") return send(open(), request)
        throw error
      })
    },
    close: () => {
      for (const { socket } of all) socket.destroy()
    }
  }
}
