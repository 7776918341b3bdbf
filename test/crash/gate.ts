import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { Effect, type Scope } from "effect"

const UNAVAILABLE = JSON.stringify({
  statusCode: 503,
  name: "service_unavailable",
  message: "API is temporarily unavailable"
})

/** A provider that holds back its answer to the first mail, and forwards every other request to `target`. */
export interface Gate {
  readonly url: string
  /** The first request is here, and unanswered. */
  readonly arrived: Promise<void>
  /** Answers the first request as Resend does that takes no mail now: a proof of non-acceptance. */
  readonly refuse: () => void
}

export const startGate = (target: string): Effect.Effect<Gate, never, Scope.Scope> =>
  Effect.gen(function* () {
    const arrived = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    let first = true
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        // The poll of events asks for the list by GET, and is let through.
        if (first && request.method === "POST") {
          first = false
          arrived.resolve()
          void answered.promise.then(() =>
            response.writeHead(503, { "content-type": "application/json" }).end(UNAVAILABLE)
          )
          return
        }
        const headers = Object.entries(request.headers).flatMap(([name, value]) =>
          typeof value === "string" &&
          !["host", "connection", "content-length", "transfer-encoding"].includes(name)
            ? [[name, value] as const]
            : []
        )
        void fetch(`${target}${request.url ?? "/"}`, {
          method: request.method ?? "POST",
          headers: Object.fromEntries(headers),
          ...(request.method === "GET" ? {} : { body: Buffer.concat(chunks) })
        }).then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
      })
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () =>
        Effect.promise(() => {
          server.closeAllConnections()
          return new Promise<void>((resolve) => server.close(() => resolve()))
        })
    )
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      arrived: arrived.promise,
      refuse: answered.resolve
    }
  })
