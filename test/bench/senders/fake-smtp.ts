import type { AddressInfo } from "node:net"

import { SMTPServer } from "smtp-server"

import { servePeer } from "../process.ts"

/** An SMTP server that takes every mail and keeps none. */
const server = new SMTPServer({
  disabledCommands: ["AUTH", "STARTTLS"],
  disableReverseLookup: true,
  logger: false,
  onData: (stream, _session, done) => {
    stream.on("end", () => done())
    stream.resume()
  }
})
server.listen(0, "127.0.0.1", () => {
  servePeer({ port: (server.server.address() as AddressInfo).port }, () => ({}))
})
