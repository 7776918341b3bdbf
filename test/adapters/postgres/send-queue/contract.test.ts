import { suite } from "../../../contracts/mail/send-queue.ts"
import { makePostgresQueueWorld } from "../../../support/worlds/queue-store-world.ts"

suite("PostgreSQL", makePostgresQueueWorld)
