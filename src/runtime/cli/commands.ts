import { Effect } from "effect"
import { Command, Flag } from "effect/cli"

import { Json } from "./shell.ts"

/** Hands the process over to a separate program, which outlives the readers of its output. */
const handOver = (load: () => Promise<unknown>) =>
  Effect.promise(() => {
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners("error")
    return load()
  })

/** `postlane start`. */
const start = Command.make(
  "start",
  {
    temporary: Flag.Boolean("temporary").pipe(
      Flag.withDescription(
        "For tests: the data is gone at the end, the system chooses the ports, and it ends with the process that started it"
      ),
      Flag.withDefault(false)
    )
  },
  // The program reads its own arguments.
  () => handOver(() => import("../entries/start.ts"))
).pipe(
  Command.withDescription(
    "Run everything on this machine until it is stopped: what is configured is real, what is not is embedded or simulated. The data stays in POSTLANE_DATA_DIR."
  ),
  Command.withExamples([
    { command: "postlane start", description: "Prints where everything is" },
    { command: "postlane start --temporary --json", description: "The same for a test, as one line of JSON" }
  ])
)

/** `postlane serve`. */
const serve = Command.make("serve", {}, () => handOver(() => import("../entries/serve.ts"))).pipe(
  Command.withDescription(
    "Run in production until it is stopped: nothing is simulated. Ends at once with a list of what is missing."
  )
)

/** `postlane migrate`. */
const migrate = Command.make("migrate", {}, () => handOver(() => import("../entries/migrate.ts"))).pipe(
  Command.withDescription(
    "Apply the pending migrations to DB_URL, one after another, each all or none. A table that is in use is waited for without holding anybody up."
  )
)

/** A command, and what it is for. What it works with is loaded where it is asked for; the list of commands needs none of it. */
const command = <Name extends string, Input, Context, E, R>(
  name: Name,
  is: string,
  load: () => Promise<Command.Command<Name, Input, Context, E, R>>
) => ({
  name,
  open: async (isAsked: boolean) =>
    isAsked
      ? Command.withShortDescription(await load(), is)
      : Command.withShortDescription(Command.make(name), is)
})

/** The commands of `postlane` in the order of the help page. A new command is a new file and an entry in this list. */
const COMMANDS = [
  command("start", "Run everything on this machine; what is not configured is simulated", async () => start),
  command("serve", "Run in production: nothing is simulated", async () => serve),
  command("migrate", "Apply the pending migrations to DB_URL", async () => migrate),
  command("send", "Send one mail", async () => (await import("./send.ts")).send),
  command("log", "Show the send log", async () => (await import("./log.ts")).log),
  command(
    "queue",
    "Show the send queue, cancel, pause and resume",
    async () => (await import("./queue.ts")).queue
  ),
  command(
    "suppressions",
    "List the addresses that get no mail",
    async () => (await import("./suppressions.ts")).suppressions
  ),
  command(
    "suppress",
    "Send nothing to an address any more",
    async () => (await import("./suppressions.ts")).suppress
  ),
  command(
    "unsuppress",
    "Let an address have mail again",
    async () => (await import("./suppressions.ts")).unsuppress
  ),
  command(
    "import",
    "Take over the suppression lists of other providers",
    async () => (await import("./import-suppressions.ts")).importCommand
  ),
  command(
    "dead-letters",
    "List and redrive dead retries",
    async () => (await import("./dead-letters.ts")).deadLetters
  ),
  command(
    "customers",
    "Register customers, list them, and give them credits",
    async () => (await import("./customers.ts")).customers
  ),
  command(
    "admins",
    "List, invite and remove the admins who sign in by mail",
    async () => (await import("./admins.ts")).admins
  ),
  command(
    "incoming",
    "Mails to the convert address, and what became of each",
    async () => (await import("./incoming.ts")).incoming
  ),
  command("token", "Make, list and revoke bearer tokens", async () => (await import("./token.ts")).token),
  command(
    "convert",
    "Convert a document into accessible HTML",
    async () => (await import("./convert/convert.ts")).convert
  ),
  command("costs", "What models cost", async () => (await import("./costs.ts")).costs),
  command("objects", "Show and adopt object stores", async () => (await import("./objects.ts")).objects),
  command(
    "dns",
    "Print the DNS records of the sender domain",
    async () => (await import("./doctor/dns.ts")).dns
  ),
  command(
    "settings",
    "Say what the settings mean, and which are set",
    async () => (await import("./settings.ts")).settings
  ),
  command(
    "openapi",
    "Print the OpenAPI document of the HTTP API",
    async () => (await import("./openapi.ts")).openapi
  ),
  command(
    "doctor",
    "Check everything, and say what to do",
    async () => (await import("./doctor/doctor.ts")).doctor
  )
]

/** What can be answered by the list alone. */
const NEEDS_NONE = new Set(["--help", "-h", "--version", "-v"])

/** Whether these arguments ask for a command of this name; those that begin with anything else may ask for any. */
const asks = (args: ReadonlyArray<string>, name: string): boolean => {
  const [first] = args
  if (first === undefined || (args.length === 1 && NEEDS_NONE.has(first))) return false
  return first === name || first.startsWith("-")
}

/** `postlane` with what these arguments need of it. */
export const postlane = async (args: ReadonlyArray<string>) =>
  Command.make("postlane").pipe(
    Command.withDescription(
      "Work with a Postlane installation: the one that DB_URL and the other settings name, else the local one of the data folder."
    ),
    Command.withSubcommands(await Promise.all(COMMANDS.map(({ name, open }) => open(asks(args, name))))),
    Command.withGlobalFlags([Json])
  )
