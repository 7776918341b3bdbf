import { Effect, Layer, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"

import { AdminToken } from "../api/admin.ts"
import { DevAccess } from "../api/dev.ts"
import { ProxySecret } from "../api/relay.ts"
import { problem, type Problem } from "../problem.ts"
import { bearerToken, secretCheck } from "../secret.ts"

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

const unauthenticated = problem("UNAUTHENTICATED", "An admin's bearer token is required")

/** 401 without an admin's bearer token. */
export const adminTokenLayer = (token: Redacted.Redacted | undefined): Layer.Layer<AdminToken> => {
  const check = secretCheck(token)
  return Layer.succeed(
    AdminToken,
    AdminToken.of({
      adminToken: (handler, { credential }) =>
        check(Redacted.value(credential)) ? handler : Effect.fail(unauthenticated)
    })
  )
}

const LOOPBACK_PEER = /^(?:127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/i
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

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

/** Loopback peers that name a loopback host, and admins. */
export const devAccessLayer = (token: Redacted.Redacted | undefined): Layer.Layer<DevAccess> => {
  const check = secretCheck(token)
  return Layer.succeed(
    DevAccess,
    DevAccess.of(
      Effect.fnUntraced(function* (handler) {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (check(bearerToken(request.headers["authorization"]))) return yield* handler
        if (fromAnotherSite(request)) return yield* otherSite
        const local =
          LOOPBACK_PEER.test(Option.getOrElse(request.remoteAddress, () => "")) &&
          LOOPBACK_HOST.test(request.headers["host"] ?? "")
        return yield* local ? handler : notLocal
      })
    )
  )
}
