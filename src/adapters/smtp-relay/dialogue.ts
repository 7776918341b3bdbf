import { connect as connectTcp, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"

/** What a server answered: its code, and the text of each line. */
export interface Reply {
  readonly code: number
  readonly lines: ReadonlyArray<string>
}

/** The dialogue ended, or was no SMTP, before an answer was whole. */
export class DialogueLost extends Error {}

/** Where a server is, and whom it is taken for. */
export interface Peer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte. */
  readonly secure: boolean
  /** Certificates to trust besides the system's own. */
  readonly ca?: string | undefined
}

/** A longer answer is no answer. */
const MAX_REPLY_BYTES = 64_000

/** Commands and answers on one connection. */
export interface Dialogue {
  readonly peer: Peer
  /** The next answer. */
  readonly reply: () => Promise<Reply>
  /** An answer that has arrived unasked. */
  readonly early: () => Reply | undefined
  readonly write: (bytes: string | Uint8Array) => Promise<void>
  /** Goes on in TLS. What was said before it in the clear is not believed. */
  readonly encrypt: () => Promise<void>
  readonly isEncrypted: () => boolean
  readonly isOpen: () => boolean
  /** Lets the process end, and the connection after a while: nobody uses it. */
  readonly rest: (forMs: number) => void
  readonly wake: () => void
  readonly localAddress: () => string | undefined
  readonly destroy: () => void
}

interface Waiting {
  readonly onReply?: (reply: Reply) => void
  readonly onLost: (cause: Error) => void
}

const tlsOptions = ({ ca, host }: Peer) => ({
  host,
  ...(isIP(host) === 0 ? { servername: host } : {}),
  ...(ca === undefined ? {} : { ca })
})

/** Takes answers out of what arrives; `refuse` hears of what is none. */
const makeReader = (onReply: (reply: Reply) => void, refuse: (why: string) => void) => {
  let held = ""
  let size = 0
  let lines: Array<string> = []
  const take = (line: string): void => {
    const [, code, more, text = ""] = /^([2-5]\d\d)([ -]?)(.*)$/.exec(line) ?? []
    if (code === undefined) return refuse("it answered with something that is not SMTP")
    lines.push(text)
    if (more === "-") return
    onReply({ code: Number(code), lines })
    lines = []
    size = 0
  }
  return {
    isWithin: () => held !== "" || lines.length > 0,
    read: (chunk: string): void => {
      size += chunk.length
      if (size > MAX_REPLY_BYTES) return refuse("its answer does not end")
      held += chunk
      for (let end = held.indexOf("\n"); end >= 0; end = held.indexOf("\n")) {
        const line = held.slice(0, end).replace(/\r$/, "")
        held = held.slice(end + 1)
        take(line)
      }
    }
  }
}

/** Connects; `signal` ends whatever is under way. */
export const openDialogue = (peer: Peer, signal: AbortSignal): Promise<Dialogue> => {
  let socket: Socket
  let lost: Error | undefined
  let waiting: Waiting | undefined
  let encrypted = peer.secure
  const replies: Array<Reply> = []

  const lose = (why: string): void => {
    lost ??= new DialogueLost(why)
    const { onLost } = waiting ?? {}
    waiting = undefined
    socket.destroy()
    onLost?.(lost)
  }
  const reader = makeReader((reply) => {
    const { onReply } = waiting ?? {}
    if (onReply === undefined) {
      replies.push(reply)
      return
    }
    waiting = undefined
    onReply(reply)
  }, lose)

  const attach = (next: Socket): void => {
    socket = next
    next.on("data", (chunk: Buffer) => reader.read(chunk.toString("utf8")))
    next.on("error", (cause: Error) => lose(cause.message))
    for (const event of ["end", "close"]) next.on(event, () => lose("the connection was closed"))
    next.on("timeout", () => lose("the connection was idle"))
  }
  const established = (event: "connect" | "secureConnect"): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting = { onLost: reject }
      socket.once(event, () => {
        waiting = undefined
        resolve()
      })
    })

  const dialogue: Dialogue = {
    peer,
    reply: () => {
      const next = replies.shift()
      if (next !== undefined) return Promise.resolve(next)
      if (lost !== undefined) return Promise.reject(lost)
      return new Promise((resolve, reject) => {
        waiting = { onReply: resolve, onLost: reject }
      })
    },
    early: () => replies.shift(),
    write: (bytes) =>
      new Promise((resolve, reject) => {
        if (lost !== undefined) return reject(lost)
        socket.write(bytes, (cause) => (cause ? reject(lost ?? cause) : resolve()))
      }),
    encrypt: () => {
      if (reader.isWithin() || replies.length > 0) lose("it spoke before TLS began")
      if (lost !== undefined) return Promise.reject(lost)
      const plain = socket
      plain.removeAllListeners()
      plain.on("error", (cause) => lose(cause.message))
      attach(connectTls({ socket: plain, ...tlsOptions(peer) }))
      return established("secureConnect").then(() => {
        encrypted = true
      })
    },
    isEncrypted: () => encrypted,
    isOpen: () => lost === undefined,
    rest: (forMs) => void socket.setTimeout(forMs).unref(),
    wake: () => void socket.setTimeout(0).ref(),
    localAddress: () => socket.localAddress,
    destroy: () => lose("the connection was given up")
  }

  attach(
    peer.secure
      ? connectTls({ port: peer.port, ...tlsOptions(peer) })
      : connectTcp({ host: peer.host, port: peer.port })
  )
  signal.addEventListener("abort", dialogue.destroy, { once: true })
  return established(peer.secure ? "secureConnect" : "connect").then(() => {
    signal.removeEventListener("abort", dialogue.destroy)
    return dialogue
  })
}
