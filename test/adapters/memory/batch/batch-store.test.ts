import { suite } from "../../../contracts/batch/batch-store/index.ts"
import { memory } from "../../../support/worlds/documents-memory.ts"

suite("memory", memory)
