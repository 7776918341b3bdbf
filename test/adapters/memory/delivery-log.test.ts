import { Effect, Layer } from "effect"

import { layer } from "../../../src/adapters/memory/delivery-log.ts"
import { makeMailDatabase } from "../../../src/adapters/memory/mail-store.ts"
import { suite } from "../../contracts/delivery-log.ts"

suite("memory", Layer.unwrap(Effect.sync(() => layer(makeMailDatabase()))))
