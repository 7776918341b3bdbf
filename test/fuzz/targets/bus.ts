import { readFileSync } from "node:fs"

import { decodeBusEvents } from "../../../src/adapters/ses/bus-event.ts"
import { JSON_WORDS, jsonSeeds, strangeJson } from "../json.ts"
import { BUS_SECRET, openServer, post } from "../server.ts"
import { rough, type Target } from "../target.ts"

const SAMPLES = JSON.parse(
  readFileSync(new URL("../../support/vendors/ses-events.json", import.meta.url), "utf8")
) as ReadonlyArray<unknown>
const ALL = [...SAMPLES, SAMPLES.slice(0, 3)]

const headers = { "x-webhook-secret": BUS_SECRET, "content-type": "application/json" }

/** The decoder never throws. */
const decoded = (body: Buffer): string => {
  try {
    const events = decodeBusEvents(JSON.parse(body.toString("utf8")), { outreachSet: "outreach" })
    return `${rough(events.length)} ${[...new Set(events.map(({ _tag }) => _tag))].join(" ")}`
  } catch (cause) {
    if (cause instanceof SyntaxError) return "no JSON"
    throw cause
  }
}

export const bus: Target = {
  name: "bus",
  about: "envelopes of the event bus, one or a list, posted to a running server",
  limitMs: 20_000,
  memoryMb: 1_024,
  guided: true,
  seeds: () => jsonSeeds(ALL),
  made: strangeJson(ALL),
  words: [
    ...JSON_WORDS,
    '"eventType":"Bounce"',
    '"detail-type":',
    '"mail":',
    '"messageId":"m"',
    '"destination":["a@x.test"]'
  ],
  open: (serve) =>
    openServer(serve, async (server, body) => {
      const read = decoded(body)
      return `${await post(server, "/api/webhooks/providerb-events", { body, headers })}, ${read}`
    })
}
