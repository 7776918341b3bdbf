/** The part of `miniflare` that is needed; its own declarations do not pass the library check. */
interface MiniflareModule {
  readonly Miniflare: new (options: object) => {
    readonly dispatchFetch: (
      url: string,
      init: {
        readonly method: string
        readonly body?: string
        readonly headers?: Readonly<Record<string, string>>
      }
    ) => Promise<Pick<globalThis.Response, "json" | "text" | "status">>
    readonly dispose: () => Promise<void>
  }
  readonly Response: typeof globalThis.Response
}

const moduleName: string = "miniflare"

/** A worker in a real `workerd`. */
export interface EdgeWorker {
  /** Posts JSON and reads JSON. */
  readonly post: (body: unknown) => Promise<unknown>
  /** One request to a path of it. */
  readonly request: (
    path: string,
    init: {
      readonly method: string
      readonly body?: string
      readonly headers?: Readonly<Record<string, string>>
    }
  ) => Promise<{ readonly status: number; readonly text: string }>
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
}

/** Runs `use` while the worker runs, with the flag that its documentation asks for. */
export const withEdgeWorker = async (
  { script, bindings, outbound }: EdgeWorkerOptions,
  use: (worker: EdgeWorker) => Promise<void>
): Promise<void> => {
  const { Miniflare, Response }: MiniflareModule = await import(moduleName)
  const lines: Array<string> = []
  const miniflare = new Miniflare({
    modules: [{ type: "ESModule", path: "worker.js", contents: script }],
    compatibilityDate: "2026-04-01",
    compatibilityFlags: ["nodejs_compat"],
    bindings,
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
  try {
    await use({
      post: async (body) => {
        const init = { method: "POST", body: JSON.stringify(body) }
        return (await miniflare.dispatchFetch("http://worker.test/", init)).json()
      },
      request: async (path, init) => {
        const answer = await miniflare.dispatchFetch(`http://worker.test${path}`, init)
        return { status: answer.status, text: await answer.text() }
      },
      lines
    })
  } finally {
    await miniflare.dispose()
  }
}
