import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Exit, Layer, Logger } from "effect"

import { runWith } from "../../../src/runtime/cli/main.ts"
import { Shell } from "../../../src/runtime/cli/shell.ts"
import type { Env } from "../../../src/runtime/settings/settings.ts"

/** What a command printed, and the code that its process would end with. */
export interface Ran {
  readonly out: string
  readonly err: string
  readonly code: number
}

/** Runs the command line in this process, in an environment of exactly `env`. */
export const run = (
  args: ReadonlyArray<string>,
  env: Env = {},
  shell: {
    readonly columns?: number
    readonly colours?: boolean
    readonly status?: (text: string) => void
  } = {}
): Effect.Effect<Ran> =>
  Effect.gen(function* () {
    const out: Array<string> = []
    const err: Array<string> = []
    const exit = yield* Effect.exit(runWith(args)).pipe(
      Effect.provide([
        NodeServices.layer,
        Layer.succeed(Shell, {
          env,
          columns: shell.columns,
          colours: shell.colours === true,
          user: "tester",
          status: shell.status
        }),
        Logger.layer([])
      ]),
      Effect.provideService(Console.Console, {
        ...globalThis.console,
        log: (...parts: ReadonlyArray<unknown>) => void out.push(parts.join(" ")),
        error: (...parts: ReadonlyArray<unknown>) => void err.push(parts.join(" "))
      })
    )
    return { out: out.join("\n"), err: err.join("\n"), code: Exit.isSuccess(exit) ? 0 : 1 }
  })

/** The JSON document that a command printed. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the test says what it looks at
export const jsonOf = <A>({ out }: Ran): A => JSON.parse(out) as A
