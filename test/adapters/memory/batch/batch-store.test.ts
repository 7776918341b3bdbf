import { suite } from "../../../contracts/batch/batch-store.ts"
import { memory } from "../../../support/worlds/documents-memory.ts"

suite("memory", memory)
