import { Layer } from "effect"
import { TestClock } from "effect/testing"

import { layer } from "../../../src/adapters/memory/leadership.ts"
import { suite } from "../../contracts/mail/lease-store.ts"

suite("memory", Layer.fresh(Layer.merge(layer, TestClock.layer())), TestClock.adjust("61 seconds"))
