import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"

import { Context, Effect, Exit, Layer, Scope } from "effect"

import * as Views from "../../../../src/adapters/message-view/message-views.ts"
import * as ReaderProcess from "../../../../src/adapters/reader-process/reader-process.ts"
import * as Simulated from "../../../../src/adapters/simulated/simulated-mail.ts"
import type { Message } from "../../../../src/domain/mail/message.ts"
import { LinkTrier, type LinkTry } from "../../../../src/ports/mail/link-trier.ts"
import { type SimulatedEvent, SimulatedMail } from "../../../../src/ports/mail/simulated-mail.ts"
import { box, keyOf, mail } from "../../../support/files/mail-message.ts"
import { TEMPORARY } from "../../../support/temporary.ts"
import { type Behind, startServer } from "../harness.ts"

/** A server whose outbox is real, with the events that its providers report. */
export const openOutbox = async (behind: Partial<Behind> = {}) => {
  const dataDir = await mkdtemp(join(TEMPORARY, "postlane-outbox-"))
  const events: Array<SimulatedEvent> = []
  const tries: Array<LinkTry> = []
  const scope = Scope.makeUnsafe()
  const simulated = await Effect.runPromise(
    Layer.buildWithScope(
      Simulated.layer({ dataDir, onEvent: (event) => Effect.sync(() => void events.push(event)) }),
      scope
    )
  ).then((context) => Context.get(context, SimulatedMail))
  const { outbox } = simulated
  const serve = (port = 0) =>
    startServer({
      outbox,
      reportEvent: simulated.report,
      views: Layer.provide(Views.layer, ReaderProcess.layer),
      links: Layer.succeed(LinkTrier, { tryAll: () => Effect.sync(() => tries.splice(0)) }),
      port,
      ...behind
    })
  let server = await serve()
  let sends = 0
  return {
    server,
    outbox,
    events,
    /** What comes of the links that are tried next. */
    tries,
    /** Stops the server, does something, and starts it anew on its port. */
    restart: async (meanwhile: () => Promise<unknown>): Promise<void> => {
      const { port } = server
      await server.stop()
      await meanwhile()
      server = await serve(port)
    },
    /** Sends through the first simulated provider; returns the id in the outbox. */
    send: async (changes: Partial<Message>): Promise<string> => {
      const provider = simulated.provider("provider_a")
      sends += 1
      const request = provider.prepare(
        mail({ from: box("news@postlane.test", "News"), ...changes }),
        keyOf(String(sends))
      )
      const { messageId } = await Effect.runPromise(provider.send(request))
      const entries = await Effect.runPromise(outbox.list())
      return entries.find((entry) => entry.messageId === messageId)!.id
    },
    /** Puts any bytes there, as somebody else than a provider. */
    put: async (raw: string | Uint8Array, subject = "Raw"): Promise<string> => {
      const entry = { via: "test", from: "a@x.test", to: ["b@x.test"], subject }
      return (await Effect.runPromise(outbox.put({ ...entry, raw }))).id
    },
    stop: async () => {
      await server.stop()
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await rm(dataDir, { recursive: true })
    }
  }
}
