import { Effect, Layer, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"

import type { Access } from "../../../ports/access.ts"
import { makeAdminCheck } from "../admin-check.ts"
import { DevAccess } from "../api/dev.ts"
import { ProxySecret } from "../api/relay.ts"
import { problem, type Problem } from "../problem.ts"
import { secretCheck } from "../secret.ts"

/** 403 for a wrong, missing or unset `x-proxy-secret`. */
export const proxySecretLayer = (secret: Redacted.Redacted | undefined): Layer.Layer<ProxySecret> => {
  const check = secretCheck(secret)
  return Layer.succeed(
    ProxySecret,
    ProxySecret.of({
      proxySecret: (handler, { credential }) =>
        check(Redacted.value(credential))
          ? handler
          : Effect.fail(problem("FORBIDDEN", "The header x-proxy-secret is missing or wrong"))
    })
  )
}

const LOOPBACK_PEER = /^(?:127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/i
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/** What proxies add: whoever sends it stands behind the peer. */
const FORWARDED = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip"
]

const isForwarded = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  FORWARDED.some((name) => headers[name] !== undefined)

/** A page of another site that a browser on this machine has open must not get through. */
const fromAnotherSite = ({ headers }: HttpServerRequest.HttpServerRequest): boolean => {
  const site = headers["sec-fetch-site"]
  if (site !== undefined && site !== "same-origin" && site !== "none") return true
  const origin = headers["origin"]
  return (
    origin !== undefined && origin !== `http://${headers["host"]}` && origin !== `https://${headers["host"]}`
  )
}

type Refusal = Effect.Effect<never, Problem<"UNAUTHENTICATED"> | Problem<"FORBIDDEN">>

const otherSite: Refusal = Effect.fail(problem("FORBIDDEN", "Another site may not use this"))
const notLocal: Refusal = Effect.fail(
  problem("UNAUTHENTICATED", "From another machine an admin's bearer token is required")
)

/** Loopback peers that name a loopback host and are no proxies, and admins. */
export const devAccessLayer: Layer.Layer<DevAccess, never, Access> = Layer.effect(
  DevAccess,
  Effect.map(makeAdminCheck, (isAdmin) =>
    DevAccess.of(
      Effect.fnUntraced(function* (handler) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const foreign = fromAnotherSite(request)
        const local =
          !isForwarded(request) &&
          LOOPBACK_PEER.test(Option.getOrElse(request.remoteAddress, () => "")) &&
          LOOPBACK_HOST.test(request.headers["host"] ?? "")
        if (local && !foreign) return yield* handler
        if (yield* isAdmin(request.headers["authorization"])) return yield* handler
        return yield* foreign ? otherSite : notLocal
      })
    )
  )
)
