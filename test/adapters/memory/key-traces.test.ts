import { suite } from "../../contracts/mail/key-traces.ts"
import { makeMemoryWorld } from "../../support/worlds/mail-world.ts"

suite("memory", makeMemoryWorld)
