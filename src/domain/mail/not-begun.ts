import { Data } from "effect"

import type { RequestIssue } from "./message.ts"

/** The request is no message: nothing was looked up, claimed, sent or written. */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{
  readonly issues: ReadonlyArray<RequestIssue>
}> {
  override get message() {
    return this.issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ")
  }
}

/** The idempotency key stands for another payload. */
export class IdempotencyConflict extends Data.TaggedError("IdempotencyConflict")<{
  readonly idempotencyKey: string
}> {
  override get message() {
    return "This idempotency key was used with another payload in the last 24 hours"
  }
}

/** Another call with this key is under way: ask again. */
export class IdempotencyInProgress extends Data.TaggedError("IdempotencyInProgress")<{
  readonly idempotencyKey: string
}> {
  override get message() {
    return "A call with this idempotency key is under way"
  }
}

/** Why a send was not begun. */
export type NotBegun = InvalidRequest | IdempotencyConflict | IdempotencyInProgress
