import { Resolver } from "node:dns/promises"

import { Effect, Layer } from "effect"

import { Dns, DnsFailure } from "../../ports/doctor/examinations.ts"

/** One try, milliseconds. */
const TRY_MS = 2_000
const TRIES = 2

/** The name is not there, or has no record of this kind: an answer, not a failure. */
const NOTHING: ReadonlySet<unknown> = new Set(["ENODATA", "ENOTFOUND"])

const WORDS: ReadonlyMap<string, string> = new Map([
  ["ETIMEOUT", "the resolver did not answer"],
  ["ECONNREFUSED", "the resolver refused the connection"],
  [
    "ESERVFAIL",
    "the resolver answered SERVFAIL: the domain's name servers may be down, or DNSSEC may be broken"
  ],
  ["EREFUSED", "the resolver refused to look it up"],
  ["EBADNAME", "it is no name that DNS can hold"]
])

const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined

/** The system's resolvers, or the given ones (`ip:port`). Nothing is cached here. */
export const layer = (options: { readonly servers?: ReadonlyArray<string> } = {}): Layer.Layer<Dns> =>
  Layer.effect(
    Dns,
    Effect.acquireRelease(
      Effect.sync(() => {
        const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
        if (options.servers !== undefined) resolver.setServers(options.servers)
        return resolver
      }),
      (resolver) => Effect.sync(() => resolver.cancel())
    ).pipe(
      Effect.map((resolver) => {
        const records = <A>(
          ask: () => Promise<ReadonlyArray<A>>
        ): Effect.Effect<ReadonlyArray<A>, DnsFailure> =>
          Effect.tryPromise({ try: ask, catch: (cause) => codeOf(cause) ?? "unknown" }).pipe(
            Effect.catch((code) =>
              NOTHING.has(code)
                ? Effect.succeed([])
                : Effect.fail(new DnsFailure({ message: WORDS.get(code) ?? `the look-up failed (${code})` }))
            )
          )
        return Dns.of({
          cname: (name) => records(() => resolver.resolveCname(name)),
          mx: (name) =>
            records(async () =>
              (await resolver.resolveMx(name)).map(({ exchange, priority }) => ({ exchange, priority }))
            ),
          txt: (name) =>
            records(async () => (await resolver.resolveTxt(name)).map((strings) => strings.join("")))
        })
      })
    )
  )
