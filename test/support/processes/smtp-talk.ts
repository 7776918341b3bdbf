import { connect, type Socket } from "node:net"

const open: Array<Socket> = []

/** Ends all conversations. */
export const hangUp = (): void => {
  for (const socket of open.splice(0)) socket.destroy()
}

/** A client that speaks line by line; all of `127.0.0.0/8` are addresses of this machine. */
export const talk = (port: number, localAddress = "127.0.0.1") => {
  const socket = connect({ port, host: "127.0.0.1", localAddress })
  open.push(socket)
  let heard = ""
  let over = false
  const waiters = new Set<() => void>()
  const wake = () => {
    for (const waiter of waiters) waiter()
  }
  socket.on("data", (bytes) => {
    heard += bytes.toString()
    wake()
  })
  socket.on("error", () => undefined)
  const closed = new Promise<string>((resolve) =>
    socket.on("close", () => {
      over = true
      wake()
      resolve(heard)
    })
  )
  /** Waits for the last line of an answer. */
  const answer = () =>
    new Promise<string>((resolve) => {
      const look = () => {
        const end = /^\d{3} [^\n]*\n/m.exec(heard)
        if (end === null && !over) return
        waiters.delete(look)
        const cut = end === null ? heard.length : end.index + end[0].length
        const said = heard.slice(0, cut)
        heard = heard.slice(cut)
        resolve(said)
      }
      waiters.add(look)
      look()
    })
  const say = (line: string) => {
    socket.write(`${line}\r\n`)
    return answer()
  }
  return { answer, say, socket, closed }
}

/** A client that has named its sender and this recipient: what it writes next is the mail. */
export const talkToData = async (port: number, recipient: string) => {
  const client = talk(port)
  await client.answer()
  for (const line of ["EHLO client.test", "MAIL FROM:<a@x.test>", `RCPT TO:<${recipient}>`, "DATA"])
    await client.say(line)
  return client
}
