import { Layer } from "effect"
import { TestClock } from "effect/testing"

import { layer } from "../../../src/adapters/memory/delivery/alarm-board.ts"
import { suite } from "../../contracts/delivery/alarm-board.ts"

suite("memory", Layer.fresh(layer), TestClock.adjust)
