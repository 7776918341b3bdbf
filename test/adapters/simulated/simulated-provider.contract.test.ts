import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Deferred, Effect, Ref, Scope } from "effect"

import { makeKeyMemories } from "../../../src/adapters/simulated/key-memory.ts"
import { makeOutbox } from "../../../src/adapters/simulated/outbox.ts"
import { makeSimulatedProvider } from "../../../src/adapters/simulated/simulated-provider.ts"
import { parseMailbox, addressKey } from "../../../src/domain/mail/address.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import type { SimulatedOutcome } from "../../../src/ports/mail/simulated-mail.ts"
import { mailProviderContract, type PeerOutcome } from "../../contracts/mail/mail-provider.ts"

const OUTCOMES: Readonly<Record<PeerOutcome, SimulatedOutcome>> = {
  ok: "ok",
  rejected: "rejected",
  unavailable: "unavailable",
  ambiguous: "ambiguous-lost",
  lost: "ambiguous-accepted",
  hang: "hang-lost"
}

const bare = (text: string): string => {
  const parsed = parseMailbox(text)
  return parsed._tag === "Success" ? addressKey(parsed.success) : text
}

const open = (provider: Provider) =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "postlane-simulated-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true }))
    )
    const outbox = yield* Effect.orDie(makeOutbox(join(folder, "outbox")))
    const script = yield* Ref.make<ReadonlyArray<PeerOutcome>>([])
    const received = yield* Ref.make(0)
    const first = yield* Deferred.make<void>()
    const gaveUp = yield* Deferred.make<void>()
    const next = Effect.gen(function* () {
      yield* Ref.update(received, (count) => count + 1)
      const outcome = (yield* Ref.getAndUpdate(script, (left) => left.slice(1)))[0] ?? "ok"
      yield* Deferred.succeed(first, undefined)
      return outcome === "hang" ? yield* Effect.never : OUTCOMES[outcome]
    }).pipe(Effect.onInterrupt(() => Deferred.succeed(gaveUp, undefined)))
    const simulated = makeSimulatedProvider({
      provider,
      outbox,
      keys: yield* Effect.promise(() => makeKeyMemories(join(folder, "keys"))),
      onEvent: () => Effect.void,
      scope: yield* Scope.Scope,
      next: () => next
    })
    return {
      provider: simulated,
      peer: {
        next: (...outcomes: ReadonlyArray<PeerOutcome>) => Ref.set(script, outcomes),
        copies: Effect.orDie(outbox.list()).pipe(
          Effect.map((entries) =>
            entries.map(({ messageId, to, cc, bcc, tags }) => ({
              messageId: messageId ?? "",
              recipients: [...to, ...cc, ...bcc].map(bare),
              tags: tags ?? {}
            }))
          )
        ),
        received: Ref.get(received),
        arrived: () => Deferred.await(first),
        gaveUp: Deferred.await(gaveUp)
      }
    }
  })

mailProviderContract("simulated provider_a", open("provider_a"), { dedupes: true })
mailProviderContract("simulated provider_b", open("provider_b"), { dedupes: false })
mailProviderContract("simulated postmark", open("postmark"), { dedupes: false })
