import { type Verdict, verdictsOf } from "./verdict.ts"

/** What the server at `BASE_URL` says of the `PROXY_SHARED_SECRET` of this machine. `Unclear`: something else answered, or nothing did. */
export type ServedFacts =
  | { readonly _tag: "Takes" }
  | { readonly _tag: "Refuses" }
  | { readonly _tag: "Unclear"; readonly why: string }

const { fail, ok } = verdictsOf("served")

/** The verdicts on `served`. */
export const servedVerdicts = (facts: ServedFacts): ReadonlyArray<Verdict> => {
  switch (facts._tag) {
    case "Takes":
      return [ok("the server at BASE_URL takes the PROXY_SHARED_SECRET of this machine")]
    case "Refuses":
      return [
        fail({
          what: "the server at BASE_URL has another PROXY_SHARED_SECRET than this machine",
          why: "a process keeps the secrets that it started with, and a function those that its stack was applied with: one that was changed since is not there, and the others may not be either",
          do: "restart the server, or npm run infra -- apply in a checkout; or see where this machine's settings come from"
        })
      ]
    case "Unclear":
      // A proxy may close internal routes, and this machine may not reach the address: neither is a fault.
      return [
        ok(`whether the server at BASE_URL has the same secrets cannot be seen from here: ${facts.why}`)
      ]
  }
}
