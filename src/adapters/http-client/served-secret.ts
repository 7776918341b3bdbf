import { Effect, Option, Redacted, Schema } from "effect"

import { boundedBody, MAX_ANSWER } from "../../domain/bounded-body.ts"
import type { ServedFacts } from "../../domain/doctor/served.ts"

/** The id of no send: the route asks for the secret before it looks. */
const NO_SEND = "00000000-0000-4000-8000-000000000000"

const decodeProblem = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ code: Schema.String }))
)

/** Asks the server at `baseUrl` for something that it answers to holders of `PROXY_SHARED_SECRET` alone. It changes nothing. */
export const examineServed = (options: {
  readonly baseUrl: string
  readonly secret: Redacted.Redacted
}): Effect.Effect<ServedFacts> =>
  Effect.tryPromise(async (signal): Promise<ServedFacts> => {
    const response = await fetch(new URL(`/internal/sends/${NO_SEND}`, options.baseUrl), {
      headers: { "x-proxy-secret": Redacted.value(options.secret) },
      // A redirect would carry the secret elsewhere.
      redirect: "manual",
      signal
    })
    const text = boundedBody(MAX_ANSWER)
    for await (const chunk of response.body ?? []) text.add(chunk)
    const problem = Option.getOrUndefined(decodeProblem(text.text()))
    if (response.status === 403 && problem?.code === "FORBIDDEN") return { _tag: "Refuses" }
    if (response.status === 404 && problem?.code === "NOT_FOUND") return { _tag: "Takes" }
    return {
      _tag: "Unclear",
      why: `it answered ${response.status} ${problem?.code ?? "without a problem document"}`
    }
  }).pipe(Effect.catch(() => Effect.succeed<ServedFacts>({ _tag: "Unclear", why: "the connection failed" })))
