import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Layer } from "effect"
import * as Mac from "effect/crypto/Mac"

import * as BulkOrders from "../../../../src/adapters/postgres/conversion/bulk-orders.ts"
import * as SharedFiles from "../../../../src/adapters/postgres/conversion/shared-files.ts"
import * as Orders from "../../../contracts/conversion/bulk-orders.ts"
import * as Links from "../../../contracts/conversion/shared-files.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"

Orders.suite("PostgreSQL", Layer.provideMerge(BulkOrders.layer, postgres))
Links.suite(
  "PostgreSQL",
  SharedFiles.layer({ baseUrl: Links.BASE_URL }).pipe(
    Layer.provide(Layer.provide(Mac.layerWebCrypto, NodeCrypto.layer)),
    Layer.provideMerge(postgres)
  )
)
