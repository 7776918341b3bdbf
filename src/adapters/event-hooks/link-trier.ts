import { Effect, Layer } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { LinkTrier, type LinkTry } from "../../ports/mail/link-trier.ts"
import { AddressRefused, makeAddressCheck, type Resolve, resolveName } from "./addresses.ts"
import { makeConnections } from "./connections.ts"

/** Longest that one link is waited for, and that all of a mail are. */
const LINK_WITHIN = "8 seconds"
const ALL_WITHIN = "30 seconds"

/** Links that are tried at once. */
const AT_ONCE = 6

/** Most redirects of one link that are followed. */
const MAX_REDIRECTS = 5

/** Redirects of which the next address is asked (RFC 9110, 15.4). */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Addresses of this machine, which the server's own links have. */
const LOOPBACK = ["127.0.0.0/8", "::1/128"]

const HINT = "only addresses of the internet and of this server are tried"

const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0])
  return cause.message || cause.name
}

const failed = (cause: unknown): LinkTry => ({
  outcome: cause instanceof AddressRefused ? "skipped" : "silent",
  why: reasonOf(cause)
})

/** How links are looked up. */
interface LinkTrierOptions {
  readonly resolve?: Resolve
}

/** Asks an address, once it is checked. */
type Ask = (
  url: URL,
  signal: AbortSignal
) => Promise<{ readonly status: number; readonly location: string | undefined }>

const makeAsk =
  (
    addressesOf: (url: URL) => Promise<ReadonlyArray<string>>,
    { withPool }: ReturnType<typeof makeConnections>
  ): Ask =>
  async (url, signal) =>
    withPool(url, await addressesOf(url), async (pool) => {
      const { body, headers, statusCode } = await pool.request({
        method: "GET",
        path: url.pathname + url.search,
        headers: { "user-agent": "Postlane", accept: "*/*" },
        signal
      })
      // The body is not read; an error when it closes is ignored.
      body.on("error", () => {}).destroy()
      const { location } = headers
      return { status: statusCode, location: typeof location === "string" ? location : undefined }
    })

/** Follows an address to the end of its redirects. */
const follow = async (ask: Ask, address: string, signal: AbortSignal): Promise<LinkTry> => {
  let url = new URL(address)
  for (let followed = 0; ; followed += 1) {
    if (url.protocol !== "http:" && url.protocol !== "https:")
      return { outcome: "skipped", why: `${url.protocol} is not the web` }
    const { location, status } = await ask(url, signal)
    if (location === undefined || !REDIRECTS.has(status))
      return { outcome: "answered", status, leadsTo: followed === 0 ? undefined : url.href }
    if (followed === MAX_REDIRECTS)
      return { outcome: "silent", why: `it redirects more than ${MAX_REDIRECTS} times` }
    url = new URL(location, url)
  }
}

const tryOne = (ask: Ask, address: string): Effect.Effect<LinkTry> =>
  URL.canParse(address)
    ? withDeadline(
        Effect.tryPromise({ try: (signal) => follow(ask, address, signal), catch: failed }).pipe(
          Effect.catch(Effect.succeed)
        ),
        {
          duration: LINK_WITHIN,
          onTimeout: () =>
            Effect.succeed<LinkTry>({ outcome: "silent", why: `no answer within ${LINK_WITHIN}` })
        }
      )
    : Effect.succeed({ outcome: "skipped", why: "it is no address" })

/**
 * Links over HTTP, with the checks of event hooks: each host is looked up, and the connection goes to the address that was checked,
 * again at each redirect. It asks by GET, without cookies.
 */
export const layer = ({ resolve = resolveName }: LinkTrierOptions = {}): Layer.Layer<LinkTrier> =>
  Layer.effect(
    LinkTrier,
    Effect.gen(function* () {
      const outside = makeAddressCheck([], resolve, HINT)
      const here = makeAddressCheck(LOOPBACK, resolve, HINT)
      const connections = yield* Effect.acquireRelease(Effect.sync(makeConnections), ({ close }) =>
        Effect.promise(close)
      )
      return LinkTrier.of({
        tryAll: Effect.fnUntraced(function* (addresses, own) {
          const ask = makeAsk((url) => (own.has(url.origin) ? here : outside)(url.hostname), connections)
          const tried = new Map<string, LinkTry>()
          const each = Effect.forEach(
            new Set(addresses),
            (address) => Effect.map(tryOne(ask, address), (came) => void tried.set(address, came)),
            { concurrency: AT_ONCE, discard: true }
          )
          yield* withDeadline(each, { duration: ALL_WITHIN, onTimeout: () => Effect.void })
          return addresses.map(
            (address): LinkTry =>
              tried.get(address) ?? { outcome: "skipped", why: `its turn did not come within ${ALL_WITHIN}` }
          )
        })
      })
    })
  )
