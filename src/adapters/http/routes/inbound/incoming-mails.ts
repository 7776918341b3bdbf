import { Effect, Schema } from "effect"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { ConvertByEmail } from "../../../../application/inbound/convert-by-email.ts"
import { MailId } from "../../../../domain/ids.ts"
import { MailOutcome } from "../../../../domain/inbound/mail-outcome.ts"
import { AuditNotes } from "../../../../ports/accounts/audit-log.ts"
import {
  IncomingMails,
  type IncomingMailRow,
  MAIL_STEPS,
  MAX_MAIL_PAGE
} from "../../../../ports/inbound/incoming-mails.ts"
import { AdminAccess, CurrentOwner, CurrentPrincipal, OwnerAccess } from "../../server/access.ts"
import { apiOf, cursor, DEFAULT_PAGE, filter, isUuid, page } from "../../server/endpoint.ts"
import {
  invalidCursor,
  InvalidRequest,
  problem,
  problemSchema,
  Unavailable,
  unavailable
} from "../../server/problem.ts"

/** Mails that an owner is shown. */
const OWN_MAILS = 50

/** Text for a customer after their mail was set aside. */
const SET_ASIDE = "The mail was set aside by the operator, and nothing in it was converted."

const Text = Schema.NullOr(Schema.String)
const Step = Schema.Literals(MAIL_STEPS)
const ReplyStatus = Schema.Literals(["queued", "sent", "failed"])

const IncomingMail = Schema.Struct({
  id: Schema.String,
  createdAt: Schema.String.annotate({ description: "When it arrived." }),
  sender: Text.annotate({ description: "The verified sender; null where nobody vouched for one." }),
  envelopeFrom: Schema.String,
  subject: Text,
  rawBytes: Schema.Int,
  step: Step,
  outcome: Schema.NullOr(MailOutcome),
  reason: Text.annotate({ description: "Why it ended so: the verdict on its sender, among others." }),
  customerId: Text,
  filename: Text,
  fileBytes: Schema.NullOr(Schema.Int),
  pages: Schema.NullOr(Schema.Int),
  creditsCharged: Schema.Int,
  attempts: Schema.Int,
  failingPart: Text.annotate({ description: "What it waits for." }),
  failingSince: Text,
  notBefore: Schema.String.annotate({ description: "When it is due." }),
  endedAt: Text,
  replies: Schema.Array(
    Schema.Struct({
      kind: Schema.String,
      recipient: Schema.String,
      status: ReplyStatus,
      attempts: Schema.Int,
      asLink: Schema.Boolean,
      error: Text,
      createdAt: Schema.String,
      endedAt: Text
    })
  )
}).annotate({ identifier: "IncomingMail" })

const params = { mailId: Schema.String }
const NotFound = problemSchema("NOT_FOUND", {})
const Ended = problemSchema("NOT_CONVERTING", {})

/** Mails to the convert address, for admins. */
export class IncomingMailGroup extends HttpApiGroup.make("incomingMails")
  .add(
    HttpApiEndpoint.get("incomingMails", "/api/admin/incoming-mails", {
      query: {
        step: filter(Step),
        outcome: filter(MailOutcome),
        sender: filter(Schema.String),
        limit: page(DEFAULT_PAGE, MAX_MAIL_PAGE),
        cursor
      },
      success: Schema.Struct({ rows: Schema.Array(IncomingMail), nextCursor: Text }),
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Mails to the convert address, newest first",
        description:
          "Each with its step, how it ended and why, what was charged, and its replies. `sender` matches the verified sender and the " +
          "envelope's, ignoring case."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("retryIncomingMail", "/api/admin/incoming-mails/:mailId/retry", {
      params,
      success: Schema.Struct({ mailId: Schema.String, retried: Schema.Literal(true) }),
      error: [NotFound, Ended, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Tries a mail again now",
        description:
          "One that waits is due at once, with all its attempts. Of one that has ended, the replies that did not go out are sent again. A " +
          "`mail_retried` row is written to `admin_audit_log`."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("setIncomingMailAside", "/api/admin/incoming-mails/:mailId/set-aside", {
      params,
      success: Schema.Struct({ mailId: Schema.String, outcome: Schema.Literal("error") }),
      error: [NotFound, Ended, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Ends a mail that has not ended",
        description:
          "Nothing is charged; a customer gets an error reply. A `mail_set_aside` row is written to `admin_audit_log`."
      })
    )
  )
  .middleware(AdminAccess) {}

const OwnMail = Schema.Struct({
  id: Schema.String,
  receivedAt: Schema.String,
  subject: Text,
  fileName: Text,
  step: Step,
  outcome: Schema.NullOr(MailOutcome),
  reason: Text,
  pages: Schema.NullOr(Schema.Int),
  creditsCharged: Schema.Int,
  reply: Schema.NullOr(ReplyStatus).annotate({ description: "What became of the last reply." }),
  url: Text.annotate({ description: "Where the result is, if no reply brought it as an attachment." }),
  expiresAt: Text
}).annotate({ identifier: "OwnMail" })

/** An owner's mails to the convert address. */
export class OwnMailGroup extends HttpApiGroup.make("ownMails")
  .add(
    HttpApiEndpoint.get("listMails", "/api/v1/mails", {
      success: Schema.Struct({ mails: Schema.Array(OwnMail) }),
      error: Unavailable
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Your mails to the convert address, newest first",
        description: `The ${OWN_MAILS} newest, with what became of each. Mails whose sender was not verified are not among them.`
      })
    )
  )
  .middleware(OwnerAccess) {}

const noMail = problem("NOT_FOUND", "There is no such mail")
const over = problem("NOT_CONVERTING", "This mail has ended, and has no reply that did not go out")
const ended = problem("NOT_CONVERTING", "This mail has ended")
const away = unavailable("the mails cannot be reached", "The mails cannot be reached now")

/** `/api/admin/incoming-mails`. */
export const incomingMailHandlers = HttpApiBuilder.group(
  apiOf(IncomingMailGroup),
  "incomingMails",
  Effect.fnUntraced(function* (handlers) {
    const mails = yield* IncomingMails
    const notes = yield* AuditNotes
    /** Written down before it is done: an act without its entry is worse than an entry without its act. */
    const note = Effect.fnUntraced(function* (action: string, target: string) {
      const { actor } = yield* CurrentPrincipal
      yield* notes.add({ action, actor, target }).pipe(Effect.catch(away))
      return actor
    })
    const idOf = (mailId: string) =>
      isUuid(mailId) ? Effect.succeed(MailId.make(mailId)) : Effect.fail(noMail)
    return handlers.handleAll({
      incomingMails: ({ query }) =>
        mails
          .page({
            step: query.step,
            outcome: query.outcome,
            sender: query.sender?.trim().toLowerCase() || undefined,
            cursor: query.cursor,
            limit: query.limit ?? DEFAULT_PAGE
          })
          .pipe(Effect.catchTags({ StoreUnavailable: away, InvalidCursor: () => invalidCursor("list") })),
      retryIncomingMail: Effect.fnUntraced(function* ({ params: { mailId } }) {
        const id = yield* idOf(mailId)
        yield* note("mail_retried", id)
        const answer = yield* mails.retry(id).pipe(Effect.catch(away))
        if (answer === undefined) return yield* Effect.fail(noMail)
        return answer === "ended" ? yield* Effect.fail(over) : { mailId, retried: true as const }
      }),
      setIncomingMailAside: Effect.fnUntraced(function* ({ params: { mailId } }) {
        const id = yield* idOf(mailId)
        const actor = yield* note("mail_set_aside", id)
        const options = { reason: `set aside by ${actor}`, reply: SET_ASIDE }
        const answer = yield* mails.setAside(id, options).pipe(Effect.catch(away))
        if (answer === undefined) return yield* Effect.fail(noMail)
        return answer === "ended" ? yield* Effect.fail(ended) : { mailId, outcome: "error" as const }
      })
    })
  })
)

/** A mail as its owner sees it. */
const ownMailOf = (
  {
    createdAt,
    creditsCharged,
    filename,
    id,
    outcome,
    pages,
    reason,
    replies,
    step,
    subject
  }: IncomingMailRow,
  kept: { readonly url: string; readonly expiresAt: number } | undefined
): typeof OwnMail.Type => ({
  id,
  receivedAt: createdAt,
  subject,
  fileName: filename,
  step,
  outcome,
  reason,
  pages,
  creditsCharged,
  reply: replies.at(-1)?.status ?? null,
  url: kept?.url ?? null,
  expiresAt: kept === undefined ? null : new Date(kept.expiresAt).toISOString()
})

/** `GET /api/v1/mails`. */
export const ownMailHandlers = HttpApiBuilder.group(
  apiOf(OwnMailGroup),
  "ownMails",
  Effect.fnUntraced(function* (handlers) {
    const mails = yield* IncomingMails
    const intake = yield* ConvertByEmail
    return handlers.handle(
      "listMails",
      Effect.fnUntraced(function* () {
        const { customerId } = yield* CurrentOwner
        const rows = yield* mails.ofCustomer(customerId, OWN_MAILS)
        const kept = new Map(
          (yield* intake.keptResults(customerId)).map((result) => [String(result.id), result])
        )
        return { mails: rows.map((row) => ownMailOf(row, kept.get(row.id))) }
      }, Effect.catch(away))
    )
  })
)
