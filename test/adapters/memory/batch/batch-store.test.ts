import { suite } from "../../../contracts/batch-store.ts"
import { memory } from "../../../support/documents-memory.ts"

suite("memory", memory)
