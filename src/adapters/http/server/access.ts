import { hash } from "node:crypto"

import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import { HttpServerRequest, HttpEffect } from "effect/http"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"

import { may, type Principal, type Right } from "../../../domain/accounts/principal.ts"
import type { CustomerId } from "../../../domain/ids.ts"
import { isLoopback } from "../../../domain/networks.ts"
import { Access } from "../../../ports/accounts/access.ts"
import {
  bearerToken,
  type PublicAddresses,
  secretCheck,
  siteOf,
  sessionCookie,
  sessionCookieOf,
  withSessionCookie
} from "./credentials.ts"
import { Forbidden, problem, type Problem, problemResponse, problemSchema, unavailable } from "./problem.ts"
import { makeTurns } from "./slow-reads.ts"

/** In lower case, as generators of clients look for it; what callers write may be in any. */
const bearer = HttpApiSecurity.http({ scheme: "bearer" })

/** Lets only callers with the shared secret pass; others get 403 before the body is read. */
export class ProxySecret extends HttpApiMiddleware.Service<ProxySecret>()("postlane/http/ProxySecret", {
  security: { proxySecret: HttpApiSecurity.apiKey({ key: "x-proxy-secret", in: "header" }) },
  error: Forbidden
}) {}

/** Lets admins pass, and this machine where `BASE_URL` names no other host (HTTP-8). */
export class DevAccess extends HttpApiMiddleware.Service<DevAccess>()("postlane/http/DevAccess", {
  error: [problemSchema("UNAUTHENTICATED", {}), problemSchema("FORBIDDEN", {})]
}) {}

/** The caller of an admin route, for the entries in `admin_audit_log`. */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()(
  "postlane/http/CurrentPrincipal"
) {}

/** The calling customer: the route serves their files, team and account. */
export class CurrentOwner extends Context.Service<
  CurrentOwner,
  {
    readonly customerId: CustomerId
    /** The token's name, or the customer's address. */
    readonly actor: string
  }
>()("postlane/http/CurrentOwner") {}

const refusals = [
  problemSchema("UNAUTHENTICATED", {}),
  problemSchema("FORBIDDEN", {}),
  problemSchema("UNAVAILABLE", {})
] as const

/**
 * Lets an admin pass, by bearer token or by session cookie: the right `admin:read` for routes that only read, `admin` for
 * the rest. 401 without a principal; 403 without the right, and for another site's page that writes with the cookie. What admins read is
 * searched, counted and added up: a principal's reads run one after another, and 429 answers those beyond a few.
 */
export class AdminAccess extends HttpApiMiddleware.Service<AdminAccess, { provides: CurrentPrincipal }>()(
  "postlane/http/AdminAccess",
  { security: { adminToken: bearer, sessionCookie }, error: [...refusals, problemSchema("RATE_LIMITED", {})] }
) {}

/**
 * Lets a customer pass, by bearer token or by session cookie, and provides it; 401 and 403 as for {@link AdminAccess}, but
 * 404 for a file.
 */
export class OwnerAccess extends HttpApiMiddleware.Service<OwnerAccess, { provides: CurrentOwner }>()(
  "postlane/http/OwnerAccess",
  { security: { ownerToken: bearer, sessionCookie }, error: refusals }
) {}

/** How long a token last seen as an admin's still counts as one while the database does not answer. */
const REMEMBERED_MS = 3_600_000

/** Most tokens that are remembered. */
const MAX_REMEMBERED = 1000

/** Whether an `Authorization` header grants `admin:read`. */
type AdminCheck = (authorization: string | undefined) => Effect.Effect<boolean>

/**
 * The check for what an admin needs most while the database is down (`/ready`, the outbox): without the database it uses
 * what it saw of the token within the last hour. No route that reads or changes data uses it.
 */
export const makeAdminCheck: Effect.Effect<AdminCheck, never, Access> = Effect.map(Access, (access) => {
  const seen = new Map<string, number>()
  return Effect.fnUntraced(function* (authorization) {
    const token = bearerToken(authorization)
    if (token === undefined) return false
    const key = hash("sha256", token)
    const now = yield* Clock.currentTimeMillis
    return yield* access.byToken(token).pipe(
      Effect.map((principal) => {
        const admin = principal !== undefined && may(principal, "admin:read")
        if (!admin) seen.delete(key)
        else if (seen.has(key) || seen.size < MAX_REMEMBERED) seen.set(key, now)
        return admin
      }),
      Effect.catch(() => Effect.succeed(now - (seen.get(key) ?? Number.NEGATIVE_INFINITY) < REMEMBERED_MS))
    )
  })
})

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

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/** Headers that proxies add: a request with one was forwarded by its peer. */
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

/** A page of another site, open in a browser on this machine, must be refused. */
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
  problem(
    "UNAUTHENTICATED",
    "From another machine, and where BASE_URL names another host, an admin's bearer token is required"
  )
)

/** Whether our address is this machine's. */
export const isLocal = ({ baseUrl }: PublicAddresses): boolean => LOOPBACK_HOST.test(new URL(baseUrl).host)

/**
 * Lets admins pass, and, where our address is this machine's, loopback peers that name a loopback host and are no proxies
 * (HTTP-8). When our address is another host, a proxy is in front, and its requests look local: nginx adds no header and names the
 * upstream as the host.
 */
export const devAccessLayer = (addresses: PublicAddresses): Layer.Layer<DevAccess, never, Access> => {
  const servesThisMachine = isLocal(addresses)
  return Layer.effect(
    DevAccess,
    Effect.map(makeAdminCheck, (isAdmin) =>
      DevAccess.of(
        Effect.fnUntraced(function* (handler) {
          const request = yield* HttpServerRequest.HttpServerRequest
          const foreign = fromAnotherSite(request)
          const local =
            servesThisMachine &&
            !isForwarded(request) &&
            isLoopback(Option.getOrElse(request.remoteAddress, () => "")) &&
            LOOPBACK_HOST.test(request.headers["host"] ?? "")
          if (local && !foreign) return yield* handler
          if (yield* isAdmin(request.headers["authorization"])) return yield* handler
          return yield* foreign ? otherSite : notLocal
        })
      )
    )
  )
}

const READS = new Set(["GET", "HEAD"])

const away = unavailable("the caller's access cannot be looked up", "Who calls cannot be looked up now")
const sessionOfOtherSite = problem("FORBIDDEN", "Another site's page may not do this")

/** Identifies the caller: by the bearer token where there is one, else by the session cookie. */
export const makeCaller = (addresses: PublicAddresses) =>
  Effect.map(Access, (access) => {
    const site = siteOf(addresses)
    return Effect.fnUntraced(function* (
      unknown: Problem
    ): Effect.fn.Return<Principal, Problem, HttpServerRequest.HttpServerRequest> {
      const request = yield* HttpServerRequest.HttpServerRequest
      const token = bearerToken(request.headers["authorization"])
      if (token !== undefined) {
        return (yield* access.byToken(token).pipe(Effect.catch(away))) ?? (yield* Effect.fail(unknown))
      }
      const cookie = sessionCookieOf(request)
      if (cookie === undefined) return yield* Effect.fail(unknown)
      if (!READS.has(request.method) && site(request) !== "own") return yield* Effect.fail(sessionOfOtherSite)
      const use = yield* access.bySession(cookie).pipe(Effect.catch(away))
      if (use === undefined) return yield* Effect.fail(unknown)
      const { expiresAt, principal, renewed } = use
      if (renewed !== undefined) {
        yield* HttpEffect.appendPreResponseHandler((_, response) =>
          Effect.succeed(
            withSessionCookie(response, { baseUrl: addresses.baseUrl, cookie: renewed, expiresAt })
          )
        )
      }
      return principal
    })
  })

const mayNot = (right: Right) =>
  problem(
    "FORBIDDEN",
    `This needs the right ${right}, which this token or session lacks. An operator makes a token that has it: postlane token create --name NAME --right ${right}`
  )

const noAdmin = problem("UNAUTHENTICATED", "An admin's bearer token or session is required")

/** 401 without a principal, 403 without the right. */
export const adminAccessLayer = (addresses: PublicAddresses): Layer.Layer<AdminAccess, never, Access> =>
  Layer.effect(
    AdminAccess,
    Effect.map(makeCaller(addresses), (caller) => {
      type Scheme = AdminAccess["Service"]["adminToken"]
      const inTurn = makeTurns()
      // Both schemes at once: the answer depends on which of the two a request has.
      const pass: Scheme = (handler, { endpoint }) =>
        Effect.matchEffect(caller(noAdmin), {
          onFailure: (refused) => Effect.succeed(problemResponse(refused)),
          onSuccess: (principal) => {
            const isRead = READS.has(endpoint.method)
            const right: Right = isRead ? "admin:read" : "admin"
            if (!may(principal, right)) return Effect.succeed(problemResponse(mayNot(right)))
            const answer = Effect.provideService(handler, CurrentPrincipal, principal)
            return isRead ? inTurn(principal.actor, answer) : answer
          }
        })
      return AdminAccess.of({ adminToken: pass, sessionCookie: pass })
    })
  )

const noOwner = problem("UNAUTHENTICATED", "A customer's bearer token or session is required")

const noFile = problem("FILE_NOT_FOUND", "There is no such file")

/** Somebody else's file is 404, never 403 (DOC-3), also for a principal that cannot own files. */
const noOwnerOf = ({ path }: { readonly path: string }) =>
  path.includes("/:fileId") ? noFile : mayNot("owner")

/** 401 without a principal; a principal without a customer gets 404 for a file and 403 for the rest. */
export const ownerAccessLayer = (addresses: PublicAddresses): Layer.Layer<OwnerAccess, never, Access> =>
  Layer.effect(
    OwnerAccess,
    Effect.map(makeCaller(addresses), (caller) => {
      type Scheme = OwnerAccess["Service"]["ownerToken"]
      const pass: Scheme = (handler, { endpoint }) =>
        Effect.matchEffect(caller(noOwner), {
          onFailure: (refused) => Effect.succeed(problemResponse(refused)),
          onSuccess: (principal) => {
            const { actor, customerId } = principal
            return customerId !== undefined && may(principal, "owner")
              ? Effect.provideService(handler, CurrentOwner, { customerId, actor })
              : Effect.succeed(problemResponse(noOwnerOf(endpoint)))
          }
        })
      return OwnerAccess.of({ ownerToken: pass, sessionCookie: pass })
    })
  )
