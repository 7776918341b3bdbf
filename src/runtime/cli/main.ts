import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Layer, Logger, Redacted, References } from "effect"
import { CliOutput, Command } from "effect/cli"

import { lineLogger, scrubOf } from "../process/log-lines.ts"
import { VERSION } from "../process/package.ts"
import type { Env } from "../settings/settings.ts"
import { SETTINGS } from "../settings/table.ts"
import { postlane } from "./commands.ts"
import { layerProcess } from "./shell.ts"

/** What is wrong with the arguments, and where the help is: a page of it would hide the error. */
const layerPresenter = CliOutput.layerPresenter({
  present: (event) => {
    if (event._tag !== "InvalidInvocation") return CliOutput.defaultPresenter.present(event)
    const { commandPath, errors, helpDoc } = event
    return Effect.flatMap(CliOutput.Formatter, (formatter) =>
      Console.error(
        `${formatter.formatErrors(errors).trim()}\n\nUsage: ${helpDoc.usage}\nHelp:  ${commandPath.join(" ")} --help`
      )
    )
  }
})

/** Runs the command line with these arguments. It fails where the process is to end with another code than 0. */
export const runWith = (args: ReadonlyArray<string>) =>
  Effect.flatMap(
    Effect.promise(() => postlane(args)),
    (command) => Command.runWith(command, { version: VERSION })(args)
  ).pipe(Effect.provide(layerPresenter))

/** Exit code where the reader of our output is gone (`postlane log | head`): that of SIGPIPE. */
const PIPE_CLOSED = 141

/** How the process ends where its output cannot be written: silently only where its reader is gone. */
export const endOfOutput = ({
  code,
  message
}: NodeJS.ErrnoException): { readonly code: number; readonly words: string } =>
  code === "EPIPE"
    ? { code: PIPE_CLOSED, words: "" }
    : { code: 1, words: `The output cannot be written, and is not whole: ${message}\n` }

const endWithReader = Effect.sync(() => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    const { code, words } = endOfOutput(error)
    process.stderr.write(words)
    process.exit(code)
  })
  process.stderr.on("error", () => undefined)
})

const secretsOf = (env: Env): ReadonlyArray<Redacted.Redacted> =>
  SETTINGS.filter(({ secret }) => secret).flatMap(({ alias, name }) =>
    [name, alias ?? name].map((one) => Redacted.make(env[one] ?? ""))
  )

/** Warnings go to the error output; the output is the command's result alone. */
const layerLogs = Layer.mergeAll(
  Logger.layer([
    lineLogger(
      { isTTY: process.stderr.isTTY, write: (line) => process.stderr.write(line) },
      scrubOf(secretsOf(process.env))
    )
  ]),
  Layer.succeed(References.MinimumLogLevel, "Warn")
)

/** The process `postlane`. Exits with 0 where the command succeeded, else with 1. */
export const main = (): void =>
  Effect.andThen(endWithReader, runWith(process.argv.slice(2))).pipe(
    Effect.tapCause((cause) =>
      Cause.hasDies(cause) ? Console.error(scrubOf(secretsOf(process.env))(Cause.pretty(cause))) : Effect.void
    ),
    Effect.provide([NodeServices.layer, layerProcess, layerLogs]),
    (program) => NodeRuntime.runMain(program, { disableErrorReporting: true })
  )
