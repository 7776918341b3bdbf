import { request } from "node:http"

import type { Attacked } from "../hostile/server.ts"
import { Broken, hold, type Opened, type Serve } from "./target.ts"

export const PROXY_SECRET = "fuzz-proxy-secret"
export const BUS_SECRET = "fuzz-bus-secret"
export const ADMIN_TOKEN = "fuzz-admin-token"
export const SIGNING_SECRET = `whsec_${Buffer.from("the secret of fuzzing...").toString("base64")}`

/** A server with everything embedded, whose secrets are known. */
export const serverSettings = {
  PROXY_SHARED_SECRET: PROXY_SECRET,
  PROVIDERB_WEBHOOK_SECRET: BUS_SECRET,
  PROVIDERA_WEBHOOK_SECRET: SIGNING_SECRET,
  ADMIN_TOKEN,
  OWNER_TOKEN: "fuzz-owner-token"
}

let clients = 0
/** Each client has an address of its own: limits by address are another test's. */
export const nextAddress = (): string => {
  clients = (clients + 1) % 16_000_000
  return `127.${1 + (clients >> 16)}.${(clients >> 8) & 255}.${1 + (clients & 253)}`
}

/** Opens a target of the running server: what it logs as an error is a finding, whatever it answers. */
export const openServer = async (
  serve: Serve,
  answer: (server: Attacked, input: Buffer) => Promise<string>
): Promise<Opened> => {
  const server = await serve()
  const gone = server.gone.then(() => {
    throw new Broken("crash: the server ended")
  })
  // An answer that is awaited fails with this. Otherwise it must not count as an unhandled rejection.
  gone.catch(() => undefined)
  let read = server.lines.length
  const complaint = () => {
    // An alarm is what many bounces and complaints are to raise (EVENT-40).
    const line = server.lines
      .slice(read)
      .find((said) => /"level":"(?:error|fatal)"/i.test(said) && !said.includes('"EMAIL_ALARM '))
    read = server.lines.length
    return line
  }
  return {
    measure: server.measure,
    answer: async (input) => {
      const answered = await Promise.race([answer(server, input), gone])
      const line = complaint()
      if (line !== undefined) throw new Broken(`the server logs an error: ${line}`)
      return answered
    },
    // The next input meets the same server, unless it ended.
    close: () => Promise.resolve()
  }
}

/** Posts a body as it is; the class of the answer: its status and a problem's code. */
export const post = (
  server: Attacked,
  path: string,
  { body, headers }: { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> }
): Promise<string> =>
  new Promise<readonly [status: number, text: string]>((resolve, reject) => {
    const options = { method: "POST", agent: false, localAddress: nextAddress(), headers }
    const outgoing = request(`${server.url}${path}`, options)
    outgoing.on("error", reject)
    outgoing.on("response", (incoming) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("error", reject)
      incoming.on("end", () => resolve([incoming.statusCode ?? 0, Buffer.concat(chunks).toString("utf8")]))
    })
    outgoing.end(body)
  }).then(classOf)

/** Every answer is JSON; a refusal is a problem with a code. */
const classOf = ([status, text]: readonly [status: number, text: string]): string => {
  const answer: unknown = JSON.parse(text)
  if (status < 300) return `${status} ${Object.keys(Object(answer)).join(" ")}`
  const { code } = answer as { readonly code?: unknown }
  hold(typeof code === "string", `${status} without a problem's code: ${text.slice(0, 200)}`)
  hold(status < 500 || code === "EMAIL_FAILED", `${status} ${String(code)}: ${text.slice(0, 200)}`)
  return `${status} ${String(code)}`
}
