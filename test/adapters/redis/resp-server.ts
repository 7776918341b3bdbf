import { createServer, type Socket } from "node:net"

/** A value as Redis writes it, version 2 of its protocol. */
const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`

/** The library's token bucket as its script has it: what Redis would do with it. */
const tokenBucket = (
  values: Map<string, string>,
  [key, refillKey, tokens, refillMs, limit, now]: ReadonlyArray<string>
): string => {
  const [size, refill] = [Number(limit), Number(refillMs)]
  let current = Number(values.get(key!) ?? limit)
  let last = Number(values.get(refillKey!) ?? now)
  const amount = Math.floor((Number(now) - last) / refill)
  if (amount > 0) {
    current = Math.min(current + amount, size)
    last += amount * refill
  }
  if (current >= size) last = Number(now)
  const next = current - Number(tokens)
  values.set(key!, String(next >= 0 ? next : current))
  values.set(refillKey!, String(last))
  return `*2\r\n${bulk(String(next))}${bulk(String(Math.max(0, Number(now) - last)))}`
}

/** Whole commands at the beginning of the bytes, and what is left of them. */
const commandsIn = (
  text: string
): { readonly commands: Array<ReadonlyArray<string>>; readonly rest: string } => {
  const commands: Array<ReadonlyArray<string>> = []
  let rest = text
  for (;;) {
    const [head, count] = /^\*(\d+)\r\n/.exec(rest) ?? []
    if (head === undefined) return { commands, rest }
    let at = head.length
    const words: Array<string> = []
    while (words.length < Number(count)) {
      const [size, length] = /^\$(\d+)\r\n/.exec(rest.slice(at)) ?? []
      if (size === undefined || rest.length < at + size.length + Number(length) + 2) return { commands, rest }
      words.push(rest.slice(at + size.length, at + size.length + Number(length)))
      at += size.length + Number(length) + 2
    }
    commands.push(words)
    rest = rest.slice(at)
  }
}

/** A server that speaks as much of Redis as the allowances need. */
export const startRespServer = async () => {
  const values = new Map<string, string>()
  const scripts = new Set<string>()
  const sockets = new Set<Socket>()
  const seen: Array<string> = []
  let isSilent = false
  const answer = ([name = "", ...args]: ReadonlyArray<string>): string => {
    seen.push([name, ...args].join(" "))
    switch (name.toUpperCase()) {
      case "HELLO":
        return `*2\r\n${bulk("proto")}:2\r\n`
      case "EVALSHA":
        if (!scripts.has(args[0]!)) {
          scripts.add(args[0]!)
          return "-NOSCRIPT No matching script\r\n"
        }
        return tokenBucket(values, args.slice(2))
      case "EVAL":
        return tokenBucket(values, args.slice(2))
      case "SCRIPT":
        return bulk("0".repeat(40))
      default:
        return "+OK\r\n"
    }
  }
  const server = createServer((socket) => {
    sockets.add(socket)
    let text = ""
    socket.on("error", () => undefined)
    socket.on("close", () => sockets.delete(socket))
    socket.on("data", (bytes) => {
      const { commands, rest } = commandsIn(text + bytes.toString("latin1"))
      text = rest
      if (!isSilent) for (const command of commands) socket.write(answer(command))
    })
  })
  const listen = (port: number) =>
    new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", () => resolve()))
  await listen(0)
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `redis://127.0.0.1:${port}`,
    values,
    seen,
    silence: (silent: boolean) => void (isSilent = silent),
    /** Ends all connections and takes no new ones. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
    open: () => listen(port)
  }
}
