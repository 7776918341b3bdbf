import { suite } from "../../contracts/mail/key-traces/index.ts"
import { makeMemoryWorld } from "../../support/worlds/mail-world.ts"

suite("memory", makeMemoryWorld)
