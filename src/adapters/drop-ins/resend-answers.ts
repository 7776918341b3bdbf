/** Names of Resend's errors that an answer here can have. */
type ResendErrorName =
  | "validation_error"
  | "missing_required_field"
  | "missing_api_key"
  | "invalid_api_key"
  | "invalid_idempotency_key"
  | "rate_limit_exceeded"
  | "method_not_allowed"
  | "invalid_parameter"
  | "invalid_attachment"
  | "invalid_idempotent_request"
  | "concurrent_idempotent_requests"
  | "not_found"
  | "application_error"

export interface ResendError {
  readonly name: ResendErrorName
  readonly message: string
  readonly statusCode: number
}

export interface ResendFailure {
  readonly data: null
  readonly error: ResendError
  readonly headers: null
}

export type ResendAnswer<T> =
  | { readonly data: T; readonly error: null; readonly headers: null }
  | ResendFailure

export const failure = (name: ResendErrorName, statusCode: number, message: string): ResendFailure => ({
  data: null,
  error: { name, statusCode, message },
  headers: null
})

export const success = <T>(data: T): ResendAnswer<T> => ({ data, error: null, headers: null })

/** Of a member or an option that is not taken here. */
export const notTaken = (message: string): ResendFailure => failure("invalid_parameter", 422, message)
