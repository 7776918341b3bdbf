import { Effect, Schema } from "effect"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { SenderDomain } from "../../../../application/doctor/sender-domain.ts"
import type { SenderDomainReport } from "../../../../domain/doctor/sender-domain.ts"
import { Provider } from "../../../../domain/mail/provider.ts"
import { AdminAccess } from "../../server/access.ts"
import { apiOf } from "../../server/endpoint.ts"
import { InvalidRequest } from "../../server/problem.ts"

const Report = Schema.Struct({
  domain: Schema.String,
  lookedAt: Schema.String,
  records: Schema.Array(
    Schema.Struct({
      provider: Schema.NullOr(Provider),
      purpose: Schema.Literals(["dkim", "spf", "dmarc", "return path", "other"]),
      type: Schema.String,
      name: Schema.String,
      value: Schema.String,
      priority: Schema.NullOr(Schema.Int),
      state: Schema.Literals(["published", "different", "missing", "unknown"]),
      found: Schema.NullOr(Schema.String)
    })
  ),
  advice: Schema.Array(
    Schema.Struct({
      status: Schema.Literals(["warn", "fail"]),
      what: Schema.String,
      why: Schema.String,
      do: Schema.String
    })
  ),
  notes: Schema.Array(Schema.String)
}).annotate({ identifier: "SenderDomain" })

/** The DNS records of the sender domain, for admins. */
export class SenderDomainGroup extends HttpApiGroup.make("senderDomain")
  .add(
    HttpApiEndpoint.get("look", "/api/admin/sender-domain", {
      query: { fresh: Schema.optionalKey(Schema.Literal("yes")) },
      success: Report,
      error: InvalidRequest
    }).annotateMerge(
      OpenApi.annotations({
        summary: "The DNS records of the sender domain, and whether they are published",
        description:
          "What the configured providers ask for; `provider` is null where all mail needs the record. `found` is what stands there instead, or why it is not known. " +
          "`advice` is what `postlane doctor` would mend, `notes` what could not be found out. " +
          "An answer is kept for five minutes in each process; `fresh=yes` looks again, once in ten seconds."
      })
    )
  )
  .middleware(AdminAccess) {}

const answerOf = ({ advice, at, domain, notes, records }: SenderDomainReport): typeof Report.Type => ({
  domain,
  lookedAt: new Date(at).toISOString(),
  records: records.map(({ found, of, priority, ...record }) => ({
    ...record,
    provider: of === "both" ? null : of,
    priority: priority ?? null,
    found: found ?? null
  })),
  advice: advice.map(({ do: remedy, status, what, why }) => ({ status, what, why, do: remedy })),
  notes
})

/** `GET /api/admin/sender-domain`. */
export const senderDomainHandlers = HttpApiBuilder.group(
  apiOf(SenderDomainGroup),
  "senderDomain",
  Effect.fnUntraced(function* (handlers) {
    const { look } = yield* SenderDomain
    return handlers.handle("look", ({ query }) =>
      Effect.map(look({ fresh: query.fresh === "yes" }), answerOf)
    )
  })
)
