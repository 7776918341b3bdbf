import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { CustomerId } from "../../../../domain/ids.ts"
import { addressKey, parsePublicMailbox } from "../../../../domain/mail/address.ts"
import {
  Customers,
  MAX_CUSTOMER_NAME,
  MAX_CUSTOMER_PAGE,
  MAX_GRANT,
  MAX_GRANT_NOTE,
  MAX_REFERENCE
} from "../../../../ports/accounts/customers.ts"
import { AdminAccess, CurrentPrincipal } from "../../server/access.ts"
import { apiOf, cursor, DEFAULT_PAGE, filter, isUuid, mailboxIn, page, Text } from "../../server/endpoint.ts"
import { JsonBody, jsonBody } from "../../server/json-body.ts"
import {
  bodyRefusals,
  invalidCursor,
  InvalidRequest,
  invalidRequest,
  problem,
  problemSchema,
  Unavailable,
  unavailable
} from "../../server/problem.ts"

/** Text of a line: somebody reads it in a list. */
const Line = (maximum: number) =>
  Text.check(
    Schema.isMaxLength(maximum),
    Schema.makeFilter((text) => text.trim() !== "" || "is empty")
  )

const Customer = Schema.Struct({
  id: Schema.String,
  email: Schema.String,
  name: Schema.NullOr(Schema.String),
  planType: Schema.Literals(["free", "paid"]),
  creditsRemaining: Schema.NullOr(Schema.Int),
  freePagesLeft: Schema.NullOr(Schema.Int),
  heldCredits: Schema.Int,
  createdAt: Schema.String,
  closedAt: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Customer" })

const PATH = "/api/admin/customers"

/** Customers, for admins (DOC-33). */
export class CustomerGroup extends HttpApiGroup.make("customers")
  .add(
    HttpApiEndpoint.get("listCustomers", PATH, {
      query: {
        search: filter(Text.check(Schema.isMaxLength(320))),
        limit: page(DEFAULT_PAGE, MAX_CUSTOMER_PAGE),
        cursor
      },
      success: Schema.Struct({ rows: Schema.Array(Customer), nextCursor: Schema.NullOr(Schema.String) }),
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Customers with what they can spend now, newest first",
        description: "`search`: a part of the address or the name, in any case."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("addCustomer", PATH, {
      payload: Schema.Struct({
        email: Text.check(Schema.isMaxLength(320)),
        name: Schema.optionalKey(Line(MAX_CUSTOMER_NAME))
      }).annotate({ identifier: "CustomerRequest" }),
      success: Schema.Struct({
        customer: Customer,
        answer: Schema.Literals(["added", "reopened", "exists"])
      })
        .annotate({ identifier: "CustomerAdded" })
        .pipe(HttpApiSchema.status(201)),
      error: [...bodyRefusals(), Unavailable]
    })
      .annotateMerge(jsonBody(16 * 1024))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Registers a customer, with 10 free pages",
          description:
            "A closed account is opened again; `exists`: nothing was changed. A `customer_added` or `customer_reopened` row " +
            "is written to `admin_audit_log`."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("grantCredits", `${PATH}/:customerId/credits`, {
      params: { customerId: CustomerId },
      payload: Schema.Struct({
        credits: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_GRANT })),
        reference: Line(MAX_REFERENCE).annotate({ description: "What they are for: an invoice, a ticket." }),
        note: Schema.optionalKey(Text.check(Schema.isMaxLength(MAX_GRANT_NOTE)))
      }).annotate({ identifier: "GrantRequest" }),
      success: Schema.Struct({ answer: Schema.Literals(["granted", "repeated"]) }).annotate({
        identifier: "Granted"
      }),
      error: [
        ...bodyRefusals(),
        problemSchema("NOT_FOUND", {}),
        problemSchema("IDEMPOTENCY_CONFLICT", {}),
        Unavailable
      ]
    })
      .annotateMerge(jsonBody(16 * 1024))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Gives a customer credits, once for each reference",
          description:
            "The same call again answers `repeated` and changes nothing; the same reference with another number is 409. The " +
            "customer is on the paid plan from then on. A `credits_granted` row is written to `admin_audit_log`."
        })
      )
  )
  .middleware(JsonBody)
  .middleware(AdminAccess) {}

const noCustomer = problem("NOT_FOUND", "There is no such customer, or the account is closed")
const otherNumber = problem(
  "IDEMPOTENCY_CONFLICT",
  "This customer was given another number of credits under this reference. Nothing was changed"
)
const tooMany = invalidRequest([{ path: "credits", message: "are more than an account holds" }])

/** Another admin erased the person at the same moment. */
const gone = Effect.fail(problem("UNAVAILABLE", "The customer was deleted meanwhile"))

const away = unavailable("customers cannot be reached", "Customers cannot be reached now")

/** `/api/admin/customers`. */
export const customerHandlers = HttpApiBuilder.group(
  apiOf(CustomerGroup),
  "customers",
  Effect.fnUntraced(function* (handlers) {
    const customers = yield* Customers
    return handlers.handleAll({
      listCustomers: ({ query }) =>
        customers
          .page({
            search: query.search?.trim() || undefined,
            cursor: query.cursor,
            limit: query.limit ?? DEFAULT_PAGE
          })
          .pipe(Effect.catchTags({ StoreUnavailable: away, InvalidCursor: () => invalidCursor("list") })),
      addCustomer: Effect.fnUntraced(function* ({ payload }) {
        const email = addressKey(yield* mailboxIn("email", payload.email, parsePublicMailbox))
        const { actor } = yield* CurrentPrincipal
        return yield* Effect.gen(function* () {
          const answer = yield* customers.add({ email, name: payload.name?.trim(), actor })
          const customer = yield* customers.find(email)
          return customer === undefined ? yield* gone : { customer, answer }
        }).pipe(Effect.catchTag("StoreUnavailable", away))
      }),
      grantCredits: Effect.fnUntraced(function* ({ params: { customerId }, payload }) {
        if (!isUuid(customerId)) return yield* Effect.fail(noCustomer)
        const { actor } = yield* CurrentPrincipal
        const { credits, note, reference } = payload
        const answer = yield* customers
          .grant({ customerId, credits, reference: reference.trim(), note: note || undefined, actor })
          .pipe(Effect.catch(away))
        switch (answer) {
          case "granted":
          case "repeated":
            return { answer }
          case "reference_taken":
            return yield* Effect.fail(otherNumber)
          case "too_many":
            return yield* Effect.fail(tooMany)
          case "not_found":
            return yield* Effect.fail(noCustomer)
        }
      })
    })
  })
)
