import { connect as connectTcp, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"

/** What a server answered: its code, and the text of each line. */
export interface Reply {
  readonly code: number
  readonly lines: ReadonlyArray<string>
}

/** The dialogue ended, or was no SMTP, before an answer was whole. */
class DialogueLost extends Error {}

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
  /** Begins TLS. A server that spoke too early is given up. */
  readonly encrypt: () => Promise<void>
  readonly isEncrypted: () => boolean
  readonly isOpen: () => boolean
  /** Idle: the connection ends after this time, and does not keep the process alive. */
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

/** Splits the stream into answers; `refuse` gets the reason where it is no SMTP. */
const makeReader = (onReply: (reply: Reply) => void, refuse: (why: string) => void) => {
  let held = ""
  let size = 0
  let first: string | undefined
  let lines: Array<string> = []
  const take = (line: string): void => {
    const [, code, more, text = ""] = /^([2-5]\d\d)([ -]?)(.*)$/.exec(line) ?? []
    // An answer of two codes says neither.
    if (code === undefined || code !== (first ?? code))
      return refuse("it answered with something that is not SMTP")
    lines.push(text)
    first = more === "-" ? code : undefined
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

/** Unread answers, and the one reader that waits. */
const makeInbox = () => {
  const replies: Array<Reply> = []
  let lost: Error | undefined
  let waiting: Waiting | undefined
  const clear = (): Waiting | undefined => {
    const waited = waiting
    waiting = undefined
    return waited
  }
  const wait = <A>(begin: (resolve: (value: A) => void) => Partial<Waiting>): Promise<A> =>
    new Promise((resolve, reject) => {
      if (lost === undefined) waiting = { onLost: reject, ...begin(resolve) }
      else reject(lost)
    })
  return {
    lost: () => lost,
    early: () => replies.shift(),
    isEmpty: () => replies.length === 0,
    put: (reply: Reply): void => {
      const onReply = clear()?.onReply
      if (onReply === undefined) replies.push(reply)
      else onReply(reply)
    },
    lose: (why: string): void => {
      lost ??= new DialogueLost(why)
      clear()?.onLost(lost)
    },
    next: (): Promise<Reply> => {
      const next = replies.shift()
      return next === undefined ? wait<Reply>((onReply) => ({ onReply })) : Promise.resolve(next)
    },
    /** The socket's own event. */
    event: (socket: Socket, name: "connect" | "secureConnect"): Promise<void> =>
      wait<void>((resolve) => {
        socket.once(name, () => {
          clear()
          resolve()
        })
        return {}
      })
  }
}

/** Connects; `signal` ends whatever is under way. */
export const openDialogue = (peer: Peer, signal: AbortSignal): Promise<Dialogue> => {
  let socket: Socket
  let encrypted = peer.secure
  const inbox = makeInbox()
  const lose = (why: string): void => {
    inbox.lose(why)
    socket.destroy()
  }
  const reader = makeReader(inbox.put, lose)

  const attach = (next: Socket): void => {
    socket = next
    next.on("data", (chunk: Buffer) => reader.read(chunk.toString("utf8")))
    next.on("error", (cause: Error) => lose(cause.message))
    for (const event of ["end", "close"]) next.on(event, () => lose("the connection was closed"))
    next.on("timeout", () => lose("the connection was idle"))
  }
  const dialogue: Dialogue = {
    peer,
    reply: inbox.next,
    early: inbox.early,
    write: (bytes) =>
      new Promise((resolve, reject) => {
        const lost = inbox.lost()
        if (lost !== undefined) return reject(lost)
        socket.write(bytes, (cause) => (cause ? reject(inbox.lost() ?? cause) : resolve()))
      }),
    encrypt: async () => {
      if (reader.isWithin() || !inbox.isEmpty()) lose("it spoke before TLS began")
      const lost = inbox.lost()
      if (lost !== undefined) throw lost
      const plain = socket
      plain.removeAllListeners()
      plain.on("error", (cause) => lose(cause.message))
      attach(connectTls({ socket: plain, ...tlsOptions(peer) }))
      await inbox.event(socket, "secureConnect")
      encrypted = true
    },
    isEncrypted: () => encrypted,
    isOpen: () => inbox.lost() === undefined,
    rest: (forMs) => void socket.setTimeout(forMs).unref(),
    wake: () => void socket.setTimeout(0).ref(),
    localAddress: () => socket.localAddress,
    destroy: () => lose("the connection was given up")
  }

  const first = peer.secure
    ? connectTls({ port: peer.port, ...tlsOptions(peer) })
    : connectTcp({ host: peer.host, port: peer.port })
  attach(first)
  signal.addEventListener("abort", dialogue.destroy, { once: true })
  return inbox.event(first, peer.secure ? "secureConnect" : "connect").then(() => {
    signal.removeEventListener("abort", dialogue.destroy)
    return dialogue
  })
}
