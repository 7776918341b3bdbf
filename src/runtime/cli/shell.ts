import { userInfo } from "node:os"

import { Context, Layer } from "effect"
import { GlobalFlag, Flag } from "effect/cli"

import type { Env } from "../settings.ts"

/** Where the commands run: everything that they know of their surroundings. */
export class Shell extends Context.Service<
  Shell,
  {
    readonly env: Env
    /** Width of the terminal; `undefined` where the output is none. */
    readonly columns: number | undefined
    /** Whether colours may be used. */
    readonly colours: boolean
    /** The operating system's name of whoever runs the command; audit rows name it. */
    readonly user: string
    /** Writes to the terminal beside the output, for a line that changes; absent where the error output is no terminal. */
    readonly status?: ((text: string) => void) | undefined
  }
>()("postlane/runtime/cli/Shell") {}

const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    // A process in a container may run under an id without a name.
    return `uid-${process.getuid?.() ?? "unknown"}`
  }
}

/** The process's own surroundings. `NO_COLOR` (no-color.org) is honoured. */
export const layerProcess: Layer.Layer<Shell> = Layer.sync(Shell, () => ({
  env: process.env,
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  colours: process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "",
  user: userName(),
  status: process.stderr.isTTY ? (text) => void process.stderr.write(text) : undefined
}))

/** `--json`, of every command. */
export const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withDescription("Print one JSON document instead of text"),
    Flag.withDefault(false)
  )
})
