import type { FailureKind } from "./failover.ts"

/**
 * What the status of an HTTP answer proves of a mail (RFC 9110). A 4xx is a refusal; a 5xx and a redirect prove nothing. `isOwn503`: a 503
 * comes from the provider itself, which says by it that it took nothing; a proxy's says nothing. `refusal`: the kind of any other 4xx,
 * by the provider's own words.
 */
export const kindOfStatus = (
  status: number,
  { isOwn503, refusal }: { readonly isOwn503: boolean; readonly refusal: () => FailureKind }
): FailureKind => {
  if (status === 503) return isOwn503 ? "unavailable" : "ambiguous"
  if (status < 400 || status >= 500) return "ambiguous"
  switch (status) {
    case 401:
    case 403:
    case 425: // too early: not processed, by its definition
    case 429:
      return "unavailable"
    case 408: // a gateway that gave up waiting, perhaps for the service behind it
      return "ambiguous"
    default:
      return refusal()
  }
}

/** Codes of Node's TLS for a peer that it does not believe: the handshake, which comes before the request, was not ended. */
const UNTRUSTED =
  /^(?:ERR_TLS_CERT_ALTNAME_INVALID|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/

const memberOf = (error: Error, name: "code" | "syscall"): unknown =>
  (error as { readonly code?: unknown; readonly syscall?: unknown })[name]

/**
 * Whether an error of `fetch` proves that no byte of the request left. Node names the system call that failed: `connect` and
 * `getaddrinfo` come before the request, while a connection that is lost later fails in `read` or `write`. Where there is no Node no
 * error says so, and nothing is proven.
 */
export const isUnsent = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isUnsent)
  const [code, syscall] = [memberOf(error, "code"), memberOf(error, "syscall")]
  if (syscall === "connect" || syscall === "getaddrinfo" || code === "UND_ERR_CONNECT_TIMEOUT") return true
  if (typeof code === "string" && UNTRUSTED.test(code)) return true
  return error instanceof TypeError && isUnsent(error.cause)
}
