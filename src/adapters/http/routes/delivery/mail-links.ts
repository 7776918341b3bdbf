import { Effect, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { MailLinks, MAX_LINK_DAYS } from "../../../../application/delivery/mail-links.ts"
import { addressKey, parseMailbox } from "../../../../domain/mail/address.ts"
import { pathTo } from "../../../../domain/pages.ts"
import { EmailLogQuery } from "../../../../ports/delivery/email-log-query.ts"
import { acceptsPages, pagePolicy, pageResponse } from "../../pages/html-page.ts"
import { customerMailGonePage, customerMailPage } from "../../pages/links/customer-mail-page.ts"
import { AdminAccess, CurrentPrincipal } from "../../server/access.ts"
import type { PublicAddresses } from "../../server/credentials.ts"
import { apiOf, cursor, DEFAULT_PAGE, mailboxIn, openQuery, Page, Text } from "../../server/endpoint.ts"
import { JsonBody, jsonBody } from "../../server/json-body.ts"
import {
  bodyRefusals,
  InvalidRequest,
  problem,
  problemSchema,
  Unavailable,
  unavailable
} from "../../server/problem.ts"
import { RateLimited, RequestsPerMinute } from "../../server/rate-limit.ts"
import { logAway } from "./mail-story.ts"

const MailLinkRequest = Schema.Struct({
  recipient: Text.check(Schema.isMaxLength(320)),
  days: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_LINK_DAYS })).annotate({
      description: "How long it works; 7 unless it says otherwise."
    })
  )
}).annotate({ identifier: "MailLinkRequest" })

const DAYS = 7

/** Links for people who help a customer and have no account (EVENT-67). */
export class MailLinkGroup extends HttpApiGroup.make("mailLinks")
  .add(
    HttpApiEndpoint.post("make", "/api/admin/mail-links", {
      payload: MailLinkRequest,
      success: Schema.Struct({
        url: Schema.String.annotate({ description: "A secret: it opens by itself." }),
        expiresAt: Schema.String
      }).annotate({ identifier: "MailLink" }),
      error: [...bodyRefusals(), Unavailable]
    })
      .annotateMerge(jsonBody(4096))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Makes a link that shows what one address was mailed",
          description:
            "Read only, signed, and over after its days: subjects (not those of sign-in mails), when, and what became of them; no other address, no bodies. " +
            "Nobody can take it back before. One `mail_link` row in `admin_audit_log` tells of it."
        })
      )
  )
  .middleware(JsonBody)
  .middleware(AdminAccess) {}

/** The page behind such a link. There is no sign-in; the token authorises the caller. */
export class CustomerMailGroup extends HttpApiGroup.make("customerMail")
  .add(
    HttpApiEndpoint.get("show", "/customer-mail/:token", {
      params: { token: Schema.String },
      query: { cursor },
      success: Page,
      error: [problemSchema("NOT_FOUND", {}), InvalidRequest, problemSchema("UNAVAILABLE", {})]
    })
      .annotate(RequestsPerMinute, 60)
      .annotateMerge(
        OpenApi.annotations({
          summary: "What one address was mailed, newest first",
          description: "404 once the link has expired."
        })
      )
  )
  .middleware(RateLimited)
  .annotateEndpointsMerge(openQuery) {}

const away = unavailable("the key of the links does not answer", "Links cannot be made or read now")

export const mailLinkHandlers = ({ baseUrl }: PublicAddresses) =>
  HttpApiBuilder.group(
    apiOf(MailLinkGroup),
    "mailLinks",
    Effect.fnUntraced(function* (handlers) {
      const links = yield* MailLinks
      return handlers.handle(
        "make",
        Effect.fnUntraced(function* ({ payload: { days = DAYS, recipient } }) {
          const { actor } = yield* CurrentPrincipal
          const box = yield* mailboxIn("recipient", recipient, parseMailbox)
          const made = yield* links.make({ recipient: addressKey(box), days, actor }).pipe(Effect.catch(away))
          return {
            url: `${baseUrl}${pathTo.customerMail(made.token)}`,
            expiresAt: new Date(made.expiresAt).toISOString()
          }
        })
      )
    })
  )

const POLICY = pagePolicy("'none'")

/** The link is a secret: neither caches nor search engines keep what it shows. */
const PRIVATE = { "cache-control": "private, no-store", "x-robots-tag": "noindex, nofollow" }

/** A person's browser gets a page, a program a problem. */
const gone = (request: HttpServerRequest.HttpServerRequest) =>
  acceptsPages(request)
    ? Effect.succeed(pageResponse(customerMailGonePage, { policy: POLICY, headers: PRIVATE, status: 404 }))
    : Effect.fail(problem("NOT_FOUND", "This link does not work, or not any more"))

/** `GET /customer-mail/:token`. */
export const customerMailHandlers = HttpApiBuilder.group(
  apiOf(CustomerMailGroup),
  "customerMail",
  Effect.fnUntraced(function* (handlers) {
    const links = yield* MailLinks
    const log = yield* EmailLogQuery
    return handlers.handle(
      "show",
      Effect.fnUntraced(function* ({ params: { token }, query, request }) {
        const link = yield* links.open(token).pipe(Effect.catch(away))
        if (link === undefined) return yield* gone(request)
        const { expiresAt, recipient } = link
        const found = yield* log
          .page({ recipient, by: "mail", limit: DEFAULT_PAGE, cursor: query.cursor })
          .pipe(
            Effect.catchTags({
              StoreUnavailable: logAway,
              InvalidCursor: () => Effect.fail(problem("NOT_FOUND", "There is no such page of this list"))
            })
          )
        const made = customerMailPage({ recipient, until: new Date(expiresAt).toISOString(), found })
        return pageResponse(made, { policy: POLICY, headers: PRIVATE })
      })
    )
  })
)
