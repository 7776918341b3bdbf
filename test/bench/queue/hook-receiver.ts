import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { servePeer } from "../process.ts"

/** A receiver of event hooks that answers at once, on every address of loopback; tells how many it has answered. */
let received = 0
const server = createServer((request, response) => {
  request.on("data", () => undefined)
  request.on("end", () => {
    received += 1
    response.writeHead(204).end()
  })
})
server.listen(0, "0.0.0.0", () => {
  const { port } = server.address() as AddressInfo
  servePeer({ port }, () => received)
})
