import { Config, Context, Effect, Layer, Redacted, type Schema } from "effect"
import { HttpClient, type HttpClientError, HttpClientRequest } from "effect/http"
import {
  type HttpApi,
  HttpApiClient,
  type HttpApiEndpoint,
  type HttpApiGroup,
  type HttpApiMiddleware
} from "effect/http-api"

import { ROUTES } from "../../adapters/client/generated/routes.ts"
import { routeOf } from "../../adapters/client/route.ts"
import { Api } from "../../adapters/http/routes/api.ts"

/**
 * Where the server is, and who asks.
 *
 * @since 0.1.0
 * @category options
 */
export interface EffectClientOptions {
  readonly baseUrl: string
  /** Bearer token of an owner or an admin. */
  readonly token?: Redacted.Redacted | undefined
  /** The relay's shared secret; it is sent to the relay's own routes, and to no other. */
  readonly secret?: Redacted.Redacted | undefined
}

/** The tag of a code: `FileNotFound` of `FILE_NOT_FOUND`. */
type TagOf<Code extends string> = Code extends `${infer Word}_${infer Rest}`
  ? `${Capitalize<Lowercase<Word>>}${TagOf<Rest>}`
  : Capitalize<Lowercase<Code>>

/**
 * A problem that the server answered with, and its code as a tag: `Effect.catchTag("FileNotFound", …)`.
 *
 * @since 0.1.0
 * @category errors
 */
export type Tagged<E> = E extends { readonly code: infer Code extends string; readonly retryable: boolean }
  ? E & { readonly _tag: TagOf<Code> }
  : E

/** A call that gives what the server answered, decoded; its problems have tags. */
type Call<Endpoint extends HttpApiEndpoint.ConstraintRequest> = (
  request: HttpApiEndpoint.ClientRequest<
    Endpoint["~Params"],
    Endpoint["~Query"],
    Endpoint["~Payload"],
    Endpoint["~Headers"],
    "decoded-only",
    never
  >
) => Effect.Effect<
  HttpApiClient.SuccessType<Endpoint["~Success"]>,
  | Tagged<Endpoint["~Error"]["Type"] | HttpApiMiddleware.Error<Endpoint["~Middleware"]>>
  | HttpClientError.HttpClientError
  | Schema.SchemaError
>

type Calls<Endpoints> = {
  readonly [Name in keyof Endpoints]: Endpoints[Name] extends HttpApiEndpoint.ConstraintRequest
    ? Call<Endpoints[Name]> & HttpApiClient.Client.Method<Endpoints[Name], never, never>
    : never
}

type GroupsOf<A> = A extends HttpApi.HttpApi<infer _Id, infer Groups> ? Groups : never

/**
 * The groups of the API, and in each its routes: `client.files.getFile({ params: { fileId }, query: {} })`.
 *
 * @since 0.1.0
 * @category models
 */
export type EffectClient = {
  readonly [Group in GroupsOf<typeof Api> as HttpApiGroup.Identifier<Group>]: Calls<Group["endpoints"]>
}

/** The routes that ask for the shared secret; their paths have no parameters. */
const WITH_SECRET = new Set(
  Object.values(ROUTES)
    .flatMap((routes): ReadonlyArray<string> => Object.values(routes))
    .flatMap((text) => {
      const { path, secret } = routeOf(text)
      return secret ? [path] : []
    })
)

const authorised = ({ baseUrl, secret, token }: EffectClientOptions) => {
  const base = new URL(baseUrl).pathname.replace(/\/$/, "")
  return HttpClient.mapRequest((request) => {
    const { pathname } = new URL(request.url, baseUrl)
    const path = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname
    if (WITH_SECRET.has(path)) {
      return secret === undefined
        ? request
        : HttpClientRequest.setHeader(request, "x-proxy-secret", Redacted.value(secret))
    }
    return token === undefined ? request : HttpClientRequest.bearerToken(request, token)
  })
}

const isProblem = (error: unknown): error is { readonly code: string } =>
  typeof error === "object" && error !== null && "code" in error && "retryable" in error && !("_tag" in error)

const tagOf = (code: string): string =>
  code.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

const tagged = (error: unknown): unknown => (isProblem(error) ? { _tag: tagOf(error.code), ...error } : error)

/**
 * The client, on the `HttpClient` of the context. What the server refuses is in the error channel: a problem with its code as a tag, its
 * `detail`, and `retryable`.
 *
 * **Example** (A file that is not there)
 *
 * ```ts
 * const status = Effect.gen(function* () {
 *   const client = yield* makeClient({ baseUrl: "https://mail.example.com", token })
 *   return (yield* client.files.getFile({ params: { fileId }, query: {} })).file.status
 * }).pipe(Effect.catchTag("FileNotFound", () => Effect.succeed("gone")))
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeClient = (
  options: EffectClientOptions
): Effect.Effect<EffectClient, never, HttpClient.HttpClient> =>
  HttpApiClient.make(Api, {
    baseUrl: options.baseUrl,
    transformClient: authorised(options),
    transformResponse: Effect.mapError(tagged)
  }) as unknown as Effect.Effect<EffectClient, never, HttpClient.HttpClient>

/**
 * The client as a service.
 *
 * @since 0.1.0
 * @category services
 */
export class PostlaneClient extends Context.Service<PostlaneClient, EffectClient>()(
  "postlane/client/effect/PostlaneClient"
) {
  /**
   * On the `HttpClient` of the context.
   *
   * @since 0.1.0
   * @category layers
   */
  static readonly layer = (
    options: EffectClientOptions
  ): Layer.Layer<PostlaneClient, never, HttpClient.HttpClient> =>
    Layer.effect(PostlaneClient, makeClient(options))

  /**
   * The same with what the `ConfigProvider` holds: `layerConfig({ baseUrl: Config.String("POSTLANE_URL"), … })`.
   *
   * @since 0.1.0
   * @category layers
   */
  static readonly layerConfig = (
    options: Config.Wrap<EffectClientOptions>
  ): Layer.Layer<PostlaneClient, Config.ConfigError, HttpClient.HttpClient> =>
    Layer.effect(PostlaneClient, Effect.flatMap(Config.unwrap(options), makeClient))
}
