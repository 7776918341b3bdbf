import type { Bucket } from "../../../src/adapters/cloudflare/bindings.ts"

interface RequestParts {
  readonly method: string
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

/** The part of `miniflare` that is needed; its own declarations do not pass the library check. */
interface MiniflareModule {
  readonly Miniflare: new (options: object) => {
    readonly ready: Promise<unknown>
    readonly dispatchFetch: (
      url: string,
      init: RequestParts
    ) => Promise<Pick<globalThis.Response, "json" | "text" | "status">>
    readonly getR2Bucket: (binding: string) => Promise<Bucket>
    readonly dispose: () => Promise<void>
  }
  readonly Response: typeof globalThis.Response
}

const moduleName: string = "miniflare"

const miniflareModule = (): Promise<MiniflareModule> => import(moduleName)

/** Buckets of the vendor's simulator, as this process sees them. */
export interface TestBuckets {
  /** One of them, without an object in it. */
  readonly empty: () => Promise<Bucket>
  readonly dispose: () => Promise<void>
}

export const emptyBucket = async (bucket: Bucket): Promise<void> => {
  const { objects } = await bucket.list({})
  if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key))
}

export const startBuckets = async (): Promise<TestBuckets> => {
  const { Miniflare } = await miniflareModule()
  const miniflare = new Miniflare({
    modules: true,
    script: "export default {}",
    r2Buckets: ["BUCKET"]
  })
  const bucket = await miniflare.getR2Bucket("BUCKET")
  return {
    empty: async () => {
      await emptyBucket(bucket)
      return bucket
    },
    dispose: () => miniflare.dispose()
  }
}

/** A worker in a real `workerd`. */
export interface EdgeWorker {
  /** Posts JSON and reads JSON. */
  readonly post: (body: unknown) => Promise<unknown>
  /** One request to a path of it. */
  readonly request: (
    path: string,
    init: RequestParts
  ) => Promise<{ readonly status: number; readonly text: string }>
  /** A bucket that it has, seen from here. */
  readonly bucket: (binding: string) => Promise<Bucket>
  /** What it wrote to its console. */
  readonly lines: ReadonlyArray<string>
}

export interface EdgeWorkerOptions {
  /** A module, bundled. */
  readonly script: string
  /** What the worker gets as `env`. */
  readonly bindings: Readonly<Record<string, string>>
  /** Answers the worker's requests to these hosts; without it they go out. */
  readonly outbound?: (request: globalThis.Request) => Promise<globalThis.Response>
  /** Whether it has Node's modules, as the documentation asks for where there is a database. */
  readonly withNode?: boolean
  /** Names of bindings that are buckets. */
  readonly buckets?: ReadonlyArray<string>
  /** Bindings that are services, which this process answers for. */
  readonly services?: Readonly<Record<string, (request: globalThis.Request) => Promise<globalThis.Response>>>
}

/** A worker that runs until it is disposed of. */
export interface RunningWorker extends EdgeWorker {
  readonly dispose: () => Promise<void>
}

/** Starts a worker; it takes seconds of processor time. */
export const startEdgeWorker = async ({
  script,
  bindings,
  buckets,
  outbound,
  services = {},
  withNode = true
}: EdgeWorkerOptions): Promise<RunningWorker> => {
  const { Miniflare, Response } = await miniflareModule()
  const answeredBy =
    (answer: (request: globalThis.Request) => Promise<globalThis.Response>) =>
    async (request: globalThis.Request) => {
      const { body, headers, status } = await answer(request)
      return new Response(body, { status, headers: Object.fromEntries(headers) })
    }
  const lines: Array<string> = []
  const miniflare = new Miniflare({
    modules: [{ type: "ESModule", path: "worker.js", contents: script }],
    compatibilityDate: "2026-04-01",
    compatibilityFlags: withNode ? ["nodejs_compat"] : [],
    bindings,
    // `/cdn-cgi/handler/email` and `/cdn-cgi/handler/scheduled` call the handlers of these names.
    unsafeTriggerHandlers: true,
    ...(buckets === undefined ? {} : { r2Buckets: buckets }),
    serviceBindings: Object.fromEntries(
      Object.entries(services).map(([name, answer]) => [name, answeredBy(answer)])
    ),
    handleStructuredLogs: ({ message }: { readonly message: string }) => {
      lines.push(message)
    },
    ...(outbound === undefined
      ? {}
      : {
          outboundService: async (request: globalThis.Request) => {
            const answer = await outbound(request)
            const headers = Object.fromEntries(answer.headers)
            return new Response(await answer.text(), { status: answer.status, headers })
          }
        })
  })
  return {
    post: async (body) => {
      const init = { method: "POST", body: JSON.stringify(body) }
      return (await miniflare.dispatchFetch("http://worker.test/", init)).json()
    },
    request: async (path, init) => {
      const answer = await miniflare.dispatchFetch(`http://worker.test${path}`, init)
      return { status: answer.status, text: await answer.text() }
    },
    bucket: (binding) => miniflare.getR2Bucket(binding),
    lines,
    dispose: () => miniflare.dispose()
  }
}

/** Runs `use` with a worker of its own. */
export const withEdgeWorker = async (
  options: EdgeWorkerOptions,
  use: (worker: EdgeWorker) => Promise<void>
): Promise<void> => {
  const worker = await startEdgeWorker(options)
  try {
    await use(worker)
  } finally {
    await worker.dispose()
  }
}
