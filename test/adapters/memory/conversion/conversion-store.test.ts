import * as Holds from "../../../contracts/conversion-holds.ts"
import * as Legibility from "../../../contracts/conversion-legibility.ts"
import * as Moves from "../../../contracts/conversion-moves.ts"
import * as Retries from "../../../contracts/conversion-retries.ts"
import { suite } from "../../../contracts/conversion-store.ts"
import * as Turns from "../../../contracts/conversion-turns.ts"
import * as Upkeep from "../../../contracts/conversion-upkeep.ts"
import { memory } from "../../../support/documents-memory.ts"

for (const one of [
  suite,
  Holds.suite,
  Legibility.suite,
  Moves.suite,
  Retries.suite,
  Turns.suite,
  Upkeep.suite
])
  one("memory", memory)
