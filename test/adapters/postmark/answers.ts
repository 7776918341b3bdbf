import type { FailureKind } from "../../../src/domain/mail/failover.ts"
import type { Outcome, Reply } from "../../support/vendors/fake-http.ts"

/** A refusal in the vendor's shape. */
export const says = (status: number, ErrorCode: number, Message = "The vendor's words."): Outcome => ({
  reply: { status, body: { ErrorCode, Message } }
})
const answers = (status: number, body: string | object, headers?: Reply["headers"]): Outcome => ({
  reply: { status, body, ...(headers === undefined ? {} : { headers }) }
})
const PAGE = "<html><body><h1>Bad gateway</h1></body></html>"

/** MAIL-37 and Postmark's API overview ("HTTP response codes", "API error codes"), row by row. */
export const ROWS: ReadonlyArray<
  readonly [what: string, outcome: Outcome, kind: FailureKind, code?: string]
> = [
  ["401, bad token", says(401, 10), "unavailable", "10"],
  ["403 of a proxy", answers(403, PAGE), "unavailable"],
  ["404", says(404, 0), "rejected"],
  ["408 of a gateway", answers(408, PAGE), "ambiguous"],
  ["413, too large", says(413, 0), "rejected"],
  ["413 of a proxy", answers(413, PAGE), "rejected"],
  ["415", says(415, 409), "rejected"],
  ["425, too early", answers(425, PAGE), "unavailable"],
  ["422, bad token", says(422, 10), "unavailable", "10"],
  ["422, invalid mail", says(422, 300), "rejected", "300"],
  ["422, sender signature not found", says(422, 400), "unavailable", "400"],
  ["422, sender signature not confirmed", says(422, 401), "unavailable", "401"],
  ["422, invalid JSON", says(422, 402), "rejected", "402"],
  ["422, no credits left", says(422, 405), "unavailable", "405"],
  ["422, inactive recipient", says(422, 406), "rejected", "406"],
  ["422, forbidden attachment", says(422, 411), "rejected", "411"],
  ["422, account pending", says(422, 412), "unavailable", "412"],
  ["422, account may not send", says(422, 413), "unavailable", "413"],
  ["422, stream is of another type", says(422, 1221), "unavailable", "1221"],
  ["422, stream not found", says(422, 1226), "unavailable", "1226"],
  ["422, stream of the mail not found", says(422, 1235), "unavailable", "1235"],
  ["422, a code of the future", says(422, 4711), "rejected", "4711"],
  ["422, a code that is a text", answers(422, { ErrorCode: "10", Message: "…" }), "rejected"],
  ["422, null", answers(422, "null"), "rejected"],
  ["429", "429", "unavailable", "429"],
  ["429 of a proxy", answers(429, PAGE), "unavailable"],
  ["500", "500", "ambiguous", "500"],
  ["500 with a refusal's code", says(500, 405), "ambiguous", "405"],
  ["500, the body breaks off", "truncated-500", "ambiguous"],
  ["502, a page", "502-html", "ambiguous"],
  ["503, maintenance", "503", "unavailable", "100"],
  ["503, another code", says(503, 0), "ambiguous"],
  ["503, JSON of a gateway", answers(503, { message: "Service Unavailable" }), "ambiguous"],
  ["503, a page", "503-html", "ambiguous"],
  ["504, a page", "504", "ambiguous"],
  ["200 without an id", "no-id-200", "ambiguous"],
  ["200, id empty", answers(200, { ErrorCode: 0, MessageID: "" }), "ambiguous"],
  ["200, id a number", answers(200, { ErrorCode: 0, MessageID: 7 }), "ambiguous"],
  ["200 with an error's code", answers(200, { ErrorCode: 406, MessageID: "m-1" }), "ambiguous"],
  ["200, null", answers(200, "null"), "ambiguous"],
  ["200, a page", "html-200", "ambiguous"],
  ["200, empty", "empty-200", "ambiguous"],
  ["200, accepted, the body breaks off", "truncated-200-accepted", "ambiguous"],
  ["200, longer than any answer", answers(200, "x".repeat(100_000)), "ambiguous"],
  ["302", answers(302, "", { location: "/elsewhere" }), "ambiguous"],
  ["307", answers(307, "", { location: "/email" }), "ambiguous"],
  ["reset before the body was read", "reset-before", "ambiguous"],
  ["accepted, then reset", "reset-after", "ambiguous"],
  // The one case in which Node says that nothing left.
  ["connection refused", "refused", "unavailable"]
]
