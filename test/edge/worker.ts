import { sendEmail, type SendRequest } from "../../src/runtime/entries/edge.ts"

/** One call of `sendEmail`. */
export interface Call {
  readonly request: SendRequest
  /** Its bindings, these settings, or absent: none. */
  readonly env?: "bindings" | Readonly<Record<string, string>>
  readonly apiKey?: string
}

/** A worker that makes the calls that it is posted, one after another. */
export default {
  fetch: async (request: Request, bindings: Readonly<Record<string, unknown>>): Promise<Response> => {
    const calls = (await request.json()) as ReadonlyArray<Call>
    const results: Array<unknown> = []
    for (const { apiKey, env, request: mail } of calls) {
      results.push(await sendEmail(mail, { env: env === "bindings" ? bindings : env, apiKey }))
    }
    return Response.json(results)
  }
}
