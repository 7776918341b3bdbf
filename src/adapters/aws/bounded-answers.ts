import { boundedBody, MAX_ANSWER, MAX_SEND_ANSWER } from "../../domain/bounded-body.ts"

/** The answer of a service, before the SDK has read its body. */
interface RawOutput {
  readonly response: unknown
}

type Next = (args: never) => Promise<RawOutput>
type Middleware = (next: Next, context: { readonly commandName?: string }) => Next

/** The part of the SDK's clients that is used here. */
interface Client {
  readonly middlewareStack: {
    add(
      middleware: Middleware,
      options: { readonly step: "deserialize"; readonly priority: "low"; readonly name: string }
    ): void
  }
}

/** Commands with streamed answers, which the caller bounds. */
const STREAMED: ReadonlySet<string> = new Set(["GetObjectCommand", "ConverseStreamCommand"])

const hasBody = (response: unknown): response is { body: AsyncIterable<Uint8Array> | undefined } =>
  typeof response === "object" && response !== null && "body" in response

/**
 * Has a client of the SDK read each answer to a bound: 64 KB of a send, 1 MB otherwise (HTTP-15). The SDK itself reads to the end, as
 * much as there comes.
 */
export const withBoundedAnswers = <C extends Client>(client: C): C => {
  client.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        const output = await next(args)
        const { response } = output
        if (STREAMED.has(commandName) || !hasBody(response) || response.body === undefined) return output
        const body = boundedBody(commandName === "SendEmailCommand" ? MAX_SEND_ANSWER : MAX_ANSWER)
        for await (const chunk of response.body) body.add(chunk)
        Object.assign(response, { body: body.bytes() })
        return output
      },
    { step: "deserialize", priority: "low", name: "boundedAnswers" }
  )
  return client
}
