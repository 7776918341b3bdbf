import { suite } from "../../../contracts/conversion/conversion-store/index.ts"
import { memory } from "../../../support/worlds/documents-memory.ts"

suite("memory", memory)
