import { suite } from "../../contracts/mail-store.ts"
import { makeMemoryWorld } from "../../support/mail-world.ts"

suite("memory", makeMemoryWorld)
