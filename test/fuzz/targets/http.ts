import { readFileSync } from "node:fs"
import { connect } from "node:net"

import * as fc from "fast-check"

import type { Attacked } from "../../hostile/server.ts"
import { ADMIN_TOKEN, nextAddress, openServer, PROXY_SECRET } from "../server.ts"
import { hold, type Target } from "../target.ts"

const { paths } = JSON.parse(
  readFileSync(new URL("../../../public/openapi.json", import.meta.url), "utf8")
) as { readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>> }

const ID = "0199a000-0000-7000-8000-000000000001"
const KEYS = [
  `authorization: Bearer ${ADMIN_TOKEN}`,
  `x-proxy-secret: ${PROXY_SECRET}`,
  "authorization: Basic =",
  "cookie: a=b"
]
const TYPES = [
  "application/json",
  "text/plain",
  "multipart/form-data; boundary=b",
  "application/x-www-form-urlencoded",
  ""
]
const BODIES = [
  "{}",
  "[]",
  '{"to":"a@x.test"}',
  "null",
  '--b\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.4\r\n--b--\r\n',
  "a=b&a=c",
  "x"
]
const QUERIES = [
  "",
  "?limit=10",
  "?limit=-1",
  "?cursor=%00",
  "?email=a%40x.test",
  "?%E0%A4%A",
  "?a[]=1&a[]=2"
]
const CALLS = Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
)

interface Call {
  readonly line: string
  readonly query: string
  readonly id: string
  readonly headers: ReadonlyArray<string>
  readonly type: string
  readonly body: string
}

const requestOf = ({ body, headers, id, line, query, type }: Call): Buffer => {
  const [method = "GET", path = "/"] = line.replaceAll(/\{\w+\}/g, id).split(" ")
  const fields = ["host: x.test", ...headers, ...(type === "" ? [] : [`content-type: ${type}`])]
  const length = method === "GET" ? [] : [`content-length: ${Buffer.byteLength(body)}`]
  return Buffer.from(
    `${method} ${path}${query} HTTP/1.1\r\n${[...fields, ...length].join("\r\n")}\r\n\r\n${method === "GET" ? "" : body}`
  )
}

const plain = (line: string): Buffer =>
  requestOf({ line, query: "", id: ID, headers: KEYS.slice(0, 2), type: "application/json", body: "{}" })

/** A reply that has begun; a stream goes on for as long as somebody listens. */
const STREAM = /^content-type: text\/event-stream/im

/** Writes all, closes its side, and hears the rest. */
const exchange = (server: Attacked, input: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const port = Number(new URL(server.url).port)
    const socket = connect({ port, host: "127.0.0.1", localAddress: nextAddress(), allowHalfOpen: true })
    let heard = ""
    socket.on("connect", () => socket.end(input))
    socket.on("data", (chunk: Buffer) => {
      heard += chunk.toString("latin1")
      if (STREAM.test(heard.slice(0, 4_096))) socket.destroy()
    })
    // Cut off is an answer, too, where the request is none.
    socket.on("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code !== "ECONNRESET" && cause.code !== "EPIPE") reject(cause)
    })
    socket.on("end", () => socket.destroy())
    socket.on("close", () => resolve(heard))
  })

/** Statuses of the server that say what the client did. */
const MEANT = new Set(["501", "505"])

const answer = async (server: Attacked, input: Buffer): Promise<string> => {
  const heard = await exchange(server, input)
  const statuses = [...heard.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status ?? "")
  for (const status of statuses)
    hold(status < "500" || MEANT.has(status), `HTTP: ${status}: ${heard.slice(0, 600)}`)
  const codes = [...heard.matchAll(/"code":"([A-Z_]+)"/g)].slice(0, 1).map(([, code]) => code)
  return `${statuses.slice(0, 2).join(" ")}${statuses.length > 2 ? " …" : ""} ${codes.join("")}`
}

export const http: Target = {
  name: "http",
  about: "requests to every route, as bytes on a socket",
  limitMs: 15_000,
  memoryMb: 1_024,
  guided: false,
  seeds: () => CALLS.map(plain),
  made: fc
    .record({
      line: fc.constantFrom(...CALLS),
      query: fc.constantFrom(...QUERIES),
      id: fc.constantFrom(ID, "x", "%00", "..", "%2e%2e%2f", "a%20b", "é", "-1"),
      headers: fc.subarray(KEYS),
      type: fc.constantFrom(...TYPES),
      body: fc.constantFrom(...BODIES)
    })
    .map(requestOf),
  words: [
    "\r\n",
    "\n",
    "HTTP/1.1",
    "HTTP/9.9",
    " ",
    ":",
    "transfer-encoding: chunked\r\n",
    "content-length: 5\r\n",
    "0\r\n\r\n",
    "expect: 100-continue\r\n",
    "upgrade: h2c\r\nconnection: upgrade\r\n",
    "range: bytes=0-\r\n",
    "accept-encoding: gzip\r\n",
    "content-encoding: gzip\r\n",
    "%00",
    "%",
    "//",
    "?",
    "&",
    "\0",
    "\xff",
    ...KEYS.map((key) => `${key}\r\n`)
  ],
  open: (serve) => openServer(serve, answer)
}
