import { setTimeout as sleep } from "node:timers/promises"

import { freePort, isOpen, startService } from "../services.ts"
import { goPackage } from "../tools.ts"

export const TOXIPROXY = { module: "github.com/Shopify/toxiproxy/v2", version: "v2.5.0", path: "cmd/server" }

type Toxic = Readonly<Record<string, unknown>>

/** When a connection is cut; one that never is swallows what comes. */
const [SOON_MS, LATER_MS, NEVER] = [150, 500, 0]

/** What a network does, a few seconds each, in both directions where it matters. */
export const TOXICS: ReadonlyArray<Toxic> = [
  { type: "latency", stream: "downstream", attributes: { latency: 400, jitter: 300 } },
  { type: "reset_peer", stream: "downstream", attributes: { timeout: SOON_MS } },
  { type: "slicer", stream: "downstream", attributes: { average_size: 7, size_variation: 5, delay: 200 } },
  // Answers are lost, and commits with them.
  { type: "timeout", stream: "downstream", attributes: { timeout: NEVER } },
  { type: "limit_data", stream: "downstream", attributes: { bytes: 3_000 } },
  { type: "timeout", stream: "upstream", attributes: { timeout: LATER_MS } },
  { type: "bandwidth", stream: "upstream", attributes: { rate: 4 } },
  { type: "slow_close", stream: "downstream", attributes: { delay: 2_000 } }
]
/** How long each of them lasts, milliseconds. */
const TOXIC_MS = 4_000

/** Toxiproxy with one proxy before this port. */
export const startToxiproxy = async (cache: string, target: number) => {
  const [api, port] = [await freePort(), await freePort()]
  const service = await startService(
    await goPackage(cache, TOXIPROXY),
    ["-host", "127.0.0.1", "-port", String(api)],
    {
      isUp: () => isOpen(api)
    }
  )
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`http://127.0.0.1:${api}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    if (!answer.ok) throw new Error(`toxiproxy: ${answer.status} ${await answer.text()}`)
  }
  const [listen, upstream] = [`127.0.0.1:${port}`, `127.0.0.1:${target}`]
  await ask("POST", "/proxies", { name: "proxy", listen, upstream, enabled: true })
  return {
    port,
    stop: service.stop,
    under: async (toxic: Toxic) => {
      await ask("POST", "/proxies/proxy/toxics", { name: "toxic", toxicity: 1, ...toxic })
      await sleep(TOXIC_MS)
      await ask("DELETE", "/proxies/proxy/toxics/toxic")
    },
    /** Nobody listens there, for as long. */
    closed: async () => {
      await ask("POST", "/proxies/proxy", { enabled: false })
      await sleep(TOXIC_MS)
      await ask("POST", "/proxies/proxy", { enabled: true })
    }
  }
}

export type Proxy = Awaited<ReturnType<typeof startToxiproxy>>
