import { type CallProblem, type Problem, problemOf } from "./problems.ts"
import { retryAfterOf } from "./retry.ts"

/** How the success of a route arrives; `formats`: as text, or as JSON where the caller asks for it. */
export type Kind = "json" | "text" | "formats" | "bytes" | "events" | "none"

/** The answer is longer than the client takes. */
class TooLong extends Error {}

/** The whole body, and never more than `max` bytes of it. */
const bytesOf = async (response: Response, max: number): Promise<Uint8Array> => {
  const parts: Array<Uint8Array> = []
  let size = 0
  const reader = response.body?.getReader()
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > max) {
      void reader.cancel().catch(() => undefined)
      throw new TooLong(`the answer is longer than ${max} bytes`)
    }
    parts.push(value)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.byteLength
  }
  return whole
}

/** What the bytes of a success are, or `BAD` where they are something else. */
const BAD = Symbol("bad")
const decoded = (kind: Kind, type: string, bytes: Uint8Array): unknown => {
  if (kind === "none") return undefined
  if (kind === "bytes") return bytes
  const text = new TextDecoder().decode(bytes)
  if (kind === "text" || (kind === "formats" && type.startsWith("text/")))
    return type.startsWith("text/") ? text : BAD
  if (!/\bjson\b/.test(type)) return BAD
  try {
    return JSON.parse(text)
  } catch {
    return BAD
  }
}

/** Statuses of servers and proxies that may do better soon. */
const PASSING = new Set([408, 429, 500, 502, 503, 504])

const bad = (status: number, detail: string, retryable: boolean): CallProblem => ({
  code: "BAD_ANSWER",
  status,
  detail,
  retryable
})

type Read = { readonly data: unknown } | { readonly error: Problem | CallProblem }

/**
 * Reads an answer. `safe` says that the request may be sent again without knowing what became of it. Throws where the connection
 * ends before the body does.
 */
export const readAnswer = async (
  response: Response,
  { kind, maxBytes, safe }: { readonly kind: Kind; readonly maxBytes: number; readonly safe: boolean }
): Promise<Read> => {
  const { status } = response
  const type = response.headers.get("content-type")?.toLowerCase() ?? ""
  if (status < 200 || (status >= 300 && status < 400)) {
    void response.body?.cancel().catch(() => undefined)
    return { error: bad(status, "the server sends the caller elsewhere, which is not followed", false) }
  }
  let bytes: Uint8Array
  try {
    bytes = await bytesOf(response, maxBytes)
  } catch (error) {
    if (error instanceof TooLong) return { error: bad(status, error.message, false) }
    throw error
  }
  if (response.ok) {
    const data = decoded(kind, type, bytes)
    if (data !== BAD) return { data }
    return { error: bad(status, `the answer is not the ${kind} that was expected`, safe) }
  }
  const retryAfterMs = retryAfterOf(response.headers, Date.now())
  const asked = retryAfterMs === undefined ? {} : { retryAfterMs }
  const body = decoded("json", type, bytes)
  const problem = body === BAD ? undefined : problemOf(body, status)
  if (problem !== undefined) return { error: { ...problem, ...asked } }
  const other = bad(status, `status ${status} without a problem document`, safe && PASSING.has(status))
  return { error: { ...other, ...asked } }
}
