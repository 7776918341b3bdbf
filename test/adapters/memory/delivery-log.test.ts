import { Layer } from "effect"
import { TestClock } from "effect/testing"

import { layer } from "../../../src/adapters/memory/delivery/delivery-log.ts"
import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { suite } from "../../contracts/delivery/delivery-log.ts"

suite("memory", Layer.fresh(Layer.suspend(() => layer(makeMailDatabase()))), TestClock.adjust)
