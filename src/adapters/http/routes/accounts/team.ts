import { Effect, Result } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { AccountClosing } from "../../../../domain/accounts/account-closing.ts"
import { TeamInvitations } from "../../../../domain/accounts/team-invitations.ts"
import { addressKey, addressOf, parseMailbox } from "../../../../domain/mail/address.ts"
import { Accounts, TeamInvites } from "../../../../ports/accounts/accounts.ts"
import type { StoreUnavailable } from "../../../../ports/store-unavailable.ts"
import { AUTH_PAGE_POLICY, refusalPage } from "../../pages/auth-page.ts"
import { PAGE_MEDIA_TYPE } from "../../pages/html-page.ts"
import { invitePage, joinedPage } from "../../pages/link-pages.ts"
import { makeJsonBodies } from "../../server/body.ts"
import { siteOf } from "../../server/credentials.ts"
import { bodyDecoder } from "../../server/decode-body.ts"
import { apiOf } from "../../server/group-api.ts"
import { invalidRequest, problem, type Problem, problemResponse } from "../../server/problem.ts"
import { RequestLimits, tooManyResponse } from "../../server/rate-limit.ts"
import { CurrentOwner } from "../../server/session.ts"
import { TeamGroup, InvitePageGroup, AccountGroup, InviteRequest } from "./caller-api.ts"

/** Largest body of an invitation, bytes. */
const MAX_BODY = 4096

/** How many people one customer invites: a stolen token must not become a source of unwanted mail. */
const INVITES_OF_A_CUSTOMER = { limit: 50, window: "1 day" } as const

/** The form of an invitation's token. */
const INVITE_TOKEN = /^[A-Za-z0-9_-]{43}$/

const json = (body: object, status: number) =>
  HttpServerResponse.text(JSON.stringify(body), { status, contentType: "application/json" })

const unavailable = (what: string) => (error: StoreUnavailable) =>
  Effect.logWarning(`${what} cannot be reached`, error).pipe(
    Effect.as(problemResponse(problem("UNAVAILABLE", `${what} cannot be reached now`)))
  )

const decodeInvite = bodyDecoder(InviteRequest)

/** `POST /api/v1/team/invites`. */
export const teamHandlers = HttpApiBuilder.group(
  apiOf(TeamGroup),
  "team",
  Effect.fnUntraced(function* (handlers) {
    const invitations = yield* TeamInvitations
    const limits = yield* RequestLimits
    const bodies = yield* makeJsonBodies
    return handlers.handleRaw("invite", ({ request }) =>
      Effect.gen(function* () {
        const { customerId } = yield* CurrentOwner
        const body = yield* bodies.read(request, MAX_BODY).pipe(Effect.flatMap(decodeInvite))
        const parsed = parseMailbox(body.email.trim())
        if (Result.isFailure(parsed)) {
          return problemResponse(invalidRequest([{ path: "email", message: parsed.failure }]))
        }
        const taken = yield* Effect.result(
          limits.take({ key: `invites ${customerId}`, ...INVITES_OF_A_CUSTOMER })
        )
        if (Result.isFailure(taken)) return tooManyResponse(taken.failure)
        const invite = { customerId, email: addressKey(parsed.success), to: addressOf(parsed.success) }
        return json(yield* invitations.invite(invite), 201)
      }).pipe(
        Effect.catchTags({
          StoreUnavailable: unavailable("Invitations"),
          InviteUnderWay: () =>
            Effect.succeed(
              problemResponse(problem("IDEMPOTENCY_IN_PROGRESS", "This invitation is being sent right now"))
            ),
          NoSuchTeam: () =>
            Effect.succeed(problemResponse(problem("UNAUTHENTICATED", "This account was deleted")))
        }),
        Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
      )
    )
  })
)

const html = (body: string, status = 200) =>
  HttpServerResponse.text(body, {
    status,
    contentType: PAGE_MEDIA_TYPE,
    headers: { "content-security-policy": AUTH_PAGE_POLICY }
  })

/** A refusal: a page for a person, a problem for a program. */
const refusal = ({ headers }: HttpServerRequest.HttpServerRequest, refused: Problem) =>
  /\btext\/html\b/i.test(headers["accept"] ?? "")
    ? html(refusalPage(refused.title, refused.detail), refused.status)
    : problemResponse(refused)

const inviteOver = problem(
  "LINK_EXPIRED",
  "This invitation does not hold any more: it was accepted, withdrawn, or it is too old. Ask for a new one."
)
const otherSite = problem("FORBIDDEN", "Another site's page may not do this")

/** `/invites/:token`. `baseUrl`: where the pages are served. */
export const invitePageHandlers = ({ baseUrl }: { readonly baseUrl: string }) =>
  HttpApiBuilder.group(
    apiOf(InvitePageGroup),
    "invites",
    Effect.fnUntraced(function* (handlers) {
      const invites = yield* TeamInvites
      const site = siteOf(baseUrl)
      return handlers
        .handleRaw("showInvite", ({ params: { token }, request }) =>
          Effect.succeed(INVITE_TOKEN.test(token) ? html(invitePage(token)) : refusal(request, inviteOver))
        )
        .handleRaw("acceptInvite", ({ params: { token }, request }) =>
          Effect.gen(function* () {
            if (site(request) === "other") return refusal(request, otherSite)
            const accepted = INVITE_TOKEN.test(token) ? yield* invites.accept(token) : undefined
            return accepted === undefined ? refusal(request, inviteOver) : html(joinedPage(accepted.inviter))
          }).pipe(Effect.catch(unavailable("Invitations")))
        )
    })
  )

const accountClosed = problemResponse(problem("UNAUTHENTICATED", "This account was deleted"))

/** `/api/v1/account`. */
export const accountHandlers = HttpApiBuilder.group(
  apiOf(AccountGroup),
  "account",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const closing = yield* AccountClosing
    return handlers
      .handleRaw("showAccount", () =>
        CurrentOwner.use(({ customerId }) => accounts.funds(customerId)).pipe(
          Effect.map((account) => (account === undefined ? accountClosed : json({ account }, 200))),
          Effect.catch(unavailable("Accounts"))
        )
      )
      .handleRaw("closeAccount", () =>
        CurrentOwner.use(({ customerId }) => closing.close(customerId)).pipe(
          Effect.map((closed) => json(closed, 202)),
          Effect.catch(unavailable("Accounts"))
        )
      )
  })
)
