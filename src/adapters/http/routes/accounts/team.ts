import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { TeamInvitations } from "../../../../application/accounts/team-invitations.ts"
import { addressKey, addressOf } from "../../../../domain/mail/address.ts"
import { TeamInvites } from "../../../../ports/accounts/accounts.ts"
import { pageResponse } from "../../pages/html-page.ts"
import type { Html } from "../../pages/html.ts"
import { invitePage, joinedPage } from "../../pages/link-pages.ts"
import { AUTH_PAGE_POLICY, refuse } from "../../pages/sign-in.ts"
import { CurrentOwner, OwnerAccess } from "../../server/access.ts"
import { type PublicAddresses, siteOf } from "../../server/credentials.ts"
import { apiOf, isLinkToken, mailboxIn, openQuery, Page } from "../../server/endpoint.ts"
import { JsonBody, jsonBody } from "../../server/json-body.ts"
import { RepeatsWithoutKey } from "../../server/once.ts"
import { Forbidden, problem, problemSchema, unavailable } from "../../server/problem.ts"
import { RateLimited, RequestLimits, RequestsPerMinute, takeOrRefuse } from "../../server/rate-limit.ts"
import { formRefusals, FormsUnavailable } from "./forms.ts"

/** The body of an invitation. */
const InviteRequest = Schema.Struct({ email: Schema.String.check(Schema.isMaxLength(320)) }).annotate({
  identifier: "InviteRequest"
})

/** Invitations into the caller's team. */
export class TeamGroup extends HttpApiGroup.make("team")
  .add(
    HttpApiEndpoint.post("invite", "/api/v1/team/invites", {
      payload: InviteRequest,
      success: Schema.Struct({ inviteId: Schema.String, inviteSent: Schema.Boolean })
        .annotate({ identifier: "Invitation" })
        .pipe(HttpApiSchema.status(201)),
      error: [
        ...formRefusals,
        problemSchema("IDEMPOTENCY_IN_PROGRESS", {}),
        problemSchema("RATE_LIMITED", {})
      ]
    })
      .annotateMerge(jsonBody(4096))
      .annotate(RepeatsWithoutKey, "An open invitation is the same one, and is mailed once")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Invites somebody into the team",
          description:
            "`inviteSent` is true only where the mail went out, now or at an earlier call. Asked again while the invitation " +
            "is open, it is the same one, and its mail goes out again only where it did not before."
        })
      )
  )
  .middleware(JsonBody)
  .middleware(OwnerAccess) {}

/** The page behind an invitation's link. */
export class InvitePageGroup extends HttpApiGroup.make("invites")
  .add(
    HttpApiEndpoint.get("showInvite", "/invites/:token", {
      params: { token: Schema.String },
      success: Page,
      error: [problemSchema("LINK_EXPIRED", {})]
    })
      .annotate(RequestsPerMinute, 120)
      .annotateMerge(
        OpenApi.annotations({
          summary: "The page that an invitation opens: one button",
          description: "Accepts nothing, since mail scanners follow links."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("acceptInvite", "/invites/:token", {
      params: { token: Schema.String },
      success: Page,
      error: [Forbidden, problemSchema("LINK_EXPIRED", {}), FormsUnavailable]
    })
      .annotate(RequestsPerMinute, 60)
      .annotate(OpenApi.Summary, "Accepts an invitation, once")
  )
  .middleware(RateLimited)
  .annotateEndpointsMerge(openQuery) {}

/** How many people one customer invites: a stolen token must not become a source of unwanted mail. */
const INVITES_OF_A_CUSTOMER = { limit: 50, window: "1 day" } as const

const away = unavailable("invitations cannot be reached", "Invitations cannot be reached now")

/** `POST /api/v1/team/invites`. */
export const teamHandlers = HttpApiBuilder.group(
  apiOf(TeamGroup),
  "team",
  Effect.fnUntraced(function* (handlers) {
    const invitations = yield* TeamInvitations
    const limits = yield* RequestLimits
    const invite = Effect.fnUntraced(function* (address: string) {
      const { customerId } = yield* CurrentOwner
      const mailbox = yield* mailboxIn("email", address)
      yield* takeOrRefuse(limits, { key: `invites ${customerId}`, ...INVITES_OF_A_CUSTOMER })
      return yield* invitations.invite({ customerId, email: addressKey(mailbox), to: addressOf(mailbox) })
    })
    return handlers.handle("invite", ({ payload }) =>
      invite(payload.email).pipe(
        Effect.catchTags({
          StoreUnavailable: away,
          InviteUnderWay: () =>
            Effect.fail(problem("IDEMPOTENCY_IN_PROGRESS", "This invitation is being sent right now")),
          NoSuchTeam: () => Effect.fail(problem("UNAUTHENTICATED", "This account was deleted"))
        })
      )
    )
  })
)

const inviteOver = problem(
  "LINK_EXPIRED",
  "This invitation does not hold any more: it was accepted, withdrawn, or it is too old. Ask for a new one."
)
const otherSite = problem("FORBIDDEN", "Another site's page may not do this")

const answer = (page: Html) => pageResponse(page, { policy: AUTH_PAGE_POLICY })

/** `/invites/:token`. */
export const invitePageHandlers = (addresses: PublicAddresses) =>
  HttpApiBuilder.group(
    apiOf(InvitePageGroup),
    "invites",
    Effect.fnUntraced(function* (handlers) {
      const invites = yield* TeamInvites
      const site = siteOf(addresses)
      return handlers.handleAll({
        showInvite: ({ params: { token }, request }) =>
          isLinkToken(token) ? Effect.succeed(answer(invitePage(token))) : refuse(request, inviteOver),
        acceptInvite: Effect.fnUntraced(function* ({ params: { token }, request }) {
          if (site(request) === "other") return yield* refuse(request, otherSite)
          const accepted = isLinkToken(token)
            ? yield* invites.accept(token).pipe(Effect.catch(away))
            : undefined
          return accepted === undefined
            ? yield* refuse(request, inviteOver)
            : answer(joinedPage(accepted.inviter))
        })
      })
    })
  )
