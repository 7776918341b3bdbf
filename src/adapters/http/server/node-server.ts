import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http"
import { createServer as createTcpServer, type Socket } from "node:net"
import type { Duplex } from "node:stream"

import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Data, Effect, Layer, Metric, Schedule, type Scope } from "effect"
import { HttpServer } from "effect/http"

import { watchBodies } from "./body-watch.ts"
import { type ConnectionLimits, limitConnections } from "./connection-places.ts"
import { type Problem, problem, PROBLEM_MEDIA_TYPE, type ProblemCode } from "./problem.ts"
import { keepEarly, takeTurns } from "./request-turns.ts"

/** Limits of the listener. A request with headers or a body that arrives too slowly is cut. */
export interface ListenerTimes {
  readonly headersTimeout: number
  /** For the body; an upload may take longer while bytes arrive (`body-watch.ts`). */
  readonly requestTimeout: number
  readonly keepAliveTimeout: number
  /** How often the time limit of the headers is checked. */
  readonly connectionsCheckingInterval: number
}

/** Milliseconds. */
const TIMES: ListenerTimes = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 5_000
}
const MAX_HEADER_BYTES = 16 * 1024

/** How long requests under way may take to finish once the server closes; then their connections are cut. */
const CLOSE_GRACE = "5 seconds"

/** Shown from the start. */
export const refusedConnections = Metric.counter("postlane_http_connections_refused_total", {
  description: "HTTP connections that were closed unread, since there were too many",
  incremental: true
})
const countRefusedConnection = Metric.update(refusedConnections, 1)

/** The server cannot listen. */
class ListenError extends Data.TaggedError("ListenError")<{
  readonly host: string
  readonly port: number
  readonly code: string
  readonly cause: unknown
}> {
  override get message() {
    const where = `${this.host}:${this.port}`
    switch (this.code) {
      case "EADDRINUSE":
        return `${where} is taken by another program. Stop that one, or choose another port: PORT=${this.port + 1}`
      case "EACCES":
        return `This user may not listen on ${where}. Choose a port from 1024 on: PORT=8787`
      case "EADDRNOTAVAIL":
      case "ENOTFOUND":
        return `${this.host} is no address of this machine. Set HOST to one that is: HOST=127.0.0.1`
      default:
        return `Cannot listen on ${where} (${this.code}). Check HOST and PORT`
    }
  }
}

const codeOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return "unknown"
  if ("code" in error && typeof error.code === "string") return error.code
  return "cause" in error ? codeOf(error.cause) : "unknown"
}

/** Node's own code for headers that arrive too slowly; ours for bodies. */
const TOO_SLOW = "ERR_HTTP_REQUEST_TIMEOUT"

/** How long the client of a refused request may take to read the answer and hang up. */
const HANG_UP_WITHIN = 2_000

/**
 * What Node's parser refuses never becomes a request; the answer is a problem all the same. A client that does not close
 * its side is cut: the half-closed connection would be kept for ever.
 */
const answerUnparsed = (error: Error & { readonly code?: string }, socket: Socket): void => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  const code: ProblemCode =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "HEADERS_TOO_LARGE"
      : error.code === TOO_SLOW
        ? "REQUEST_TIMEOUT"
        : "INVALID_REQUEST"
  answerOn(socket, { ...problem(code, "This is no HTTP request that can be taken"), issues: [] })
}

const answerOn = (socket: Duplex, body: Problem & { readonly issues?: ReadonlyArray<never> }): void => {
  const text = JSON.stringify(body)
  socket.end(
    `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}\r\nconnection: close\r\ncontent-type: ${PROBLEM_MEDIA_TYPE}\r\n` +
      `x-content-type-options: nosniff\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  )
  setTimeout(() => socket.destroy(), HANG_UP_WITHIN).unref()
}

const answerSlow = ({ socket }: IncomingMessage): void =>
  answerUnparsed(Object.assign(new Error("the body did not arrive in time"), { code: TOO_SLOW }), socket)

const makeServer = (
  times: ListenerTimes,
  isUpload: (request: IncomingMessage) => boolean,
  onStuck: () => void
): Server => {
  const { requestTimeout } = times
  const server = createServer({
    requireHostHeader: false,
    ...times,
    requestTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES
  })
  server.on("clientError", answerUnparsed)
  server.on("connect", (_request, socket) =>
    answerOn(socket, problem("METHOD_NOT_ALLOWED", "This is no proxy: it makes no tunnels"))
  )
  watchBodies(server, { requestTimeout, isPatient: isUpload, onSlow: answerSlow, onStuck })
  // An unknown expectation may be ignored (RFC 9110, section 10.1.1).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  return server
}

/**
 * A listening Node server. When its scope closes it accepts no new connection, gives requests under way
 * {@link CLOSE_GRACE} to finish, and cuts the rest.
 */
export const nodeServerLayer = (options: {
  readonly host: string
  readonly port: number
  /** True for requests with a body that may take long. */
  readonly isUpload?: ((request: IncomingMessage) => boolean) | undefined
  /** Runs right before it listens. */
  readonly beforeListen?: Effect.Effect<void> | undefined
  /** Unlimited where absent. */
  readonly connections?: ConnectionLimits | undefined
  /** Tests shorten them. */
  readonly times?: ListenerTimes | undefined
}): Layer.Layer<HttpServer.HttpServer, ListenError> =>
  Layer.effect(
    HttpServer.HttpServer,
    Effect.gen(function* () {
      const warn = Effect.runForkWith(yield* Effect.context<never>())
      const node = makeServer(options.times ?? TIMES, options.isUpload ?? (() => false), () =>
        warn(Effect.logWarning("an upload is cut: it waited for this server to read on"))
      )
      yield* options.beforeListen ?? Effect.void
      if (options.connections !== undefined)
        limitConnections(node, options.connections, () => Effect.runFork(countRefusedConnection))
      const watchers = new Set(node.listeners("request"))
      const handEarly = keepEarly(node, watchers)
      const server = yield* NodeHttpServer.make(() => node, {
        host: options.host,
        port: options.port,
        gracefulShutdownTimeout: CLOSE_GRACE
      }).pipe(Effect.mapError(({ cause }) => new ListenError({ ...options, code: codeOf(cause), cause })))
      yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
      return HttpServer.make({
        address: server.address,
        serve: (app, middleware) =>
          (middleware === undefined ? server.serve(app) : server.serve(app, middleware)).pipe(
            Effect.andThen(Effect.sync(() => ignoreUpgrades(node))),
            Effect.andThen(Effect.sync(() => handEarly(() => takeTurns(node, watchers)))),
            Effect.andThen(closeIdleWhileClosing(node))
          )
      })
    })
  )

/**
 * No upgrade is supported, and a server may ignore the request for one (RFC 9110, section 7.8). Such a request is then
 * handled, and limited, like any other; Node's limits on an upgrade end with its headers.
 */
const ignoreUpgrades = (node: Server): void => void node.removeAllListeners("upgrade")

/** Closes kept-alive connections as they fall idle: they would hold a closing server until they time out. */
const closeIdleWhileClosing = (node: Server) =>
  Effect.addFinalizer(() =>
    Effect.sync(() => node.closeIdleConnections()).pipe(
      Effect.repeat({ schedule: Schedule.spaced("50 millis"), times: 200 }),
      Effect.forkDetach
    )
  )

/** A port that the system chose, held until it is released. */
interface ChosenPort {
  readonly port: number
  /** Releases it for the listener, which binds it at once. */
  readonly release: Effect.Effect<void>
}

/**
 * Chooses a port for `PORT=0` before there is a listener: links in mails and the addresses that this process posts to
 * contain it. Undefined where this host has none: the listener then reports why.
 */
export const choosePort = (host: string): Effect.Effect<ChosenPort | undefined, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<ChosenPort | undefined>((resume) => {
      // No client should know the port yet; a connection to it is closed at once.
      const server = createTcpServer((socket) => socket.destroy())
      server.once("error", () => resume(Effect.succeed(undefined)))
      server.listen({ host, port: 0 }, () => {
        const address = server.address()
        const release = Effect.callback<void>((closed) => void server.close(() => closed(Effect.void)))
        resume(
          address === null || typeof address === "string"
            ? Effect.as(release, undefined)
            : Effect.succeed({ port: address.port, release })
        )
      })
    }),
    (chosen) => chosen?.release ?? Effect.void
  )
