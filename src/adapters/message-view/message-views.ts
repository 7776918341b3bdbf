import { Effect, Layer } from "effect"

import {
  type ClientSupport,
  type MessageContent,
  type MessageView,
  MessageViews,
  UnreadableMessage
} from "../../ports/mail/message-views.ts"
import { type Reader, type ReaderEnded, ReaderProcess } from "../../ports/reader-process.ts"
import { textOf } from "../../reader/sources/pdf/engine/binary.ts"
import type { Answer, Task } from "./message-view-program.ts"

/** From a build the file has the ending that this one has. */
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "./message-view-program.ts" : "./message-view-program.js",
  import.meta.url
)

/** Real mails take a tenth of a second and 100 MB. */
const READER: Reader = { program: PROGRAM, cpuMs: 5_000, heapMb: 256, residentMb: 512, tasks: 200 }

const WHY: Readonly<Record<ReaderEnded["reason"], string>> = {
  timeout: "Taking it apart takes too long.",
  memory: "Taking it apart needs too much memory.",
  crashed: "It cannot be taken apart.",
  stalled: "This machine is too busy to take it apart now. Try again in a while.",
  unavailable: "The process that takes mails apart cannot be started now."
}

const accessibilityScript = Effect.promise(() => textOf("axe-core/axe.min.js"))

/** Parses messages in separate processes. */
export const layer: Layer.Layer<MessageViews, never, ReaderProcess> = Layer.effect(
  MessageViews,
  Effect.map(ReaderProcess, (readers) => {
    const run = <A>(task: Task): Effect.Effect<A, UnreadableMessage> =>
      readers.run(READER, task).pipe(
        Effect.mapError(({ reason }) => new UnreadableMessage({ message: WHY[reason] })),
        Effect.flatMap((answered) => {
          const answer = answered as Answer<A>
          return answer.kind === "read"
            ? Effect.succeed(answer.value)
            : Effect.fail(new UnreadableMessage({ message: answer.message }))
        })
      )
    return MessageViews.of({
      view: (raw, { images }) => run<MessageView>({ kind: "view", raw, images }),
      content: (raw) => run<MessageContent>({ kind: "content", raw }),
      file: (raw, index) => run({ kind: "file", raw, index }),
      clients: (raw) => run<ClientSupport>({ kind: "clients", raw }),
      accessibilityScript
    })
  })
)
