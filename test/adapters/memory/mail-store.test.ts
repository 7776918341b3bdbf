import { suite } from "../../contracts/mail/mail-store/index.ts"
import { makeMemoryWorld } from "../../support/worlds/mail-world.ts"

suite("memory", makeMemoryWorld)
