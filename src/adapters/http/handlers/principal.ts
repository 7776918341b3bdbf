import { Effect, Layer } from "effect"
import { HttpEffect, HttpServerRequest } from "effect/http"

import { may, type Principal, type Right } from "../../../domain/principal.ts"
import { Access } from "../../../ports/access.ts"
import { AdminAccess, CurrentOwner, CurrentPrincipal, OwnerAccess } from "../api/access.ts"
import { noFile } from "../own-file.ts"
import { problem, type Problem, problemResponse } from "../problem.ts"
import { siteOf } from "../same-site.ts"
import { bearerToken } from "../secret.ts"
import { sessionCookieOf, withSessionCookie } from "../session-cookie.ts"

const READS = new Set(["GET", "HEAD"])

const unavailable = problem("UNAVAILABLE", "Who calls cannot be looked up now")
const otherSite = problem("FORBIDDEN", "Another site's page may not do this")

/** Finds out who calls: a bearer token decides where there is one, else the session's cookie. */
export const makeCaller = (baseUrl: string) =>
  Effect.map(Access, (access) => {
    const site = siteOf(baseUrl)
    return Effect.fnUntraced(function* (
      nobody: Problem
    ): Effect.fn.Return<Principal, Problem, HttpServerRequest.HttpServerRequest> {
      const request = yield* HttpServerRequest.HttpServerRequest
      const token = bearerToken(request.headers["authorization"])
      const lookedUp = Effect.catch(({ cause }: { readonly cause: unknown }) =>
        Effect.logWarning("who calls cannot be looked up", cause).pipe(
          Effect.andThen(Effect.fail(unavailable))
        )
      )
      if (token !== undefined) {
        return (yield* access.byToken(token).pipe(lookedUp)) ?? (yield* Effect.fail(nobody))
      }
      const cookie = sessionCookieOf(request)
      if (cookie === undefined) return yield* Effect.fail(nobody)
      if (!READS.has(request.method) && site(request) !== "own") return yield* Effect.fail(otherSite)
      const use = yield* access.bySession(cookie).pipe(lookedUp)
      if (use === undefined) return yield* Effect.fail(nobody)
      const { expiresAt, principal, renewed } = use
      if (renewed !== undefined) {
        yield* HttpEffect.appendPreResponseHandler((_, response) =>
          Effect.succeed(withSessionCookie(response, { baseUrl, cookie: renewed, expiresAt }))
        )
      }
      return principal
    })
  })

const mayNot = (right: Right) => problem("FORBIDDEN", `This needs the right ${right}`)

const noAdmin = problem("UNAUTHENTICATED", "An admin's bearer token or session is required")

/** 401 for nobody, 403 without the right. */
export const adminAccessLayer = (options: {
  readonly baseUrl: string
}): Layer.Layer<AdminAccess, never, Access> =>
  Layer.effect(
    AdminAccess,
    Effect.map(makeCaller(options.baseUrl), (caller) => {
      type Scheme = AdminAccess["Service"]["adminToken"]
      // Both schemes at once: the answer depends on which of the two a request has.
      const pass: Scheme = (handler, { endpoint }) =>
        Effect.matchEffect(caller(noAdmin), {
          onFailure: (refused) => Effect.succeed(problemResponse(refused)),
          onSuccess: (principal) => {
            const right: Right = READS.has(endpoint.method) ? "admin:read" : "admin"
            return may(principal, right)
              ? Effect.provideService(handler, CurrentPrincipal, principal)
              : Effect.succeed(problemResponse(mayNot(right)))
          }
        })
      return AdminAccess.of({ adminToken: pass, sessionCookie: pass })
    })
  )

const noOwner = problem("UNAUTHENTICATED", "A customer's bearer token or session is required")

/** A file of somebody else's is not found, never forbidden (contract, "Errors"): nor is it to who can have none. */
const noOwnerOf = ({ path }: { readonly path: string }) =>
  path.includes("/:fileId") ? noFile : mayNot("owner")

/** 401 for nobody; for somebody who acts for no customer, no file is there (404) and the rest is forbidden (403). */
export const ownerAccessLayer = (options: {
  readonly baseUrl: string
}): Layer.Layer<OwnerAccess, never, Access> =>
  Layer.effect(
    OwnerAccess,
    Effect.map(makeCaller(options.baseUrl), (caller) => {
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
