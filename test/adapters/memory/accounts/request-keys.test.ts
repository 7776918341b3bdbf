import { Duration, Layer } from "effect"

import * as RequestKeys from "../../../../src/adapters/memory/accounts/request-keys.ts"
import { suite } from "../../../contracts/accounts/request-keys.ts"
import { DocumentsWorld } from "../../../contracts/conversion/documents-world.ts"
import { memory } from "../../../support/worlds/documents-memory.ts"

suite(
  "memory",
  Layer.provideMerge(RequestKeys.layer, memory),
  DocumentsWorld.use((world) => world.pass(Duration.hours(25)))
)
