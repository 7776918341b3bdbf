import { suite as suiteOfSender } from "../../../contracts/mail/queue-sender.ts"
import { suite } from "../../../contracts/mail/send-queue.ts"
import { makePostgresQueueWorld } from "../../../support/worlds/queue-store-world.ts"

suite("PostgreSQL", makePostgresQueueWorld)
suiteOfSender("PostgreSQL", makePostgresQueueWorld)
