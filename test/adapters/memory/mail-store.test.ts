import { suite } from "../../contracts/mail/mail-store.ts"
import { makeMemoryWorld } from "../../support/worlds/mail-world.ts"

suite("memory", makeMemoryWorld)
