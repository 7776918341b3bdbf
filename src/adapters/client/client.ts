import { call, type CallOptions, type ClientOptions, events, type Session } from "./call.ts"
import type { ServerEvent, Streams } from "./events.ts"
import { ROUTES } from "./generated/routes.ts"
import type { Operations } from "./generated/types.ts"
import type { AnywhereCode, CallProblem, Problem, Result } from "./problems.ts"
import { type Input, routeOf } from "./route.ts"

type Name = keyof Operations
type Args<I> = Partial<I> extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions]

/** What may be wrong with a call: the problems that its route names, those of every route, and those of this side. */
export type ErrorOf<N extends Name> = Problem<Operations[N]["problem"] | AnywhereCode> | CallProblem

type EventOf<N extends Name> = N extends keyof Streams ? Streams[N] : ServerEvent

type Call<N extends Name> = Operations[N]["events"] extends true
  ? (...args: Args<Operations[N]["input"]>) => AsyncGenerator<EventOf<N>, void>
  : Operations[N] extends { readonly json: infer Data }
    ? <const I extends Operations[N]["input"]>(
        input: I,
        options?: CallOptions
      ) => Promise<
        Result<I extends { readonly format: "json" } ? Data : Operations[N]["success"], ErrorOf<N>>
      >
    : (...args: Args<Operations[N]["input"]>) => Promise<Result<Operations[N]["success"], ErrorOf<N>>>

type Routes = typeof ROUTES

/** Every operation by group and name, as the API's definition calls them. */
export type Client = {
  readonly [G in keyof Routes]: {
    readonly [O in keyof Routes[G]]: `${G & string}.${O & string}` extends Name
      ? Call<`${G & string}.${O & string}`>
      : never
  }
}

const bound = (session: Session, text: string) => {
  const route = routeOf(text)
  const use = route.kind === "events" ? events : call
  return (input: Input = {}, given: CallOptions = {}) => use(session, route, input, given)
}

/** Makes the client. It holds no connection and no state: make one a token, or one a request. */
export const createClient = (options: ClientOptions): Client => {
  const { baseUrl } = options
  const base = baseUrl.endsWith("/") ? baseUrl.slice(0, -1) : baseUrl
  if (base !== "" && !/^https?:$/.test(new URL(base).protocol))
    throw new TypeError("baseUrl is no http address")
  // Browsers refuse a `fetch` that is called as a method of anything else.
  const send: typeof fetch = options.fetch ?? ((...args) => fetch(...args))
  const session: Session = { base, send, options }
  const groups = Object.entries(ROUTES).map(([group, routes]) => [
    group,
    Object.fromEntries(Object.entries(routes).map(([name, text]) => [name, bound(session, text)]))
  ])
  return Object.fromEntries(groups) as Client
}
