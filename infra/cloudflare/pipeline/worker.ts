interface Env {
  /** A host that runs `npm run serve`, not behind Cloudflare's proxy, which gives up on an answer after 100 s. */
  readonly ORIGIN: string
}

/** The pipeline behind the service binding: hands each request on to a server of this installation, its secret with it. */
export default {
  fetch: (request: Request, env: Env): Promise<Response> =>
    fetch(new Request(new URL(new URL(request.url).pathname, env.ORIGIN), request))
}
