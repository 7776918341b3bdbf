import { createSocket } from "node:dgram"

import { Effect, type Scope } from "effect"

/** Records by `TYPE name`; a name without any is NXDOMAIN, one with records of other types is NODATA. */
export interface Zone {
  readonly [record: string]: ReadonlyArray<string> | "SERVFAIL" | "silence"
}

const TYPES: Readonly<Record<number, string>> = { 5: "CNAME", 15: "MX", 16: "TXT" }

const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0])
  ])

/** The data of a record as it goes over the wire (RFC 1035, 3.3); a TXT record of over 255 bytes is split into strings. */
const dataOf = (type: string, text: string): Buffer => {
  if (type === "CNAME") return nameBytes(text)
  if (type === "MX") {
    const [priority = "0", exchange = ""] = text.split(" ")
    return Buffer.concat([Buffer.from([Number(priority) >> 8, Number(priority) & 255]), nameBytes(exchange)])
  }
  const bytes = Buffer.from(text)
  const strings: Array<Buffer> = []
  for (let at = 0; at < bytes.length; at += 255) {
    const part = bytes.subarray(at, at + 255)
    strings.push(Buffer.from([part.length]), part)
  }
  return Buffer.concat(strings)
}

/** Of the root, with a minute for what is not there. */
const SOA = Buffer.concat([
  Buffer.from([0, 0, 6, 0, 1, 0, 0, 0, 60, 0, 22]),
  Buffer.from([0, 0]),
  ...[1, 60, 60, 60, 60].map((seconds) => Buffer.from([0, 0, 0, seconds]))
])

const answer = (query: Buffer, zone: Zone): Buffer | undefined => {
  const labels: Array<string> = []
  let at = 12
  while (query[at] !== 0) {
    const length = query[at]!
    labels.push(query.subarray(at + 1, at + 1 + length).toString())
    at += length + 1
  }
  const question = query.subarray(12, at + 5)
  const name = labels.join(".").toLowerCase()
  const type = TYPES[query.readUInt16BE(at + 1)] ?? "?"
  const found = zone[`${type} ${name}`]
  if (found === "silence") return undefined
  const records = found === "SERVFAIL" ? [] : (found ?? [])
  const exists = Object.keys(zone).some((key) => key.endsWith(` ${name}`))
  const code = found === "SERVFAIL" ? 2 : exists ? 0 : 3
  const head = Buffer.alloc(12)
  head.writeUInt16BE(query.readUInt16BE(0), 0)
  head.writeUInt16BE(0x8180 | code, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  const answers = records.map((text) => {
    const data = dataOf(type, text)
    const fixed = Buffer.alloc(12)
    fixed.writeUInt16BE(0xc00c, 0)
    fixed.writeUInt16BE(query.readUInt16BE(at + 1), 2)
    fixed.writeUInt16BE(1, 4)
    fixed.writeUInt32BE(60, 6)
    fixed.writeUInt16BE(data.length, 10)
    return Buffer.concat([fixed, data])
  })
  // Some resolvers take "there is none" for an answer only where the zone's SOA says how long it holds (RFC 2308).
  const isNothing = records.length === 0 && code !== 2
  head.writeUInt16BE(isNothing ? 1 : 0, 8)
  return Buffer.concat([head, question, ...answers, ...(isNothing ? [SOA] : [])])
}

/** A DNS server on loopback, over UDP; gives its `ip:port`. Programs that know no other port need 53. */
export const startDns = (
  zone: Zone,
  { host = "127.0.0.1", port = 0 }: { readonly host?: string; readonly port?: number } = {}
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = createSocket("udp4")
      socket.on("message", (query, from) => {
        const reply = answer(query, zone)
        if (reply !== undefined) socket.send(reply, from.port, from.address)
      })
      await new Promise<void>((resolve) => socket.bind(port, host, resolve))
      return socket
    }),
    (socket) => Effect.promise(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  ).pipe(Effect.map((socket) => `${host}:${socket.address().port}`))
