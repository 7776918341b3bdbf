import * as Holds from "../../../contracts/conversion/conversion-holds.ts"
import * as Legibility from "../../../contracts/conversion/conversion-legibility.ts"
import * as Moves from "../../../contracts/conversion/conversion-moves.ts"
import * as Retries from "../../../contracts/conversion/conversion-retries.ts"
import { suite } from "../../../contracts/conversion/conversion-store.ts"
import * as Turns from "../../../contracts/conversion/conversion-turns.ts"
import * as Upkeep from "../../../contracts/conversion/conversion-upkeep.ts"
import { memory } from "../../../support/worlds/documents-memory.ts"

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
