import { Command } from "effect/cli"

import { convert } from "./convert.ts"
import { costs } from "./costs.ts"
import { customers } from "./customers.ts"
import { deadLetters } from "./dead-letters.ts"
import { doctor } from "./doctor.ts"
import { log } from "./log.ts"
import { objects } from "./objects.ts"
import { send } from "./send.ts"
import { Json } from "./shell.ts"
import { suppress, suppressions, unsuppress } from "./suppressions.ts"
import { token } from "./token.ts"

/** `postlane`: all its commands, in the order of the help page. A new one has a file of its own and a place in this list. */
export const postlane = Command.make("postlane").pipe(
  Command.withDescription(
    "Work with a Postlane installation: the one that DB_URL and the other settings name, else the local one of the data folder."
  ),
  Command.withSubcommands([
    send,
    log,
    suppressions,
    suppress,
    unsuppress,
    deadLetters,
    customers,
    token,
    convert,
    costs,
    objects,
    doctor
  ]),
  Command.withGlobalFlags([Json])
)
