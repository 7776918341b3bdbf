import type { ProblemCode, ProblemMembers } from "./generated/types.ts"

/** A problem document (RFC 9457), as the server answers with it outside 2xx. */
export type Problem<C extends ProblemCode = ProblemCode> = C extends ProblemCode
  ? {
      readonly code: C
      readonly type: string
      readonly title: string
      readonly status: number
      readonly detail: string
      /** The same request may succeed later and is safe to send again. */
      readonly retryable: boolean
      /** How long the server asks to wait, milliseconds. */
      readonly retryAfterMs?: number
    } & (C extends keyof ProblemMembers ? ProblemMembers[C] : unknown)
  : never

/** Problems that every route may answer with, in addition to its own. */
export type AnywhereCode =
  | "INVALID_REQUEST"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "REQUEST_TIMEOUT"
  | "HEADERS_TOO_LARGE"
  | "INTERNAL"
  | "SHUTTING_DOWN"

/**
 * What went wrong on this side: nothing, or nothing whole, came back (`NO_ANSWER`); what came is not of this API, such as a proxy's
 * page (`BAD_ANSWER`); the caller's signal ended the call (`ABORTED`).
 */
export interface CallProblem {
  readonly code: "NO_ANSWER" | "BAD_ANSWER" | "ABORTED"
  /** 0 where there was no answer. */
  readonly status: number
  readonly detail: string
  readonly retryable: boolean
  readonly retryAfterMs?: number
}

/** Thrown by {@link unwrap} and by the iterator of an event stream. */
export class PostlaneError<E extends Problem | CallProblem = Problem | CallProblem> extends Error {
  override readonly name = "PostlaneError"
  readonly problem: E
  constructor(problem: E) {
    super(`${problem.code}: ${problem.detail}`)
    this.problem = problem
  }
}

/** What a call resolves to. It rejects only for a mistake in the call itself, such as a header that cannot be sent. */
export type Result<A, E> =
  | { readonly ok: true; readonly status: number; readonly data: A; readonly attempts: number }
  | { readonly ok: false; readonly error: E; readonly attempts: number }

/** The data of a result, for callers that would rather have an exception. */
export const unwrap = <A, E extends Problem | CallProblem>(result: Result<A, E>): A => {
  if (result.ok) return result.data
  throw new PostlaneError(result.error)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** A problem document, checked as far as callers rely on it; `undefined` for anything else. */
export const problemOf = (body: unknown, status: number): Problem | undefined => {
  if (!isRecord(body) || typeof body["code"] !== "string" || typeof body["retryable"] !== "boolean")
    return undefined
  const title = typeof body["title"] === "string" ? body["title"] : ""
  const detail = typeof body["detail"] === "string" ? body["detail"] : title
  return { ...body, status, title, detail } as Problem
}
