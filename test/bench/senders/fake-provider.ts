import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { servePeer } from "../process.ts"

/**
 * Resend's and Amazon SES's send calls, answered as fast as `node:http` can: no rules, nothing kept but the counts, so that
 * what is measured is the client.
 */
const accepted = { resend: 0, ses: 0 }

const server = createServer((request, response) => {
  request.on("data", () => undefined)
  request.on("end", () => {
    const body =
      request.url === "/emails"
        ? `{"id":"m-${(accepted.resend += 1)}-${process.pid}"}`
        : request.url === "/v2/email/outbound-emails"
          ? `{"MessageId":"s-${(accepted.ses += 1)}-${process.pid}"}`
          : undefined
    response.writeHead(body === undefined ? 404 : 200, {
      "content-type": "application/json",
      "content-length": body?.length ?? 0
    })
    response.end(body)
  })
})
server.keepAliveTimeout = 600_000
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo
  servePeer({ url: `http://127.0.0.1:${port}` }, () => accepted)
})
