import { JSON_WORDS, jsonSeeds, strangeJson } from "../json.ts"
import { openServer, post, PROXY_SECRET } from "../server.ts"
import type { Target } from "../target.ts"
import { ADDRESS_WORDS, SEND_SAMPLES } from "./send.ts"

const headers = { "x-proxy-secret": PROXY_SECRET, "content-type": "application/json" }

export const relay: Target = {
  name: "relay",
  about: "bodies of the relay, posted to a running server: what is taken is sent, and written down",
  limitMs: 20_000,
  memoryMb: 1_024,
  guided: false,
  seeds: () => jsonSeeds(SEND_SAMPLES),
  made: strangeJson(SEND_SAMPLES),
  words: [...JSON_WORDS, ...ADDRESS_WORDS],
  open: (serve) =>
    openServer(serve, (server, body) => post(server, "/internal/send-email", { body, headers }))
}
