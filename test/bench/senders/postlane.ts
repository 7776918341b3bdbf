import { Context, Effect, Exit, Layer, Scope } from "effect"

import type { SendRequest } from "../../../src/domain/mail/message.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import { layer, Mailer } from "../../../src/runtime/entries/library.ts"
import { freePort } from "../free-port.ts"
import { makeHttpClient } from "../http-client.ts"
import { startPeer } from "../process.ts"
import { HTML, next, type OpenSender, recipient, SUBJECT, type Targets } from "./sender.ts"

const request = (n: number, key: string | undefined): SendRequest => ({
  to: recipient(n),
  subject: SUBJECT,
  html: HTML,
  category: "transactional",
  source: "bench",
  ...(key === undefined ? {} : { idempotencyKey: key })
})

/** The settings of everything of Postlane that sends here. */
export const mailSettings = (
  { databaseUrl, providerUrl }: Targets,
  primary: Provider
): Record<string, string> => ({
  DB_URL: databaseUrl,
  EMAIL_PRIMARY: primary,
  PROVIDERA_API_KEY: "re_bench",
  PROVIDERA_BASE_URL: providerUrl,
  PROVIDERB_ENDPOINT: providerUrl,
  CLOUD_ACCESS_KEY_ID: "AKIABENCH",
  CLOUD_SECRET_ACCESS_KEY: "bench",
  EMAIL_DEFER_QUEUE_URL: "postgres:email-defer"
})

/** `Mailer.send` in process, as Effect code has it: look-up before, row after; with keys of its own also the claim. */
export const mailer =
  (primary: Provider, options: { readonly keys: boolean }): OpenSender =>
  async (targets) => {
    const scope = Scope.makeUnsafe()
    const built = Layer.build(layer({ env: mailSettings(targets, primary) }))
    const { send } = Context.get(await Effect.runPromise(Scope.provide(built, scope)), Mailer)
    return {
      send: async () => {
        const n = next()
        const result = await Effect.runPromise(
          send(request(n, options.keys ? `bench-${process.pid}-${n}` : undefined))
        )
        if (result.status !== "sent") throw new Error(JSON.stringify(result))
      },
      close: () => Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }

const SECRET = "bench-secret"

/** The relay of `npm run serve` in a process of its own, over kept connections; processor time is the server's. */
export const relay: OpenSender = async (targets) => {
  const port = await freePort()
  const server = await startPeer("senders/relay-server.ts", [], {
    env: {
      PATH: process.env["PATH"],
      NODE_OPTIONS: process.env["BENCH_RELAY_NODE_OPTIONS"],
      ...mailSettings(targets, "provider_a"),
      PROXY_SHARED_SECRET: SECRET,
      PORT: String(port)
    }
  })
  const client = makeHttpClient(port, "/internal/send-email", { "x-proxy-secret": SECRET })
  return {
    send: () => {
      const n = next()
      return client.post(JSON.stringify(request(n, `relay-${process.pid}-${n}`)))
    },
    cpuMicros: async () => Number(await server.ask({})),
    close: async () => {
      client.close()
      await server.stop()
    }
  }
}
