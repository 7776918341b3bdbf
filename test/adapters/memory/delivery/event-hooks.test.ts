import { TestClock } from "effect/testing"

import { HookEvents, layer } from "../../../../src/adapters/memory/delivery/event-hooks.ts"
import { suite } from "../../../contracts/delivery/event-hooks.ts"

suite("memory", layer, {
  tell: (type, subject) => HookEvents.use((events) => events.tell(type, subject)),
  advance: (time) => TestClock.adjust(time)
})
