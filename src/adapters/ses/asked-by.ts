import type { Fetch } from "../../ports/mail/transport.ts"

/** A request as the SDK has signed it. */
interface SignedRequest {
  readonly protocol: string
  readonly hostname: string
  readonly port?: number
  readonly path: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

type Ask = (args: never) => Promise<{ readonly response: unknown }>

/** The part of the SDK's commands that is used here. */
interface Command {
  readonly middlewareStack: {
    add(
      middleware: (next: Ask) => Ask,
      options: { readonly step: "deserialize"; readonly priority: "low"; readonly name: string }
    ): void
  }
}

/** What makes the request writes these by what it sends. */
const WRITTEN_ANEW = /^(?:host|content-length)$/i

/** Has another, if there is one, make the command's request, in place of the client's own connections. Its signature holds for what it was made of. */
export const askedBy = <C extends Command>(by: Fetch | undefined, signal: AbortSignal, command: C): C => {
  if (by === undefined) return command
  const ask = async ({ request }: { readonly request: SignedRequest }) => {
    const { body, headers, hostname, method, path, port, protocol } = request
    const answer = await by(`${protocol}//${hostname}${port === undefined ? "" : `:${port}`}${path}`, {
      method,
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !WRITTEN_ANEW.test(name))),
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal
    })
    const response = {
      statusCode: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: answer.body ?? undefined
    }
    return { response }
  }
  command.middlewareStack.add(() => ask, { step: "deserialize", priority: "low", name: "askedBy" })
  return command
}
