import type { Bindings } from "../../src/runtime/edge/bindings.ts"
import worker from "../../src/runtime/entries/edge-email.ts"

type Context = Parameters<typeof worker.email>[2]
type Message = Parameters<typeof worker.email>[0]

/** An invocation that the platform ends as soon as its handler has answered. */
const doomed: Context = { waitUntil: () => undefined }

const dies = ({ headers }: Message) => headers.get("subject") === "The invocation dies"

const email = (message: Message, env: Bindings, ctx: Context): Promise<void> =>
  worker.email(message, env, dies(message) ? doomed : ctx)

/** Hands the worker a mail that the simulator's own trigger does not take: one of any size. */
const deliver = async (request: Request, env: Bindings, ctx: Context): Promise<Response> => {
  const { searchParams } = new URL(request.url)
  let rejected: string | undefined
  const message: Message = {
    from: searchParams.get("from") ?? "",
    to: searchParams.get("to") ?? "",
    headers: new Headers(),
    raw: request.body ?? new ReadableStream<Uint8Array>(),
    rawSize: Number(searchParams.get("size") ?? request.headers.get("content-length") ?? 0),
    setReject: (reason) => {
      rejected = reason
    }
  }
  try {
    await email(message, env, ctx)
    return Response.json({ outcome: "ok", rejectReason: rejected })
  } catch (cause) {
    return Response.json({ outcome: "exception", message: String(cause) })
  }
}

/** What a deployment of convert-by-email is. */
export default {
  email,
  scheduled: worker.scheduled,
  fetch: (request: Request, env: Bindings, ctx: Context): Promise<Response> =>
    new URL(request.url).pathname === "/deliver" ? deliver(request, env, ctx) : worker.fetch(request, env)
}
