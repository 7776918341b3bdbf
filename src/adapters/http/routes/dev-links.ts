import { Effect, Schema } from "effect"
import { HttpServer } from "effect/http"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { LinkTrier } from "../../../ports/mail/link-trier.ts"
import { MessageViews } from "../../../ports/mail/message-views.ts"
import { SimulatedMail } from "../../../ports/mail/simulated-mail.ts"
import { DevAccess } from "../server/access.ts"
import type { PublicAddresses } from "../server/credentials.ts"
import { apiOf } from "../server/endpoint.ts"
import { InvalidRequest, problem, problemSchema } from "../server/problem.ts"
import { makePlaces, takePlace } from "../server/rate-limit.ts"
import { MessageId, noMessage, outboxAway } from "./dev-list.ts"

/** Most links of a mail that are tried. */
const MAX_TRIED = 100

/** Mails in progress at once. */
const MAILS_AT_ONCE = 2

const LinkTries = Schema.Struct({
  tries: Schema.Array(
    Schema.Struct({
      href: Schema.String,
      outcome: Schema.Literals(["answered", "silent", "skipped"]),
      status: Schema.NullOr(Schema.Int),
      leadsTo: Schema.NullOr(Schema.String),
      why: Schema.NullOr(Schema.String)
    })
  ),
  left: Schema.Int
}).annotate({ identifier: "LinkTries" })

/** Trying the links of a mail; 404 where nothing is embedded. */
export class DevLinkGroup extends HttpApiGroup.make("links")
  .add(
    HttpApiEndpoint.post("tryLinks", "/dev/outbox/:id/link-tries", {
      params: { id: MessageId },
      success: LinkTries,
      error: [
        problemSchema("NOT_FOUND", {}),
        InvalidRequest,
        problemSchema("RATE_LIMITED", {}),
        problemSchema("UNAVAILABLE", {})
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Tries the links of a message",
        description:
          "Each web address is asked once by GET, without cookies, and redirects are followed; what is not of the internet is left out, but for this server's own. " +
          "`left`: how many were not tried, as there are too many."
      })
    )
  )
  .middleware(DevAccess) {}

/** The origins under which this machine reaches the server. */
const ownOrigins = (baseUrl: string, { address }: HttpServer.HttpServer["Service"]): ReadonlySet<string> => {
  const local =
    "port" in address
      ? ["127.0.0.1", "localhost", "[::1]"].map((host) => new URL(`http://${host}:${address.port}`).origin)
      : []
  return new Set([new URL(baseUrl).origin, ...local])
}

/** `POST /dev/outbox/:id/link-tries`. */
export const devLinkHandlers = ({ baseUrl }: PublicAddresses) =>
  HttpApiBuilder.group(
    apiOf(DevLinkGroup),
    "links",
    Effect.fnUntraced(function* (handlers) {
      const { outbox } = yield* SimulatedMail
      const views = yield* MessageViews
      const trier = yield* LinkTrier
      const own = ownOrigins(baseUrl, yield* HttpServer.HttpServer)
      const trying = makePlaces(MAILS_AT_ONCE, "mails whose links are tried")
      return handlers.handle(
        "tryLinks",
        Effect.fnUntraced(function* ({ params: { id } }) {
          const raw = yield* outbox.get(id).pipe(Effect.catch(outboxAway))
          if (raw === undefined) return yield* Effect.fail(noMessage)
          yield* takePlace(trying, "anybody")
          const { links } = yield* views
            .view(raw, { images: false })
            .pipe(Effect.catch(({ message }) => Effect.fail(problem("NOT_FOUND", message))))
          const hrefs = [...new Set(links.map(({ href }) => href))].filter((href) =>
            /^https?:\/\//i.test(href)
          )
          const asked = hrefs.slice(0, MAX_TRIED)
          const tries = yield* trier.tryAll(asked, own)
          return {
            tries: tries.map((one, at) => ({
              href: asked[at] ?? "",
              outcome: one.outcome,
              status: one.outcome === "answered" ? one.status : null,
              leadsTo: (one.outcome === "answered" ? one.leadsTo : undefined) ?? null,
              why: one.outcome === "answered" ? null : one.why
            })),
            left: hrefs.length - asked.length
          }
        })
      )
    })
  )
