import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

import { Effect } from "effect"

const PRECONDITION =
  '<?xml version="1.0" encoding="UTF-8"?><Error><Code>PreconditionFailed</Code><Message>At least one of the pre-conditions you specified did not hold</Message></Error>'

/** Hands a request on, and its answer back. */
const forward = (target: URL, incoming: IncomingMessage, response: ServerResponse) =>
  new Promise<void>((resolve) => {
    const onward = request(
      new URL(incoming.url ?? "/", target),
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response).on("close", resolve)
      }
    )
    onward.on("error", () => {
      response.destroy()
      resolve()
    })
    incoming.pipe(onward)
  })

const exists = (target: URL, incoming: IncomingMessage) =>
  new Promise<boolean>((resolve, reject) => {
    const url = new URL(incoming.url ?? "/", target)
    request(new URL(url.pathname, target), { method: "HEAD" }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
      .on("error", reject)
      .end()
  })

/**
 * Stands before an S3 service that ignores conditions of writes, and keeps `If-None-Match: *` as Amazon S3 does: of several at once
 * one is taken, the others are answered 412.
 */
export const conditionalS3 = (endpoint: string) =>
  Effect.gen(function* () {
    const target = new URL(endpoint)
    const writes = new Map<string, Promise<void>>()
    const server = createServer((incoming, response) => {
      const key = incoming.url ?? "/"
      if (incoming.method !== "PUT" || incoming.headers["if-none-match"] !== "*") {
        void forward(target, incoming, response)
        return
      }
      const before = writes.get(key) ?? Promise.resolve()
      const write = async () => {
        await before
        if (!(await exists(target, incoming))) return forward(target, incoming, response)
        incoming.resume()
        response.writeHead(412, { "content-type": "application/xml" }).end(PRECONDITION)
      }
      writes.set(key, write())
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    )
    const { port } = server.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  })
