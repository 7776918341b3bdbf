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
