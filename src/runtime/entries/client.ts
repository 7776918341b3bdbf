/** `postlane/client`: a client of the HTTP API for browsers, Node and Workers. It imports no package. */
export type { CallOptions, ClientOptions } from "../../adapters/client/call.ts"
export { type Client, createClient, type ErrorOf } from "../../adapters/client/client.ts"
export type { ConversionEvent, ServerEvent } from "../../adapters/client/events.ts"
export type {
  Operations,
  ProblemCode,
  RawBody,
  ResultDocument
} from "../../adapters/client/generated/types.ts"
export {
  type ConversionEventData,
  type HookEvent,
  type MailEventData,
  readEvent,
  type RequestHeaders,
  type SuppressionEventData
} from "../../adapters/client/hook-events.ts"
export {
  type CallProblem,
  PostlaneError,
  type Problem,
  type Result,
  unwrap
} from "../../adapters/client/problems.ts"
export type { UploadProgress } from "../../adapters/client/progress.ts"
