import type { IncomingMessage } from "node:http"

import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Context, Effect, Layer, Option, type Redacted, type Scope } from "effect"
import {
  HttpEffect,
  HttpIncomingMessage,
  HttpRouter,
  HttpServer,
  HttpServerRequest,
  type HttpServerResponse,
  UrlParams
} from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { isLoopback, networksOf } from "../../domain/networks.ts"
import { envelope } from "./around/envelope.ts"
import { layerUntracedLinks, traceLinks } from "./around/link-tokens.ts"
import { healthOnly, methodTable } from "./around/method-table.ts"
import { accountPageRoutes } from "./pages/link-pages.ts"
import { pageRoutes } from "./pages/routes.ts"
import { Api, apiHandlers, DevApi, devApiHandlers } from "./routes/api.ts"
import { webhookSecretLayer } from "./routes/delivery/webhooks.ts"
import { docsRoute } from "./routes/docs.ts"
import { vendorApiRoute } from "./routes/vendor-api.ts"
import {
  adminAccessLayer,
  devAccessLayer,
  isLocal,
  ownerAccessLayer,
  proxySecretLayer
} from "./server/access.ts"
import { behindProxies, type TrustedProxies } from "./server/client-address.ts"
import { type ConnectionLimits, MOST_OF_CLIENT } from "./server/connection-places.ts"
import type { PublicAddresses } from "./server/credentials.ts"
import { jsonBodyLayer } from "./server/json-body.ts"
import { type ListenerTimes, nodeServerLayer } from "./server/node-server.ts"
import { rateLimitedLayer, requestLimitsLayer } from "./server/rate-limit.ts"
import { maySendLayer, SendsMail } from "./server/sender.ts"

/** Largest body of a route without a separate limit, bytes. */
const DEFAULT_MAX_BODY = 1024 * 1024

/** Longest part of a path that is a parameter, characters: a mail address with every character escaped. */
const MAX_PATH_PARAMETER = 1000

const router = Layer.provide(
  HttpRouter.layer,
  Layer.succeed(HttpRouter.RouterConfig, { maxParamLength: MAX_PATH_PARAMETER })
)

/** `POST /api/v1/files`: a large file on a slow line may take long. */
const isUpload = ({ method, url }: Pick<IncomingMessage, "method" | "url">): boolean =>
  method === "POST" && url?.split("?", 1)[0] === "/api/v1/files"

/** Options of the HTTP server. An unset secret refuses every caller of the routes it guards. */
interface HttpOptions extends PublicAddresses {
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  /** Runs right before it listens. */
  readonly beforeListen?: Effect.Effect<void> | undefined
  /** `PROXY_SHARED_SECRET`, the header `x-proxy-secret` of the relay. */
  readonly proxySecret: Redacted.Redacted | undefined
  /** False: `EMAIL_PRIMARY=none`, no mail goes out. */
  readonly sendsMail?: boolean | undefined
  /** `TRUSTED_PROXIES`: none by default. */
  readonly trustedProxies?: TrustedProxies | undefined
  /** `PROVIDERB_WEBHOOK_SECRET`, the header `X-Webhook-Secret` of the event bus. */
  readonly webhookSecret: Redacted.Redacted | undefined
  /** False: a process without the role `api`, which serves health and metrics only. */
  readonly api?: boolean | undefined
  /** `HTTP_MAX_CONNECTIONS`; unlimited where absent. */
  readonly maxConnections?: number | undefined
  /** Connections of one client at once; {@link MOST_OF_CLIENT} where absent. */
  readonly connectionsOfClient?: number | undefined
  /** Tests shorten them. */
  readonly times?: ListenerTimes | undefined
}

/** Behind a proxy's address are many clients, and this machine's own may be one. */
const isProxy = (trusted: TrustedProxies): ((address: string) => boolean) => {
  if (typeof trusted === "number") return trusted > 0 ? () => true : isLoopback
  const named = networksOf(trusted)
  return (address) => isLoopback(address) || named(address)
}

const connectionLimits = (
  options: Pick<HttpOptions, "maxConnections" | "connectionsOfClient" | "trustedProxies">
): ConnectionLimits | undefined =>
  options.maxConnections === undefined
    ? undefined
    : {
        most: options.maxConnections,
        ofClient: options.connectionsOfClient ?? MOST_OF_CLIENT,
        isProxy:
          options.connectionsOfClient === undefined ? isProxy(options.trustedProxies ?? []) : () => false
      }

/** Routes of the API. */
const apiRoutes = (
  options: Pick<HttpOptions, "proxySecret" | "sendsMail" | "webhookSecret" | keyof PublicAddresses>,
  embedded = false
) =>
  HttpApiBuilder.layer(Api).pipe(
    Layer.provide(apiHandlers(options)),
    Layer.provide([
      proxySecretLayer(options.proxySecret),
      maySendLayer(options.proxySecret),
      Layer.succeed(SendsMail, options.sendsMail ?? true),
      adminAccessLayer(options),
      ownerAccessLayer(options),
      rateLimitedLayer,
      jsonBodyLayer,
      webhookSecretLayer(options.webhookSecret)
    ]),
    Layer.merge(docsRoute),
    Layer.provide(requestLimitsLayer),
    Layer.merge(vendorApiRoute),
    Layer.merge(pageRoutes(options, { outbox: embedded && isLocal(options) })),
    Layer.merge(accountPageRoutes)
  )

/** Routes of an embedded run. */
const devRoutes = (options: PublicAddresses) =>
  HttpApiBuilder.layer(DevApi).pipe(
    Layer.provide(devApiHandlers(options)),
    Layer.provide([devAccessLayer(options), jsonBodyLayer])
  )

/** Options around the routes, for every source of requests. */
interface Around extends Pick<HttpOptions, "api" | "trustedProxies"> {
  readonly embedded: boolean
  readonly baseUrl?: string | undefined
}

/** The routes as one handler. */
const handlerOf = <R>(options: Around, routes: Layer.Layer<never, never, R>) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(Layer.provideMerge(routes, router))
    const handler = Context.get(context, HttpRouter.HttpRouter).asHttpEffect()
    const inEnvelope = envelope(methodTable(options), options)
    const served = traceLinks(inEnvelope(options.api === false ? healthOnly(handler) : handler))
    return behindProxies(options.trustedProxies ?? [])(served)
  })

const layerRequests = Layer.mergeAll(
  Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(DEFAULT_MAX_BODY)),
  // Spans record URLs: a magic link has its token in the query (redacted here, with what people search for), other links in the path.
  Layer.succeed(UrlParams.CurrentRedactedNames, ["token", "subject", "search", "q"]),
  layerUntracedLinks,
  NodeHttpServer.layerHttpServices
)

/**
 * Serves without the services of the product in the context: handlers have theirs from when they were built, and each request copies
 * what is there.
 */
const serveAlone = (
  handler: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    never,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
): Effect.Effect<void, never, HttpServer.HttpServer | Scope.Scope> => {
  const served: Effect.Effect<void, never, HttpServer.HttpServer | Scope.Scope> =
    HttpServer.serveEffect(handler)
  return Effect.updateContext(served, (context: Context.Context<HttpServer.HttpServer | Scope.Scope>) =>
    Context.makeUnsafe<HttpServer.HttpServer | Scope.Scope>(
      new Map([...context.mapUnsafe].filter(([key]) => !key.startsWith("postlane/")))
    )
  )
}

/** Serves routes on their own listener. Fails with a `ListenError` that says what to do. */
export const serveRoutes = <R>(
  options: Around &
    Pick<HttpOptions, "host" | "port" | "beforeListen" | "times" | "maxConnections" | "connectionsOfClient">,
  routes: Layer.Layer<never, never, R>
) =>
  Layer.effectDiscard(Effect.flatMap(handlerOf(options, routes), serveAlone)).pipe(
    Layer.provide(layerRequests),
    Layer.provideMerge(nodeServerLayer({ ...options, isUpload, connections: connectionLimits(options) }))
  )

/** Where a web request came from, which the request itself does not hold. */
class Peer extends Context.Reference<string | undefined>("postlane/adapters/http/Peer", {
  defaultValue: () => undefined
}) {}

const fromPeer = <E, R>(handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.flatMap(Effect.all([HttpServerRequest.HttpServerRequest, Peer]), ([request, peer]) =>
    Effect.provideService(
      handler,
      HttpServerRequest.HttpServerRequest,
      request.modify({ remoteAddress: Option.fromUndefinedOr(peer) })
    )
  )

/** The API of a production run as a plain handler of requests and their peers, for a runtime that has no listener. */
export const webHandler = (options: Omit<HttpOptions, "host" | "port" | "beforeListen" | "times">) =>
  Effect.gen(function* () {
    const handler = fromPeer(yield* handlerOf({ ...options, embedded: false }, apiRoutes(options)))
    const toWeb = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>
    const answer = toWeb(yield* Effect.context<never>())(handler)
    return (request: Request, peer: string | undefined): Promise<Response> =>
      answer(request, Context.make(Peer, peer))
  }).pipe(Effect.provide(layerRequests))

/** The HTTP server of a production run. */
export const httpLayer = (options: HttpOptions) =>
  serveRoutes({ ...options, embedded: false }, apiRoutes(options))

/** The HTTP server of an embedded run, with the outbox and the simulation. */
export const embeddedHttpLayer = (options: HttpOptions) =>
  serveRoutes({ ...options, embedded: true }, Layer.merge(apiRoutes(options, true), devRoutes(options)))
